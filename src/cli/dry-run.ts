import { type Forecast, forecastRun, type PhaseForecast } from '../run/forecast.js';
import type { RunOptions } from '../run/options.js';
import { formatDuration } from '../util/duration.js';
import { formatCount, formatMoney, plural } from '../util/format.js';
import { oneLine } from '../util/terminal-text.js';
import type { Invocation } from './command.js';
import { EXIT } from './exit-status.js';
import { complain } from './problem.js';
import { createStyle, type Style } from './style.js';
import { alignColumns } from './table.js';

/** What a run would do, phase by phase; executes nothing. */
export async function showForecast(invocation: Invocation, options: RunOptions): Promise<number> {
  const forecast = await forecastRun(options);
  if ('refused' in forecast) return complain(invocation, forecast.refused.message, forecast.refused.hint);
  const { out, err, flags } = invocation;
  for (const warning of forecast.warnings) err.write(`warning: ${oneLine(warning)}\n`);
  if (flags.boolean('json')) out.write(`${JSON.stringify(forecastJson(forecast))}\n`);
  else out.write(forecastText(forecast, createStyle(out.color)));
  const isFrozenMiss = options.frozen === true && forecast.phases.some((phase) => phase.would === 'fail');
  return isFrozenMiss ? EXIT.frozenMiss : EXIT.success;
}

/** Identities are for `cache explain`, and long. */
function forecastJson(forecast: Forecast) {
  return { ...forecast, phases: forecast.phases.map(({ identities: _identities, ...phase }) => phase) };
}

export function forecastText(forecast: Forecast, style: Style): string {
  const rows = forecast.phases.map((phase) => {
    const mark = MARKS[phase.would];
    return [
      `${mark.paint(style)(mark.glyph)} ${phase.id}`,
      mark.paint(style)(wouldText(phase)),
      style.dim(lastText(phase)),
    ];
  });
  const count = (would: PhaseForecast['would']) => forecast.phases.filter((phase) => phase.would === would).length;
  const parts = [`${count('run')} would run`, `${count('reuse')} would be reused`];
  if (count('unknown') > 0) parts.push(`${count('unknown')} depend on what runs first`);
  if (count('skip') > 0) parts.push(`${count('skip')} would be skipped`);
  if (count('fail') > 0) parts.push(`${count('fail')} would fail`);
  const head = forecast.continues
    ? `would continue run ${forecast.continues.runId}${forecast.continues.notice ? ` (${forecast.continues.notice})` : ''}\n`
    : '';
  const cost = forecast.phases
    .filter(({ would }) => would === 'run')
    .reduce((sum, { last }) => sum + (last?.usd ?? 0), 0);
  const costText = cost > 0 ? `; what would run last cost ${formatMoney(cost)}` : '';
  return `${head}${alignColumns(rows)}${plural(forecast.phases.length, 'phase')}: ${parts.join(', ')}${costText}\n`;
}

type Paint = (style: Style) => (text: string) => string;

const MARKS: Readonly<Record<PhaseForecast['would'], { readonly glyph: string; readonly paint: Paint }>> = {
  reuse: { glyph: '●', paint: (style) => style.cyan },
  run: { glyph: '▸', paint: (style) => style.yellow },
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
  const words = { run: 'would run', skip: 'would be skipped', unknown: 'not known yet', fail: 'would fail' } as const;
  return `${words[would]}${why === '' ? '' : ` (${why}${counts})`}`;
}

function lastText({ last, would }: PhaseForecast): string {
  if (!last || would === 'reuse') return '';
  const cost = [
    ...(last.usd ? [formatMoney(last.usd)] : []),
    ...(last.tokens > 0 ? [`${formatCount(last.tokens)} tokens`] : []),
  ];
  return `last time ${[...cost, formatDuration(last.ms)].join(', ')}`;
}
