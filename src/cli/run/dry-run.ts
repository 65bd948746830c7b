import type { RunOptions } from '../../run/core/options.js';
import { type Forecast, forecastRun, noCounts, type PhaseForecast, type Would } from '../../run/forecast/forecast.js';
import { formatAgo, formatDuration } from '../../util/duration.js';
import { formatCount, formatMoney, grouped, plural } from '../../util/format.js';
import { oneLine } from '../../util/terminal-text.js';
import type { Invocation } from '../boot/command.js';
import { EXIT } from '../errors/exit-status.js';
import { complain } from '../errors/problem.js';
import { createStyle, type Style } from '../terminal/style.js';
import { alignColumns } from '../text/table.js';

/** What a run would do, phase by phase; executes nothing. */
export async function showForecast(invocation: Invocation, options: RunOptions): Promise<number> {
  const forecast = await forecastRun(options);
  if ('refused' in forecast) return complain(invocation, forecast.refused.message, forecast.refused.hint);
  const { out, err, flags } = invocation;
  for (const warning of forecast.warnings) err.write(`warning: ${oneLine(warning)}\n`);
  if (flags.boolean('json')) out.write(`${JSON.stringify(forecastJson(forecast))}\n`);
  else out.write(forecastText(forecast, { style: createStyle(out.color) }));
  const isFrozenMiss = options.frozen === true && forecast.phases.some((phase) => phase.would === 'fail');
  return isFrozenMiss ? EXIT.frozenMiss : EXIT.success;
}

/** Identities are for `cache explain`, and long. */
function forecastJson(forecast: Forecast) {
  return { ...forecast, phases: forecast.phases.map(({ identities: _identities, ...phase }) => phase) };
}

interface ForecastDrawing {
  readonly style: Style;
  /** The present time. If given, a phase that failed in the last run is shown as failed, not as one that would run. */
  readonly failedSince?: number;
}

export function forecastText(forecast: Forecast, { style, failedSince }: ForecastDrawing): string {
  const rows = forecast.phases.map((phase) => {
    const failed = failedSince === undefined ? undefined : phase.failed;
    const mark = MARKS[failed ? 'fail' : phase.would];
    const ago = failed && formatAgo(failedSince! - failed.at);
    return [
      `${mark.paint(style)(mark.glyph)} ${phase.id}`,
      mark.paint(style)(failed ? `failed ${ago}: ${oneLine(failed.message)}` : wouldText(phase)),
      style.dim(lastText(phase)),
    ];
  });
  const counts = noCounts();
  for (const { would } of forecast.phases) counts[would] += 1;
  const head = continuesText(forecast.continues, 'run');
  const cost = forecast.phases
    .filter(({ would }) => would === 'run')
    .reduce((sum, { last }) => sum + (last?.usd ?? 0), 0);
  const costText = cost > 0 ? `; what would run last cost ${formatMoney(cost)}` : '';
  return `${head}${alignColumns(rows)}${plural(forecast.phases.length, 'phase')}: ${countsText(counts)}${costText}\n`;
}

/** `2 would run, 3 would be reused, 1 depends on what runs first`. */
export function countsText(counts: Readonly<Record<Would, number>>): string {
  const parts = [
    `${grouped(counts.run)} would run`,
    `${grouped(counts.reuse)} would be reused`,
    ...otherCounts(counts),
  ];
  return parts.join(', ');
}

/** The other counts: neither would run nor reused. */
export function otherCounts({ shared, unknown, skip, fail }: Readonly<Record<Would, number>>): string[] {
  const parts: string[] = [];
  if (shared > 0) parts.push(`${grouped(shared)} would be shared`);
  if (unknown > 0) parts.push(`${grouped(unknown)} ${unknown === 1 ? 'depends' : 'depend'} on what runs first`);
  if (skip > 0) parts.push(`${grouped(skip)} would be skipped`);
  if (fail > 0) parts.push(`${grouped(fail)} would fail`);
  return parts;
}

export function continuesText(continues: Forecast['continues'], what: 'run' | 'batch'): string {
  if (!continues) return '';
  const { runId, notice } = continues;
  return `would continue ${what} ${runId}${notice ? ` (${notice})` : ''}\n`;
}

/** In the order of the summary line. */
export const WOULD_WORDS = {
  run: 'would run',
  shared: 'would be shared',
  reuse: 'would be reused',
  unknown: 'not known yet',
  skip: 'would be skipped',
  fail: 'would fail',
} as const satisfies Record<Would, string>;

type Paint = (style: Style) => (text: string) => string;

export const MARKS: Readonly<Record<PhaseForecast['would'], { readonly glyph: string; readonly paint: Paint }>> = {
  reuse: { glyph: '●', paint: (style) => style.cyan },
  run: { glyph: '▸', paint: (style) => style.yellow },
  shared: { glyph: '●', paint: (style) => style.dim },
  skip: { glyph: '–', paint: (style) => style.dim },
  unknown: { glyph: '?', paint: (style) => style.dim },
  fail: { glyph: '✖', paint: (style) => style.red },
};

function wouldText({ would, from, ageMs, reason, items }: PhaseForecast): string {
  const why = oneLine(reason);
  const counts = items ? `, ${items.reused} of ${plural(items.total, 'item')} reused` : '';
  if (would === 'reuse') {
    return `CACHED (${from ?? 'run'}${ageMs === undefined ? '' : ` · age ${formatDuration(ageMs)}`}${counts})`;
  }
  if (would === 'fail') return `${WOULD_WORDS.fail}: ${why}${counts}`;
  return `${WOULD_WORDS[would]}${why === '' ? '' : ` (${why}${counts})`}`;
}

function lastText({ last, would }: PhaseForecast): string {
  if (!last || would === 'reuse') return '';
  const cost = [
    ...(last.usd ? [formatMoney(last.usd)] : []),
    ...(last.tokens > 0 ? [`${formatCount(last.tokens)} tokens`] : []),
  ];
  return `last time ${[...cost, formatDuration(last.ms)].join(', ')}`;
}
