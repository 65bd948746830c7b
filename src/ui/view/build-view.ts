import { addSpent, NO_SAVINGS, NOTHING_SPENT, type Savings, type Spent, spentOn } from '../../model/outcome.js';
import { StoredOutput } from '../../model/output.js';
import { addSavings } from '../../run/core/budget.js';
import type { RunHead } from '../../run/history/run-head.js';
import {
  JOURNAL_VERSION,
  type JournalLine,
  type ResultLine,
  type RowLine,
  type WarningLine,
} from '../../run/journal/lines.js';
import { resultName } from '../../run/journal/reader.js';
import { grouped } from '../../util/format.js';
import { oneLine } from '../../util/terminal-text.js';
import { causesOf, wasExecuted } from './causes.js';
import { asText, failureOf } from './details.js';
import { PhaseDraft } from './phase-draft.js';
import { placeOf } from './places.js';
import type { TextBudget } from './text.js';
import type { PhaseView, RowView, RunView } from './types.js';
import { spentIfAny, wentOf } from './went.js';

/** More would make a page slow: it shows the first ones, and says so. */
const MOST_UNITS = 60_000;
const MOST_WARNINGS = 200;
const HINT = 120;

interface ViewOptions {
  readonly texts: TextBudget;
  /** False: contents are left out. */
  readonly outputs: boolean;
}

/** Folds the lines of a journal into a `RunView`, at any time: a running run is shown as it is. */
export class ViewBuilder {
  readonly #options: ViewOptions;
  readonly #phases = new Map<string, PhaseDraft>();
  readonly #rows: RowLine[] = [];
  readonly #warnings: RunView['warnings'][number][] = [];
  readonly #unknown = new Set<string>();
  #units = 0;
  #leftOut = 0;
  #carrying = false;
  #carried = 0;

  constructor(run: RunHead['run'], options: ViewOptions) {
    this.#options = options;
    for (const { id, kind, needs } of run.phases) this.#phases.set(id, new PhaseDraft({ id, kind, needs }));
  }

