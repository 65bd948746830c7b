import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { heldEffects } from '../../../run/effects/folder.js';
import { clearRuns, listRuns } from '../../../run/history/list-runs.js';
import type { RunHead } from '../../../run/history/run-head.js';
import { runFolder } from '../../../run/history/runs-folder.js';
import { forgetSnapshots } from '../../../run/snapshot/snapshot.js';
import { formatBytes, plural } from '../../../util/format.js';
import type { Command, Invocation } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { knownFlow, type Unknown } from '../../load/known-flow.js';

export const command: Command = {
  usage: '[--all] [--older-than D] [--flow NAME] [--dry-run] [--json]',
  description: `Without --all, only runs that succeeded go: the others can still be continued. A run that is under way
always stays. What is in the store of results is not touched: that is taskflow cache clear. Side effects that are in
doubt, or done in a run that did not finish, stay remembered, and are named.`,
  examples: [
    { command: 'taskflow runs clear --older-than 7d', does: 'forget successful runs of more than a week ago' },
    { command: 'taskflow runs clear --all', does: 'forget everything: nothing can be resumed afterwards' },
  ],
  flags: [
    { name: 'all', type: 'boolean', help: 'also failed, interrupted and waiting runs' },
    { name: 'older-than', type: 'duration', value: 'D', help: 'only runs that ended longer ago' },
    { name: 'flow', type: 'string', value: 'NAME', help: 'only runs of this flow (name or file)' },
    { name: 'dry-run', alias: 'n', type: 'boolean', help: 'only show what would be removed' },
    jsonFlag('as JSON: {runs, bytes}'),
  ],
  positionals: [],
  async run(invocation) {
    const { flags, project, out } = invocation;
    const typed = flags.string('flow');
    const named = typed === undefined ? undefined : await runsOf(invocation, typed);
    if (named && 'problem' in named) return complain(invocation, named.problem, named.hint);
    const flow = named?.flow;
    const what = {
      all: flags.boolean('all'),
      olderThanMs: flags.duration('older-than') ?? 0,
      flow,
    };
    const heads = clearRuns(project, { ...what, dryRun: true });
    const bytes = heads.reduce((sum, { runId }) => sum + folderBytes(runFolder(project, runId)), 0);
    if (!flags.boolean('dry-run')) {
      clearRuns(project, what);
      forgetSnapshots(project);
    }
    const verb = flags.boolean('dry-run') ? 'would remove' : 'removed';
    if (flags.boolean('json')) out.write(`${JSON.stringify({ runs: heads.length, bytes })}\n`);
    else out.write(`${verb} ${plural(heads.length, 'run')}, ${formatBytes(bytes)}\n`);
    reportHeld(invocation, heads);
    return EXIT.success;
  },
};

/** Reports side effects of the cleared runs that have begun, which the ledger still knows. */
function reportHeld({ err, project }: Invocation, going: readonly RunHead[]): void {
  const ids = new Set(going.map(({ runId }) => runId));
  for (const { flow, phase, run, state } of heldEffects(project).filter((held) => ids.has(held.run))) {
    const what = state === 'open' ? 'is in doubt' : 'is done, in a run that did not finish';
    err.write(`${phase} of ${flow} (run ${run}) ${what}: that stays remembered; --rerun or --skip settles it\n`);
  }
}

/** Finds the runs of a flow: by the typed name, or else by its file. */
async function runsOf(invocation: Invocation, typed: string): Promise<{ readonly flow: string } | Unknown> {
  if (listRuns(invocation.project, { flow: typed, limit: 1 }).length > 0) return { flow: typed };
  const known = await knownFlow(invocation, typed);
  return 'problem' in known ? known : { flow: known.id };
}

function folderBytes(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile())
      bytes += statSync(join(entry.parentPath ?? entry.path, entry.name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes;
}
