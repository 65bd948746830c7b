import { resolve } from 'node:path';
import type { JsonValue } from '../../../model/json.js';
import { isUnfinished, type RunHead, runHead } from '../../../run/history/run-head.js';
import type { Command } from '../../boot/command.js';
import { complain, complainAll } from '../../errors/problem.js';
import { givenArgs } from '../../flags/given-args.js';
import { RUN_FLAGS, readRunFlags } from '../../flags/run-flags.js';
import { requireFlow } from '../../load/flow-file.js';
import { unknownRunnerFlag } from '../../load/named-runner.js';
import { findRun } from '../../load/run-ref.js';
import { requireConfig } from '../../load/settings.js';
import { executeRun } from '../../run/execute.js';
import { resumeCommand } from '../../text/resume-command.js';

export const command: Command = {
  usage: 'RUN [flags]',
  description: `Goes on with a run: what it completed is kept, whatever it did; approvals that were given are used. Its flow and
arguments are those of the run; secret arguments have to be given again.`,
  examples: [
    { command: 'taskflow resume last', does: 'the last run, wherever it stopped' },
    { command: 'taskflow resume 20260101-120000-abc123 --rerun review', does: 'one phase anew, the rest kept' },
  ],
  flags: RUN_FLAGS,
  positionals: [{ name: 'RUN', help: 'id of a run, a unique part of it, or last', required: true }],
  async run(invocation) {
    const { project } = invocation;
    const settings = readRunFlags(invocation);
    if ('problem' in settings) return complain(invocation, settings.problem);
    const found = findRun(project, invocation.positionals[0]!, ({ state }) => isUnfinished(state));
    if ('problem' in found) return complain(invocation, found.problem, found.hint);
    const head = runHead(project, found.runId);
    if (!head) return complain(invocation, `the journal of ${found.runId} cannot be read`);
    if (head.run.mode === 'batch') {
      return complain(invocation, `${found.runId} is a batch`, `${resumeCommand(head.run)} goes on with it`);
    }
    const { run } = head;
    const typed = run.byName || run.file === undefined ? run.ref : resolve(project.root, run.file);
    const loaded = await requireFlow(invocation, typed);
    if ('status' in loaded) return loaded.status;
    const configured = await requireConfig(invocation);
    if ('status' in configured) return configured.status;
    const runner = await unknownRunnerFlag(invocation, configured.config);
    if (runner) return complain(invocation, runner.message, runner.hint);
    const bound = await givenArgs(invocation, loaded.flow.args, { earlier: earlierArgs(head, loaded.flow.args) });
    if ('problems' in bound) return complainAll(invocation, bound.problems);
    return executeRun(invocation, {
      ...settings,
      project,
      config: configured.config,
      flow: loaded.flow,
      source: { ref: run.ref, byName: run.byName, file: loaded.file, digest: loaded.digest },
      args: bound.args,
      continuation: { how: 'resume', runId: found.runId },
    });
  },
};

/** What the run was started with; secrets were never written, and arguments that the flow dropped since are dropped. */
function earlierArgs(
  { run }: RunHead,
  specs: Readonly<Record<string, { readonly secret: boolean }>>,
): Record<string, JsonValue> {
  return Object.fromEntries(
    Object.entries(run.args).filter(([name]) => Object.hasOwn(specs, name) && !specs[name]!.secret),
  );
}
