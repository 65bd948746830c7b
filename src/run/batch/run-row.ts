import { totalTokens } from '../../model/outcome.js';
import type { TextOutput } from '../../model/output.js';
import type { RunContext } from '../context/context.js';
import { causeText } from '../core/cause-text.js';
import { shownOutput } from '../core/output-folder.js';
import type { ScopeResult } from '../core/scope.js';
import { readLineAt } from '../journal/reader.js';
import type { LinePlace } from '../journal/writer.js';
import type { BatchOptions } from './options.js';
import type { RowResult } from './result.js';
import { rowPath, rowScope } from './row-scope.js';
import type { BatchRow } from './rows/bind-rows.js';

/** Runs rows of a batch. Of a row that has ended it keeps only where the journal has its output. */
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
    const forget = context.io.secrets.addForNow(options.flow.args, row.args);
    context.io.emit({ type: 'row-start', row: row.row, label: row.label, path });
    const result = await context.flows.runScope(rowScope(context, row), context.limits.signal);
    const output = context.io.secrets.maskOutput(result.output);
    const file = result.status === 'success' ? options.onOutput?.(row, output) : undefined;
    const durationMs = Math.round(clock.elapsed() - startedAt);
    const ended = this.#rowResult(row, result, { durationMs, file });
    this.#record(row, ended, { ...result, output });
    forget();
    context.reuse.effects.forgetRow(row.place);
    return ended;
  }

  outputOf(row: number): TextOutput | undefined {
    const place = this.#outputs.get(row);
    const line = place && readLineAt(this.context.io.journal.path, place);
    const output = line?.type === 'row' ? line.output : undefined;
    return output && shownOutput(output, this.options.project.root);
  }

  #record(row: BatchRow, ended: RowResult, { status, usage, output }: ScopeResult): void {
    const { context, options } = this;
    const { durationMs, spent, saved, reuse, file, error } = ended;
    const path = rowPath(row);
    const kept = options.keepOutputs === true && status === 'success';
    const place = context.io.journal.write(
      {
        type: 'row',
        at: options.project.clock.now(),
        row: row.row,
        label: row.label,
        path,
        args: row.publicArgs,
        status,
        usage,
        saved,
        durationMs,
        reuse,
        file,
        failure: error,
        output: kept ? output : undefined,
      },
      // The line of a row that was all reused may be lost: the row would be reused again.
      reuse.executed === 0 ? 'held' : 'now',
    );
    if (kept) this.#outputs.set(row.row, place);
    const facts = { row: row.row, label: row.label, path, status, durationMs, spent, saved, reuse, file, error };
    context.io.emit({ type: 'row-end', ...facts });
  }

  #rowResult(row: BatchRow, result: ScopeResult, more: Pick<RowResult, 'durationMs' | 'file'>): RowResult {
    const {
      io: { secrets },
    } = this.context;
    const { failure, reuse, usage, saved } = result;
    const tokens = totalTokens(usage);
    return {
      row: row.row,
      line: row.line,
      label: row.label,
      args: row.publicArgs,
      status: result.status,
      spent: { usd: usage.usd ?? null, tokens },
      saved: saved.ms === 0 ? saved : { ...saved, ms: Math.round(saved.ms) },
      durationMs: more.durationMs,
      reuse,
      file: more.file,
      error: failure && {
        phase: failure.phase,
        code: failure.code,
        message: causeText(failure, (text) => secrets.mask(text)),
        hint: failure.hint,
      },
    };
  }
}
