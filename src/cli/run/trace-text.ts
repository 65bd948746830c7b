import type { Failure } from '../../model/failure.js';
import type { JsonValue } from '../../model/json.js';
import type { ObservedCounts } from '../../model/observation.js';
import { spentOn } from '../../model/outcome.js';
import { valueText } from '../../plan/template.js';
import { shownOutput } from '../../run/core/output-folder.js';
import { recordedOutcome } from '../../run/history/recorded-outcome.js';
import type { PhaseTrace, RunTrace } from '../../run/history/trace.js';
import type { AttemptLine, ResultLine } from '../../run/journal/lines.js';
import { formatDuration } from '../../util/duration.js';
import { formatBill, plural } from '../../util/format.js';
import { oneLine, sanitize } from '../../util/terminal-text.js';
import type { NamedRow } from '../batch/row-names.js';
import type { Invocation } from '../boot/command.js';
import { createStyle, type Style } from '../terminal/style.js';
import { outcomeNote, tookText, usageFacts } from '../view/notes.js';
import { decisionText } from './decision-text.js';

const SHORT_LINES = 8;
const SHORT_WIDTH = 400;

/** A run's journal for people to read. */
export class TraceText {
  text = '';
  readonly #style: Style;
  readonly #full: boolean;
  readonly #root: string;

  constructor(
    { out, flags, project }: Invocation,
    private readonly startedAt: number,
    private readonly now: number,
  ) {
    this.#style = createStyle(out.color);
    this.#full = flags.boolean('full');
    this.#root = project.root;
  }

  run({ head, carried, warnings }: RunTrace): void {
    const { run } = head;
    const file = run.file === undefined ? '' : this.#style.dim(` ${run.file}`);
    this.text += `${this.#style.bold(run.flow)} ${run.runId}${file}\n`;
    if (run.continues !== undefined) {
      this.text += this.#style.dim(`continued run ${run.continues}, with ${plural(carried, 'result')} of it\n`);
    }
    for (const { message } of warnings) this.text += `${this.#style.yellow('warning')} ${oneLine(message)}\n`;
  }

  row({ row, label, path }: NamedRow): void {
    this.text += `\n${this.#style.bold(`row ${row}: ${oneLine(label)}`)} ${this.#style.dim(path)}\n`;
  }

  /** `name`: shown instead of its path. */
  phase(trace: PhaseTrace, name = trace.phase): void {
    const { starts, attempts, units, result } = trace;
    const at = starts[0]?.at ?? result?.at;
    const when = at === undefined ? '' : this.#style.dim(`  +${formatDuration(Math.max(0, at - this.startedAt))}`);
    this.text += `\n${this.#style.bold(name)}${when}\n`;
    const isDecided = result?.status === 'paused' && trace.decisions.length > 0;
    if (isDecided) this.text += `  ${result.kind} · decided since\n`;
    else if (result) this.#facts(result);
    else this.text += `  ${this.#style.yellow('was under way when the run ended')}\n`;
    for (const { text } of trace.questions) this.#block('asked', text);
    for (const decision of trace.decisions)
      this.text += `  ${decisionText(decision, this.now)}
`;
    for (const attempt of attempts) this.#attempt(attempt, wasTriedAgain(trace, attempt));
    this.#inputs(result?.inputs ?? attempts.at(-1)?.inputs);
    if (result && !isDecided) this.#result(result, attempts.length > 0);
    for (const unit of units) this.#unit(unit);
  }

  end({ head: { end, state } }: RunTrace): void {
    if (!end) {
      this.text += `\n${this.#style.yellow(state)}\n`;
      return;
    }
    const bill = formatBill(spentOn(end.spent), end.saved);
    const paid = bill === '' ? '' : ` · ${bill}`;
    this.text += `\n${this.#style.bold(end.status)} after ${formatDuration(end.durationMs)}${paid}\n`;
  }

