import { candidatesFor, type Nearest, nearestEntry } from '../../../memo/nearest-entry.js';
import type { PhaseForecast } from '../../../run/forecast/forecast.js';
import type { ForecastIdentity } from '../../../run/forecast/forecast-journal.js';
import { formatAgo, formatDuration } from '../../../util/duration.js';
import { plural } from '../../../util/format.js';
import { oneLine } from '../../../util/terminal-text.js';
import type { Command, Invocation } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { ARG_FLAGS, jsonFlag } from '../../flags/common-flags.js';
import { requireStore } from '../../load/store.js';
import { WOULD_WORDS } from '../../run/dry-run.js';
import { forecastFlow } from '../../run/forecast-flow.js';
import { watched } from '../../run/watched.js';
import { createStyle } from '../../terminal/style.js';

export const command: Command = {
  usage: 'FLOW [PHASE] [K=V …] [--json]',
  description: `Compares what would run now with the nearest kept result of the same phase. Executes nothing.
taskflow explain and taskflow cache explain are one command.`,
  examples: [
    { command: 'taskflow explain release', does: 'why each phase is or is not reused' },
    {
      command: 'taskflow explain release review',
      does: 'one phase: which file, which upstream, which part of the prompt',
    },
  ],
  flags: [...ARG_FLAGS, jsonFlag('as JSON: [{id, would, reason, compared: [{unit, key, ageMs, changes}]}]')],
  positionals: [
    { name: 'FLOW', help: 'a path, or the name of a saved flow', required: true },
    { name: 'PHASE', help: 'only this phase', required: false, many: true },
  ],
  async run(invocation) {
    const opened = await requireStore(invocation);
    if ('status' in opened) return opened.status;
    const [typed, ...rest] = invocation.positionals as [string, ...string[]];
    const wanted = rest.filter((word) => !word.includes('='));
    const pairs = rest.filter((word) => word.includes('='));
    const forecast = await forecastFlow(invocation, { typed, pairs, config: opened.config });
    if ('status' in forecast) return forecast.status;
    const unknown = wanted.find((id) => !forecast.phases.some((phase) => phase.id === id));
    if (unknown !== undefined)
      return complain(invocation, `the flow has no phase ${unknown}`, await nearestPhase(unknown, forecast.phases));
    const phases = forecast.phases.filter(({ id }) => wanted.length === 0 || wanted.includes(id));
    const identities = phases.flatMap(comparedOf).map(({ identity }) => identity);
    const candidates = await watched(invocation, (watcher) => candidatesFor(opened.store, identities, watcher));
    if ('status' in candidates) return candidates.status;
    const now = invocation.project.clock.now();
    const explained = phases.map((phase) => {
      const compared = comparedOf(phase).map(({ unit, identity }) => {
        return { unit: unit ?? null, ...compare(nearestEntry(opened.store, identity, candidates), now) };
      });
      return explain(phase, compared);
    });
    if (invocation.flags.boolean('json')) invocation.out.json(explained);
    else show(invocation, explained);
    return EXIT.success;
  },
};

type Explained = ReturnType<typeof explain>;

/** Items that are listed: enough to see the pattern. */
const MOST_UNITS = 20;

function comparedOf({ would, identities }: PhaseForecast): readonly ForecastIdentity[] {
  return would === 'reuse' ? [] : identities.slice(0, MOST_UNITS);
}

type Compared = { readonly unit: string | null } & ReturnType<typeof compare>;

function explain({ id, kind, would, from, ageMs, reason, identities }: PhaseForecast, compared: readonly Compared[]) {
  return {
    id,
    kind,
    would,
    from: from ?? null,
    ageMs: ageMs ?? null,
    reason,
    compared,
    left: Math.max(0, identities.length - MOST_UNITS),
  };
}

function compare(nearest: Nearest | undefined, now: number) {
  return {
    key: nearest?.entry.key ?? null,
    madeAt: nearest?.entry.createdAt ?? null,
    ageMs: nearest ? Math.max(0, now - nearest.entry.createdAt) : null,
    changes: nearest?.changes ?? [],
  };
}

function show({ out, project }: Invocation, explained: readonly Explained[]): void {
  const style = createStyle(out.color);
  const now = project.clock.now();
  for (const { id, would, from, ageMs, reason, compared, left } of explained) {
    if (would === 'reuse') {
      const age = ageMs === null ? '' : `, age ${formatDuration(ageMs)}`;
      out.write(`${style.cyan('●')} ${style.bold(id)} is reused (${from}${age})\n`);
      continue;
    }
    const words = would === 'unknown' ? 'is not known yet' : WOULD_WORDS[would];
    out.write(`${style.yellow('▸')} ${style.bold(id)} ${words}: ${oneLine(reason)}\n`);
    for (const { unit, key, madeAt, changes } of compared) {
      const what = unit === null ? '' : `${oneLine(unit)}: `;
      if (key === null) {
        out.write(`    ${what}${style.dim('nothing of it is in the store')}\n`);
        continue;
      }
      out.write(
        `    ${what}${style.dim(`nearest entry ${key.slice(0, 12)}, made ${formatAgo(now - (madeAt ?? now))}`)}\n`,
      );
      for (const { message } of changes) out.write(`      ${oneLine(message)}\n`);
      if (changes.length === 0) out.write(`      ${style.dim('nothing that is declared differs')}\n`);
    }
    if (left > 0) out.write(style.dim(`    … and ${plural(left, 'more item')}\n`));
  }
}

async function nearestPhase(unknown: string, phases: readonly PhaseForecast[]): Promise<string> {
  const { nearestName } = await import('../../../util/nearest.js');
  const ids = phases.map(({ id }) => id);
  const nearest = await nearestName(unknown, ids);
  return nearest ? `did you mean ${nearest}?` : `it has: ${ids.slice(0, 20).join(', ')}`;
}
