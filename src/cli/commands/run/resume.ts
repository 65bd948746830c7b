import { resolve } from 'node:path';
import { recordAt } from '../../../assemble/folder.js';
import type { ReadRecord } from '../../../assemble/record.js';
import type { Config } from '../../../model/config.js';
import type { JsonValue } from '../../../model/json.js';
import { resumeCommand } from '../../../run/batch/row-flags.js';
import { isUnfinished, type RunHead, runHead } from '../../../run/history/run-head.js';
import type { Project } from '../../../util/project.js';
import type { Command } from '../../boot/command.js';
import { complain } from '../../errors/problem.js';
import { givenArgs } from '../../flags/given-args.js';
import { RUN_FLAGS } from '../../flags/run-flags.js';
import { findRun } from '../../load/run-ref.js';
import { executeRun } from '../../run/execute.js';
import { prepareRun } from '../../run/prepare-run.js';

export const command: Command = {
  usage: 'RUN [flags]',
  description: `Continues a run: what it completed is kept, and approvals that were given are used. Flow and arguments
are those of the run; secret arguments have to be given again.`,
  examples: [
    { command: 'taskflow resume last', does: 'the last run, wherever it stopped' },
    { command: 'taskflow resume 20260101-120000-abc123 --rerun review', does: 'one phase anew, the rest kept' },
  ],
  flags: RUN_FLAGS,
  positionals: [{ name: 'RUN', help: 'id of a run, a unique part of it, or last', required: true }],
  async run(invocation) {
    if (invocation.flags.boolean('detach')) return (await import('../../run/detach.js')).detach(invocation);
    const { project } = invocation;
    const found = findRun(project, invocation.positionals[0]!, ({ state }) => isUnfinished(state));
    if ('problem' in found) return complain(invocation, found.problem, found.hint);
    const head = runHead(project, found.runId);
    if (!head) return complain(invocation, `the journal of ${found.runId} cannot be read`);
    if (head.run.mode === 'batch') {
      return complain(invocation, `${found.runId} is a batch`, `${resumeCommand(head.run)} goes on with it`);
    }
    const { run } = head;
    const typed = run.byName || run.file === undefined ? run.ref : resolve(project.root, run.file);
    const record = recordAt(project, run.ref);
    const options = await prepareRun(invocation, {
      typed,
      ...(record && { kept: (config) => fromRecord(record, { project, config }) }),
      named: { ref: run.ref, byName: run.byName },
      args: ({ args }) => givenArgs(invocation, args, { earlier: earlierArgs(head, args) }),
      continuation: () => ({ how: 'resume', runId: found.runId }),
    });
    return 'status' in options ? options.status : executeRun(invocation, options);
  },
};

/** A run of `assemble --run` has its flow in a record. */
async function fromRecord(record: ReadRecord, where: { readonly project: Project; readonly config: Config }) {
  return (await import('../../../assemble/run-options.js')).assembledFlow(record, where);
}

/** The run's arguments, except secrets, which no journal has, and arguments that the flow no longer takes. */
function earlierArgs(
  { run }: RunHead,
  specs: Readonly<Record<string, { readonly secret: boolean }>>,
): Record<string, JsonValue> {
  return Object.fromEntries(
    Object.entries(run.args).filter(([name]) => Object.hasOwn(specs, name) && !specs[name]!.secret),
  );
}