  #facts(line: ResultLine): void {
    const model = line.model === undefined ? [] : [oneLine(line.model)];
    const took = line.hit === null && line.attempts > 0 ? [tookText(line)] : [];
    const status = line.optional ? `${line.status} (optional)` : line.status;
    const facts = [line.kind, status, ...took, ...model, ...usageFacts(line.usage)];
    this.text += `  ${facts.join(' · ')}\n  ${outcomeNote(recordedOutcome(line, this.#root))}\n`;
    if (line.observed) this.text += `  ${this.#style.dim(observedText(line.observed))}\n`;
  }

  #attempt({ attempt, unit, durationMs, failure, partial, retryInMs }: AttemptLine, triedAgain: boolean): void {
    const which = unit === undefined ? '' : ` of ${oneLine(unit)}`;
    const again = retryInMs === undefined || !triedAgain ? '' : `; tried again after ${formatDuration(retryInMs)}`;
    const what = `failed after ${formatDuration(durationMs)}: ${oneLine(failure.message)}${again}`;
    this.text += `  ${this.#style.red(`attempt ${attempt}${which}`)} ${what}\n`;
    if (failure.detail) this.#block('said', failure.detail);
    // The detail of the failure is often the end of the same text.
    if (partial && !failure.detail?.includes(partial.trimEnd())) this.#block('said so far', partial);
  }

  #inputs(inputs: Readonly<Record<string, JsonValue>> | undefined): void {
    for (const [field, value] of Object.entries(inputs ?? {})) this.#block(field, valueText(value));
  }

  #result(line: ResultLine, attemptsShown: boolean): void {
    if (line.failure) this.#failure(line.failure, attemptsShown);
    // The detail of the failure may be the whole output.
    const { text } = shownOutput(line.output, this.#root);
    const isReported = line.failure !== undefined && ['', line.failure.detail].includes(text.trimEnd());
    if (!isReported) this.#block('output', text);
    if (line.key !== undefined) this.text += `  ${this.#style.dim(`key ${line.key}`)}\n`;
  }

  #failure(failure: Failure, attemptsShown: boolean): void {
    if (!attemptsShown) {
      this.#block(this.#style.red('error'), failure.message);
      if (failure.detail) this.#block('said', failure.detail);
    }
    if (failure.hint) this.text += `  ${this.#style.dim('→')} ${oneLine(failure.hint)}\n`;
  }

  #unit(line: ResultLine): void {
    const took = line.hit === null ? ` ${formatDuration(line.durationMs)}` : '';
    const note = outcomeNote(recordedOutcome(line, this.#root));
    const unit = `${this.#style.dim('•')} ${oneLine(line.unit ?? '')}`;
    this.text += `  ${unit} ${line.status}${took}  ${this.#style.dim(note)}\n`;
    if (line.status === 'failed' && line.failure?.detail) this.#block('said', line.failure.detail);
    if (this.#full) this.#inputs(line.inputs);
    const { text } = shownOutput(line.output, this.#root);
    if (this.#full && text !== '') this.#block('output', text);
  }

  #block(label: string, value: string): void {
    const lines = sanitize(value).trimEnd().split('\n');
    const shown = this.#full ? lines : lines.slice(0, SHORT_LINES).map(cutLine);
    if (lines.length === 1) {
      this.text += `  ${this.#style.dim(`${label}:`)} ${shown[0]}\n`;
      return;
    }
    this.text += `  ${this.#style.dim(`${label}:`)}\n${shown.map((line) => `    ${line}\n`).join('')}`;
    const left = lines.length - shown.length;
    if (left > 0) this.text += `    ${this.#style.dim(`… ${plural(left, 'more line')} (--full)`)}\n`;
  }
}

/** Whether the retry took place: the run may have ended before it, or something else failed. */
function wasTriedAgain({ result, units }: PhaseTrace, { unit, attempt }: AttemptLine): boolean {
  const ended = unit === undefined ? result : units.find((line) => line.unit === unit);
  return ended === undefined || ended.attempts > attempt;
}

function observedText({ incomplete, reads, lists, absent, writes, undeclared }: ObservedCounts): string {
  const facts = [
    `read ${plural(reads, 'file')}`,
    `listed ${plural(lists, 'folder')}`,
    `missed ${absent}`,
    `wrote ${plural(writes, 'file')}`,
    `${undeclared} not declared`,
  ];
  return `observed: ${facts.join(', ')}${incomplete === undefined ? '' : ` (not complete: ${oneLine(incomplete)})`}`;
}

function cutLine(line: string): string {
  return line.length > SHORT_WIDTH ? `${line.slice(0, SHORT_WIDTH)}…` : line;
}
