import type { Config } from '../model/config.js';
import type { Flow } from '../model/flow.js';
import type { JsonObject } from '../model/json.js';
import type { RunOptions } from '../run/core/options.js';
import { heldTo } from '../run/core/output.js';
import type { Project } from '../util/project.js';
import type { AssembleOutcome } from './assemble.js';
import { checkPlan } from './check-plan.js';
import { recordFile } from './folder.js';
import type { AssembledRecord, ReadRecord } from './record.js';
import { isApproved } from './user-key.js';

type Complete = Extract<AssembleOutcome, { readonly status: 'complete' }>;

/** The options to run an assembled flow: with the limits of generated flows, and an input that fits its schema. */
export async function assembledRun(
  { flow, record }: Complete,
  { project, config, args }: { readonly project: Project; readonly config: Config; readonly args: JsonObject },
): Promise<RunOptions | { readonly problem: string }> {
  const held = await heldTo(record.input, args, JSON.stringify(args).length);
  if ('unanswered' in held) return { problem: `whether the input fits cannot be said: ${held.unanswered}` };
  if (held.problems.length > 0)
    return { problem: `the input does not fit its schema: ${held.problems.slice(0, 3).join('; ')}` };
  return { project, config, args, ...runOf(record, flow), continuation: { how: 'auto', finished: false } };
}

/** The options that follow from the record. */
function runOf(record: AssembledRecord, flow: Flow): RunnableFlow {
  const source = { ref: recordFile(record.id), byName: false, digest: record.flowId };
  return { flow, source, generated: !record.allowScripts };
}

export type RunnableFlow = Pick<RunOptions, 'flow' | 'source'> & { readonly generated: boolean };

/** The flow of a record, for a run that is continued. */
export async function assembledFlow(
  { record, own }: ReadRecord,
  { project, config }: { readonly project: Project; readonly config: Config },
): Promise<RunnableFlow | { readonly problem: string; readonly hint: string }> {
  const hint = `see taskflow assemble show ${record.id}`;
  if (!own && !isApproved(project, record)) return { problem: `${record.id} was not made by you here`, hint };
  const checked = await checkPlan(record.flow ?? {}, { project, config, allowScripts: record.allowScripts });
  if ('problems' in checked) return { problem: `${record.id} no longer checks: ${checked.problems[0]}`, hint };
  return runOf(record, checked.flow);
}
