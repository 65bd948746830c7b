import type { Forecast } from '../../../run/forecast/forecast.js';
import { sizeOfRuns } from '../../../run/history/list-runs.js';
import { compactIndex } from '../../../store/compact-index.js';
import type { StoreStatus } from '../../../store/store-status.js';
import { storeStatus } from '../../../store/store-status.js';
import { formatAgo } from '../../../util/duration.js';
import { formatBytes, plural } from '../../../util/format.js';
import type { Command, Invocation } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { ARG_FLAGS, jsonFlag } from '../../flags/common-flags.js';
import { probedStatus, sharedStatus, sharedText } from '../../load/shared.js';
import { requireStore } from '../../load/store.js';
import { forecastText } from '../../run/dry-run.js';
import { forecastFlow } from '../../run/forecast-flow.js';
import { watched } from '../../run/watched.js';
import { createStyle } from '../../terminal/style.js';

export const command: Command = {
  usage: '[FLOW] [K=V …] [--probe] [--json]',
  examples: [
    { command: 'taskflow cache status', does: 'how much is kept' },
    {
      command: 'taskflow cache status release',
      does: 'per phase: cached since when, or why not; what a rerun would continue',
    },
    { command: 'taskflow cache status --probe', does: 'also whether the shared cache answers' },
  ],
  flags: [
    ...ARG_FLAGS,
    { name: 'probe', type: 'boolean', help: 'also ask the shared cache whether it answers; nothing is written' },
    jsonFlag(
      'as JSON: {dir, entries, bytes, oldest, phases: [{id, state, ageMs, reason}], runs: {runs, bytes}, shared}',
    ),
  ],
  positionals: [
    { name: 'FLOW', help: 'a path, or the name of a saved flow', required: false },
    { name: 'K=V', help: 'arguments of the flow', required: false, many: true },
  ],
  async run(invocation) {
    const opened = await requireStore(invocation);
    if ('status' in opened) return opened.status;
    const status = await watched(invocation, (watcher) => storeStatus(opened.store, watcher));
    if ('status' in status) return status.status;
    const [typed, ...pairs] = invocation.positionals;
    const forecast =
      typed === undefined ? undefined : await forecastFlow(invocation, { typed, pairs, config: opened.config });
    if (forecast && 'status' in forecast) return forecast.status;
    const runs = sizeOfRuns(invocation.project);
    const asked = invocation.flags.boolean('probe') ? probedStatus : sharedStatus;
    const shared = await asked(opened.config, invocation.project);
    if (invocation.flags.boolean('json')) {
      invocation.out.write(`${JSON.stringify({ ...statusJson(status, forecast), runs, shared: shared ?? null })}\n`);
    } else {
      show(invocation, status, forecast);
      invocation.out.write(`journals: ${plural(runs.runs, 'run')}, ${formatBytes(runs.bytes)}\n`);
      if (shared) invocation.out.write(`shared ${sharedText(shared)}\n`);
    }
    if (status.unindexed > MANY) await compactIndex(opened.store);
    return EXIT.success;
  },
};

/** With more entries than this missing from the index, it is written anew for the next command. */
const MANY = 1_000;

const STATES = {
  reuse: 'cached',
  run: 'miss',
  shared: 'miss',
  skip: 'skipped',
  unknown: 'unknown',
  fail: 'failing',
} as const;

function statusJson({ dir, entries, bytes, oldest, blobs, damaged }: StoreStatus, forecast: Forecast | undefined) {
  const phases = (forecast?.phases ?? []).map(({ id, kind, would, from, ageMs, reason, key, items, failed }) => ({
    id,
    kind,
    state: failed ? 'failed' : STATES[would],
    scope: from ?? null,
    ageMs: ageMs ?? null,
    reason: failed?.message ?? reason,
    key: key ?? null,
    ...(items ? { items } : {}),
  }));
  const continues = forecast?.continues ?? null;
  return {
    dir,
    entries,
    bytes,
    oldest: oldest ?? null,
    files: blobs,
    damaged,
    ...(forecast ? { continues } : {}),
    phases,
  };
}

function show({ out, project }: Invocation, status: StoreStatus, forecast: Forecast | undefined): void {
  const style = createStyle(out.color);
  if (forecast) out.write(`${forecastText(forecast, { style, failedSince: project.clock.now() })}\n`);
  const oldest =
    status.oldest === undefined ? '' : `, the oldest made ${formatAgo(project.clock.now() - status.oldest)}`;
  const files = status.blobs > 0 ? `, ${plural(status.blobs, 'file')}` : '';
  const entries = plural(status.entries, 'entry', 'entries');
  out.write(`store ${status.dir}: ${entries}${files}, ${formatBytes(status.bytes)}${oldest}\n`);
  if (status.damaged > 0)
    out.write(style.yellow(`${plural(status.damaged, 'damaged entry was', 'damaged entries were')} set aside\n`));
}
