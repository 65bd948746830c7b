import { clearResults } from '../../../run/history/cleared-results.js';
import { forgetLastRuns } from '../../../run/history/runs-folder.js';
import { forgetSnapshots } from '../../../run/snapshot/snapshot.js';
import { clearEntries } from '../../../store/clear-entries.js';
import { eachEntry } from '../../../store/list-entries.js';
import type { StoreOptions } from '../../../store/options.js';
import type { Watcher } from '../../../store/pace.js';
import { formatBytes, plural } from '../../../util/format.js';
import { once } from '../../../util/remembered.js';
import type { Command, Invocation } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { type KnownFlow, knownFlow, type Unknown, unknownPhase } from '../../load/known-flow.js';
import { complainBusy, requireStore } from '../../load/store.js';
import { watched } from '../../run/watched.js';
import { JsonList } from '../../text/json-list.js';

export const command: Command = {
  usage: '[FLOW] [--phase ID] [--older-than D] [--all] [--dry-run] [--json]',
  description: `Removes entries that fit all conditions. A run that continues does not reuse them either, except side
effects that took place; after clearing a whole flow its next run starts afresh. Phases that are being computed at
this moment are still stored. A flow or phase that does not exist and has left nothing is refused (status 2).`,
  examples: [
    { command: 'taskflow cache clear release --phase review', does: 'one phase of one flow' },
    { command: 'taskflow cache clear --older-than 30d', does: 'everything made more than 30 days ago' },
    { command: 'taskflow cache clear --all --dry-run', does: 'how much there is' },
  ],
  flags: [
    { name: 'phase', type: 'string', value: 'ID', help: 'only this phase' },
    { name: 'older-than', type: 'duration', value: 'D', help: 'only what was made longer ago' },
    { name: 'all', type: 'boolean', help: 'everything' },
    { name: 'dry-run', alias: 'n', type: 'boolean', help: 'only show what would be removed' },
    jsonFlag('as JSON: {entries, bytes, keys}'),
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
    const named = await watched(invocation, (watcher) => {
      return namedThings(invocation, { typed, phase }, keptNames(opened.store, watcher));
    });
    if ('status' in named) return named.status;
    if ('problem' in named) return complain(invocation, named.problem, named.hint);
    const { flow } = named;
    const request = {
      ...(flow === undefined ? {} : { flow: flow.name }),
      ...(phase === undefined ? {} : { phase }),
      ...(olderThanMs === undefined ? {} : { olderThanMs }),
      all,
      dryRun: flags.boolean('dry-run'),
    };
    const cleared = await watched(invocation, (watcher) => clearEntries(opened.store, request, watcher));
    if ('status' in cleared) return cleared.status;
    if ('busy' in cleared) return complainBusy(invocation, cleared.busy);
    if (!flags.boolean('dry-run')) endContinuing(invocation, { flow: flow?.id, phase, olderThanMs });
    report(invocation, cleared);
    return EXIT.success;
  },
};

/** The flow, if one was typed; or what is wrong with it or with the phase. */
async function namedThings(
  invocation: Invocation,
  { typed, phase }: { readonly typed: string | undefined; readonly phase: string | undefined },
  kept: KeptNames,
): Promise<{ readonly flow?: KnownFlow } | Unknown> {
  const flow =
    typed === undefined ? undefined : await knownFlow(invocation, typed, async () => [...(await kept()).keys()]);
  if (flow && 'problem' in flow) return flow;
  if (phase === undefined) return { flow };
  const phasesOf = async () => {
    const names = await kept();
    return flow === undefined
      ? [...names.values()].flatMap((phases) => [...phases])
      : [...(names.get(flow.name) ?? [])];
  };
  return (await unknownPhase(phase, flow, phasesOf)) ?? { flow };
}

/** The phases with kept results, by flow. Looked up only where the flow file is not enough. */
type KeptNames = () => Promise<ReadonlyMap<string, ReadonlySet<string>>>;

function keptNames(store: StoreOptions, watcher: Watcher): KeptNames {
  return once(async () => {
    const found = new Map<string, Set<string>>();
    await eachEntry(
      store,
      ({ flow, phaseId }) => {
        const phases = found.get(flow) ?? new Set();
        found.set(flow, phases.add(phaseId));
      },
      watcher,
    );
    return found;
  });
}

/** Keeps runs that continue from reusing cleared results. */
function endContinuing(
  { project }: Invocation,
  { flow, phase, olderThanMs }: { readonly flow?: string; readonly phase?: string; readonly olderThanMs?: number },
): void {
  forgetSnapshots(project);
  if (phase === undefined && olderThanMs === undefined) forgetLastRuns(project, flow);
  else clearResults(project, flow, { phase, before: project.clock.now() - (olderThanMs ?? 0) });
}

function report(
  { flags, out, err }: Invocation,
  { entries, bytes, keys }: { readonly entries: number; readonly bytes: number; readonly keys: Iterable<string> },
): void {
  if (flags.boolean('json')) {
    const list = new JsonList(out, `{"entries":${entries},"bytes":${bytes},"keys":[`);
    for (const key of keys) list.add(`"${key}"`);
    list.end(']}');
  } else {
    const verb = flags.boolean('dry-run') ? 'would remove' : 'removed';
    out.write(`${verb} ${plural(entries, 'entry', 'entries')}, ${formatBytes(bytes)}\n`);
    if (!flags.boolean('dry-run')) err.write('a run that continues an earlier one does not reuse it either\n');
  }
}
