import {
  type BatchForecast,
  type Counts,
  forecastBatch,
  isReused,
  type RowForecast,
} from '../../run/batch/forecast-batch.js';
import type { BatchOptions } from '../../run/batch/options.js';
import type { Would } from '../../run/forecast/forecast.js';
import { grouped, plural } from '../../util/format.js';
import { oneLine, truncate } from '../../util/terminal-text.js';
import type { Invocation } from '../boot/command.js';
import { EXIT } from '../errors/exit-status.js';
import { complain } from '../errors/problem.js';
import { continuesText, countsText, MARKS, otherCounts, WOULD_WORDS } from '../run/dry-run.js';
import { createStyle, type Style } from '../terminal/style.js';
import { alignColumns } from '../text/table.js';
import { estimateText } from './estimate-text.js';
import { writeRows } from './write-json.js';

const MOST_ROWS = 20;
const MOST_PHASES = 3;

/** What a batch would do: rows with something to do, then the sums; executes nothing. */
export async function showBatchForecast(invocation: Invocation, options: BatchOptions): Promise<number> {
  const forecast = await forecastBatch(options);
  if ('refused' in forecast) return complain(invocation, forecast.refused.message, forecast.refused.hint);
  const { out, err, flags } = invocation;
  for (const warning of forecast.warnings) err.write(`warning: ${oneLine(warning)}\n`);
  if (flags.boolean('json')) {
    const { rows, ...counts } = forecast;
    writeRows(out, counts, { rows, shown: (row) => row });
  } else out.write(batchForecastText(forecast, createStyle(out.color)));
  return options.frozen === true && forecast.counts.fail > 0 ? EXIT.frozenMiss : EXIT.success;
}

function batchForecastText(forecast: BatchForecast, style: Style): string {
  const open = forecast.rows.filter((row) => !isReused(row));
  const rows = open.slice(0, MOST_ROWS).map((row) => rowColumns(row, style));
  const more = open.length - rows.length;
  const phases = forecast.phases.map(({ id, counts }) => [`  ${id}`, phaseCounts(counts)]);
  const words = [
    plural(forecast.total, 'row'),
    `${grouped(open.length)} to do`,
    `${grouped(forecast.reused)} all reused`,
  ];
  return [
    continuesText(forecast.continues, 'batch'),
    alignColumns(rows),
    more > 0 ? `… ${plural(more, 'more row')} to do\n` : '',
    rows.length > 0 ? '\n' : '',
    `${style.bold(oneLine(forecast.flow))} over ${oneLine(forecast.over)}: ${words.join(', ')}\n`,
    alignColumns(phases),
    `${plural(
      Object.values(forecast.counts).reduce((a, b) => a + b, 0),
      'phase',
    )}: ${countsText(forecast.counts)}\n`,
    estimateText(forecast.estimate),
  ].join('');
}

function phaseCounts(counts: Counts): string {
  const { run, reuse } = counts;
  const parts = otherCounts(counts);
  if (reuse > 0) parts.unshift(`${grouped(reuse)} would be reused`);
  if (run > 0) parts.unshift(`${grouped(run)} would run`);
  return parts.join(', ');
}

/** Certain outcomes before uncertain ones. */
const GRAVITY: readonly Would[] = ['fail', 'run', 'unknown', 'shared'];

/** `work (first time), send (new run) would run; sum (work would run first) not known yet`. */
function rowColumns({ row, label, phases }: RowForecast, style: Style): string[] {
  const said = GRAVITY.flatMap((would) => {
    const such = phases.filter((phase) => phase.would === would);
    if (such.length === 0) return [];
    const shown = such.slice(0, MOST_PHASES).map(({ id, reason }) => `${id} (${truncate(oneLine(reason), 80)})`);
    if (such.length > MOST_PHASES) shown.push(`${such.length - MOST_PHASES} more`);
    return [{ would, text: `${shown.join(', ')} ${WOULD_WORDS[would]}` }];
  });
  const { glyph, paint } = MARKS[said[0]!.would];
  // A result that another row makes is mentioned only where there is nothing else.
  const text = said.filter(({ would }, index) => index === 0 || would !== 'shared').map((part) => part.text);
  return [
    `${paint(style)(glyph)} ${style.dim(String(row))}`,
    truncate(oneLine(label), 50),
    paint(style)(text.join('; ')),
  ];
}
