import type { Config } from '../model/config.js';
import type { JsonObject } from '../model/json.js';
import type { RunOptions } from '../run/core/options.js';
import { heldTo } from '../run/core/output.js';
import type { Project } from '../util/project.js';
import type { AssembleOutcome } from './assemble.js';
import { recordFile } from './folder.js';

type Complete = Extract<AssembleOutcome, { readonly status: 'complete' }>;

/** How an assembled flow is run: held to the limits of generated flows, with an input that fits what was asked for. */
export async function assembledRun(
  { flow, record }: Complete,
  { project, config, args }: { readonly project: Project; readonly config: Config; readonly args: JsonObject },
): Promise<RunOptions | { readonly problem: string }> {
  const held = await heldTo(record.input, args, JSON.stringify(args).length);
  if ('unanswered' in held) return { problem: `whether the input fits cannot be said: ${held.unanswered}` };
  if (held.problems.length > 0)
    return { problem: `the input does not fit its schema: ${held.problems.slice(0, 3).join('; ')}` };
  return {
    project,
    config,
    flow,
    args,
    source: { ref: recordFile(record.id), byName: false, digest: record.flowId },
    generated: !record.allowScripts,
    continuation: { how: 'auto', finished: false },
  };
}
