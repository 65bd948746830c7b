import type { Output } from '../../model/outcome.js';
import { totalTokens } from '../../model/outcome.js';
import type { RunContext } from '../context/context.js';
import { causeText } from '../core/cause-text.js';
import type { ScopeResult } from '../core/scope.js';
import { readLineAt } from '../journal/reader.js';
import type { LinePlace } from '../journal/writer.js';
import type { BatchOptions } from './options.js';
import type { RowResult } from './result.js';
import { rowPath, rowScope } from './row-scope.js';
import type { BatchRow } from './rows/bind-rows.js';

interface Ended {
  readonly path: string;
  readonly figures: RowResult;
  readonly result: ScopeResult;
  readonly output: Output;
}

/** Runs rows of a batch. Of a row that has ended nothing stays but its figures and where the journal has its output. */
export class RowRunner {
  readonly #outputs = new Map<number, LinePlace>();

  constructor(
    private readonly context: RunContext,
    private readonly options: BatchOptions,
  ) {}

  async run(row: BatchRow): Promise<RowResult> {
    const { context, options } = this;
    const { clock } = options.project;
    const startedAt = clock.elapsed();
    const path = rowPath(row);
    const forget = context.secrets.addForNow(options.flow.args, row.args);
    context.emit({ type: 'row-start', row: row.row, label: row.label, path });
    const result = await context.runScope(rowScope(context, row), context.signal);
    const output = context.secrets.maskValue(result.output as never) as Output;
    const file = result.status === 'success' ? options.onOutput?.(row, output) : undefined;
    const figures = this.#figures(row, result, { durationMs: clock.elapsed() - startedAt, file });
    this.#record(row, { path, figures, result, output });
    forget();
    context.effects.forgetRow(row.place);
    return figures;
  }

  outputOf(row: number): Output | undefined {
    const place = this.#outputs.get(row);
    const line = place && readLineAt(this.context.journal.path, place);
    return line?.type === 'row' ? line.output : undefined;
  }

  #record(row: BatchRow, { path, figures, result, output }: Ended): void {
    const { context, options } = this;
    const kept = options.keepOutputs === true && result.status === 'success';
    const place = context.journal.write(
      {
        type: 'row',
        at: options.project.clock.now(),
        row: row.row,
        label: row.label,
        path,
        args: row.publicArgs,
        status: result.status,
        usage: result.usage,
        saved: figures.saved,
        durationMs: figures.durationMs,
        reuse: figures.reuse,
        file: figures.file,
        failure: figures.error,
        output: kept ? output : undefined,
      },
      // Losing the line of a row that was all reused costs nothing: it would be reused again.
      figures.reuse.executed === 0 ? 'held' : 'now',
    );
    if (kept) this.#outputs.set(row.row, place);
    const { durationMs, spent, saved, reuse, file, error } = figures;
    const { status } = result;
    const facts = { row: row.row, label: row.label, path, status, durationMs, spent, saved, reuse, file, error };
    context.emit({ type: 'row-end', ...facts });
  }

  #figures(
    row: BatchRow,
    result: ScopeResult,
    { durationMs, file }: Pick<RowResult, 'durationMs' | 'file'>,
  ): RowResult {
    const { secrets } = this.context;
    const { failure, reuse, usage, saved } = result;
    const tokens = totalTokens(usage);
    return {
      row: row.row,
      line: row.line,
      label: row.label,
      args: row.publicArgs,
      status: result.status,
      spent: { usd: usage.usd ?? null, tokens },
      saved: { ...saved, ms: Math.round(saved.ms) },
      durationMs: Math.round(durationMs),
      reuse,
      file,
      error: failure && {
        phase: failure.phase,
        code: failure.code,
        message: causeText(failure, (text) => secrets.mask(text)),
        hint: failure.hint,
      },
    };
  }
}