  add(line: JournalLine): void {
    if (line.type === 'carried-begin') this.#carrying = true;
    else if (line.type === 'carried-end') this.#carrying = false;
    else if (this.#carrying) this.#carried += line.type === 'phase' ? 1 : 0;
    else if (line.type === 'start') this.#phase(line.phase).start(resultName(line.phase, line.unit), line);
    else if (line.type === 'phase' || line.type === 'unit') this.#result(line);
    else if (line.type === 'ask') this.#phase(line.phase).asks = { digest: line.digest, deadline: line.deadline };
    else if (line.type === 'decision') this.#phase(line.phase).asks = undefined;
    else if (line.type === 'row') this.#rows.push(this.#shortRow(line));
    else if (line.type === 'warning') this.#warn(line);
    else if (line.type === 'limit') {
      const { runner, error, waits } = line;
      this.#warn({ ...line, message: `usage limit of ${runner}${waits ? ', the run waited' : ''}: ${error}` });
    }
  }

  #warn({ at, phase, message }: Pick<WarningLine, 'at' | 'phase' | 'message'>): void {
    if (this.#warnings.length >= MOST_WARNINGS) return;
    const { texts } = this.#options;
    this.#warnings.push({
      at,
      message: texts.short(message),
      ...(phase !== undefined && { phase: texts.short(phase, 200) }),
    });
  }

  #phase(path: string): PhaseDraft {
    const { phase: id } = placeOf(path, undefined);
    let draft = this.#phases.get(id);
    if (!draft) {
      // The head of the journal does not name it: an agent made it during the run, or the format is older.
      draft = new PhaseDraft({ id: this.#options.texts.short(id, 200), kind: 'unknown', needs: [] });
      this.#phases.set(id, draft);
      this.#unknown.add(id);
    }
    return draft;
  }

  #result(line: ResultLine): void {
    const { texts, outputs } = this.#options;
    const draft = this.#phase(line.phase);
    const name = resultName(line.phase, line.unit);
    const place = placeOf(line.phase, line.unit);
    const went = wentOf(line, draft.startOf(name), texts);
    if (place.inside === '' && place.row === undefined) {
      draft.settle(line, went, texts);
      return;
    }
    if (place.inside === '') draft.settleInRow(line);
    if (!draft.has(name) && ++this.#units > MOST_UNITS) {
      this.#leftOut += 1;
      return;
    }
    const hint = outputs ? hintOf(line, texts) : '';
    draft.unit({ name, label: place.inside, ...went, ...(hint !== '' && { hint }) }, place.row);
  }

  #shortRow(line: RowLine): RowLine {
    return { ...line, args: {}, output: undefined };
  }

  view(head: RunHead): RunView {
    const { run, end, state } = head;
    const { texts, outputs } = this.#options;
    const labels = new Map(this.#rows.map(({ path, row, label }) => [path, `${row} · ${label}`]));
    const drafts = [...this.#phases.values()];
    const ends = new Map(drafts.map((draft) => [draft.id, draft.endedAt]));
    const context = { labels, ends, startedAt: run.at, isRunning: state === 'running' };
    const phases = drafts.map((draft) => draft.view(context));
    const isBatch = run.mode === 'batch';
    const counted = isBatch ? phases.flatMap(({ units }) => units.filter(({ label }) => !label.includes('/'))) : phases;
    const { failure, partial } = end ?? {};
    return {
      runId: head.runId,
      flow: texts.short(run.flow, 200),
      ...(run.file !== undefined && { file: texts.short(run.file, 500) }),
      mode: run.mode,
      ...(run.over !== undefined && { over: texts.short(run.over, 500) }),
      state,
      ...(partial && { partial }),
      startedAt: run.at,
      endedAt: head.endedAt,
      durationMs: end?.durationMs ?? Math.max(0, head.endedAt - run.at),
      spent: end ? spentOn(end.spent) : spentSoFar(phases),
      saved: end ? end.saved : savedSoFar(phases),
      executed: this.#rows.length > 0 ? this.#sumRows('executed') : counted.filter(wasExecuted).length,
      reused: this.#rows.length > 0 ? this.#sumRows('reused') : counted.filter(({ hit }) => hit !== undefined).length,
      ...(run.continues !== undefined && { continues: run.continues }),
      carried: this.#carried,
      args: outputs
        ? Object.entries(run.args).map(([name, value]) => ({ name, value: texts.text(asText(value)) }))
        : [],
      ...(failure && {
        failure: {
          ...failureOf(failure, texts, outputs),
          ...(failure.phase !== undefined && { phase: failure.phase }),
        },
      }),
      phases,
      rows: this.#rows.map((row) => rowView(row, texts)),
      ...(run.rows !== undefined && { rowsTotal: run.rows }),
      warnings: this.#warnings,
      causes: causesOf(phases).slice(0, 200),
      notes: this.#notes(head),
      taskflow: texts.short(run.taskflow, 50),
    };
  }

  #sumRows(what: 'executed' | 'reused'): number {
    return this.#rows.reduce((all, { reuse }) => all + reuseCounts(reuse)[what], 0);
  }

  #notes({ run, state, end }: RunHead): string[] {
    const notes: string[] = [];
    if (state === 'running') notes.push('This run was still going when this was written: it shows what there was.');
    if (state === 'crashed')
      notes.push('The process of this run ended without a word: what was under way is unfinished.');
    if (run.version !== JOURNAL_VERSION) {
      notes.push(
        `The journal has format ${run.version}, this taskflow writes ${JOURNAL_VERSION}: some may be missing.`,
      );
    }
    if (end?.partial) notes.push('A flag left phases out of this run.');
    if (this.#unknown.size > 0) {
      const names = [...this.#unknown].slice(0, 3).map((name) => oneLine(name).slice(0, 60));
      notes.push(`The journal does not say what ${names.join(', ')} depends on: drawn without edges.`);
    }
    if (this.#leftOut > 0) {
      notes.push(`${grouped(this.#leftOut)} of ${grouped(this.#units)} items are counted but not listed.`);
    }
    return notes;
  }
}

function reuseCounts({ executed, run, crossRun }: RowLine['reuse']): { executed: number; reused: number } {
  return { executed, reused: run + crossRun };
}

function rowView(line: RowLine, texts: TextBudget): RowView {
  const { row, path, status, usage, saved, durationMs, at, file, failure } = line;
  const spent = spentIfAny(usage);
  const hasSaved = saved.usd !== 0 || saved.tokens > 0 || saved.ms > 0;
  return {
    ...{ row, label: texts.short(line.label, 200), path, state: status, durationMs },
    ...{ endedAt: at, startedAt: at - durationMs, ...reuseCounts(line.reuse) },
    reason: failure ? texts.short(`${failure.phase}: ${failure.message}`, 400) : '',
    ...(spent && { spent }),
    ...(hasSaved && { saved }),
    ...(file !== undefined && { file }),
    ...(failure && { failure: texts.short(failure.message, 400) }),
  };
}

function hintOf({ output, failure }: ResultLine, texts: TextBudget): string {
  const text = failure ? failure.message : output instanceof StoredOutput ? output.preview : output.text;
  return texts.short(oneLine(text.slice(0, 4 * HINT)), HINT);
}

function spentSoFar(phases: readonly PhaseView[]): Spent {
  let spent = NOTHING_SPENT;
  for (const phase of phases) {
    if (phase.endedAt !== undefined) spent = addSpent(spent, phase.spent ?? NOTHING_SPENT);
    else for (const unit of phase.units) spent = addSpent(spent, unit.spent ?? NOTHING_SPENT);
  }
  return spent;
}

function savedSoFar(phases: readonly PhaseView[]): Savings {
  return phases.reduce((all, { saved }) => addSavings(all, saved ?? NO_SAVINGS), NO_SAVINGS);
}
