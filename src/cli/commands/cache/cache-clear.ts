import { clearResults } from '../../../run/history/cleared-results.js';
import { forgetLastRuns } from '../../../run/history/runs-folder.js';
import { forgetSnapshots } from '../../../run/snapshot/snapshot.js';
import { clearEntries } from '../../../store/clear-entries.js';
import { listEntries } from '../../../store/list-entries.js';
import { formatBytes, plural } from '../../../util/format.js';
import type { Command, Invocation } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { knownFlow, unknownPhase } from '../../load/known-flow.js';
import { complainBusy, requireStore } from '../../load/store.js';

export const command: Command = {
  usage: '[FLOW] [--phase ID] [--older-than D] [--all] [--dry-run] [--json]',
  description: `Entries that fit all that is said go. What is cleared is not reused by a run
that continues either, except side effects that took place; after clearing a whole flow its next run starts afresh.
Phases that are being computed at this moment are still stored. A flow or phase that is not there and has left
nothing is refused (status 2).`,
  examples: [
    { command: 'taskflow cache clear release --phase review', does: 'one phase of one flow' },
    { command: 'taskflow cache clear --older-than 30d', does: 'everything made more than 30 days ago' },
    { command: 'taskflow cache clear --all --dry-run', does: 'how much there is' },
  ],
  flags: [
    { name: 'phase', type: 'string', value: 'ID', help: 'only this phase' },
    { name: 'older-than', type: 'duration', value: 'D', help: 'only what was made longer ago' },
    { name: 'all', type: 'boolean', help: 'everything' },
    { name: 'dry-run', alias: 'n', type: 'boolean', help: 'only say what would go' },
    { name: 'json', type: 'boolean', help: 'as JSON: {entries, bytes, keys}' },
  ],
  positionals: [{ name: 'FLOW', help: 'a path, or the name of a flow', required: false }],
  async run(invocation) {
    const { flags, positionals } = invocation;
    const [typed] = positionals;
    const phase = flags.string('phase');
    const olderThanMs = flags.duration('older-than');
    const all = flags.boolean('all');
    if (!all && typed === undefined && phase === undefined && olderThanMs === undefined) {
      return complain(invocation, 'say what to clear', 'a FLOW, --phase, --older-than, or --all');
    }
    const opened = await requireStore(invocation);
    if ('status' in opened) return opened.status;
    const entries = listEntries(opened.store);
    const flows = entries.map((entry) => entry.flow);
    const flow = typed === undefined ? undefined : await knownFlow(invocation, typed, flows);
    if (flow && 'problem' in flow) return complain(invocation, flow.problem, flow.hint);
    if (phase !== undefined) {
      const kept = entries.filter((entry) => flow === undefined || entry.flow === flow.name);
      const phases = kept.map(({ phaseId }) => phaseId);
      const unknown = await unknownPhase(phase, flow, phases);
      if (unknown) return complain(invocation, unknown.problem, unknown.hint);
    }
    const cleared = await clearEntries(opened.store, {
      ...(flow === undefined ? {} : { flow: flow.name }),
      ...(phase === undefined ? {} : { phase }),
      ...(olderThanMs === undefined ? {} : { olderThanMs }),
      all,
      dryRun: flags.boolean('dry-run'),
    });
    if ('busy' in cleared) return complainBusy(invocation, cleared.busy);
    if (!flags.boolean('dry-run')) endContinuing(invocation, { flow: flow?.id, phase, olderThanMs });
    report(invocation, cleared);
    return EXIT.success;
  },
};

/** What is cleared is not reused by a run that continues either. */
function endContinuing(
  { project }: Invocation,
  { flow, phase, olderThanMs }: { readonly flow?: string; readonly phase?: string; readonly olderThanMs?: number },
): void {
  forgetSnapshots(project);
  if (phase === undefined && olderThanMs === undefined) forgetLastRuns(project, flow);
  else clearResults(project, flow, { phase, before: project.clock.now() - (olderThanMs ?? 0) });
}

function report(
  { flags, out }: Invocation,
  cleared: { readonly entries: number; readonly bytes: number; readonly keys: readonly string[] },
): void {
  if (flags.boolean('json')) out.write(`${JSON.stringify(cleared)}\n`);
  else {
    const verb = flags.boolean('dry-run') ? 'would remove' : 'removed';
    out.write(`${verb} ${plural(cleared.entries, 'entry', 'entries')}, ${formatBytes(cleared.bytes)}\n`);
  }
}
