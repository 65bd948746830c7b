import type { Failure } from '../../model/failure.js';
import { isTextList, type JsonValue } from '../../model/json.js';
import { type Output, StoredOutput } from '../../model/output.js';
import type { AskLine, AttemptLine, DecisionLine, JournalLine, ResultLine } from '../../run/journal/lines.js';
import { resultName } from '../../run/journal/reader.js';
import { observedView } from './observed.js';
import type { TextBudget } from './text.js';
import type { AttemptView, Detail, FailureView, NamedText, ShownText } from './types.js';
import { spentIfAny } from './went.js';

type Draft = { -readonly [F in keyof Detail]: Detail[F] };

const MOST_FILES = 500;
const MOST_ATTEMPTS = 100;

interface DetailOptions {
  /** Separate budgets: the many texts inside of phases must not use up that of the phases. */
  readonly phases: TextBudget;
  readonly units: TextBudget;
  /** False: contents are left out. */
  readonly outputs: boolean;
  /** The name of a file of the run, for people. */
  fileName(path: string): string;
}

/** Collects the long texts of phases and units, line by line. */
export class Details {
  readonly byName = new Map<string, Detail>();
  readonly #options: DetailOptions;

  constructor(options: DetailOptions) {
    this.#options = options;
  }

  add(line: JournalLine): void {
    if (line.type === 'phase' || line.type === 'unit') this.#result(line);
    else if (line.type === 'attempt') this.#attempt(line);
    else if (line.type === 'ask') this.#ask(line);
    else if (line.type === 'decision') this.#decision(line);
  }

  #of(line: { readonly phase: string; readonly unit?: string }): { detail: Draft; texts: TextBudget } {
    const { phases, units } = this.#options;
    const name = resultName(line.phase, line.unit);
    const detail = this.byName.get(name) ?? { asked: [], attempts: [], files: [], questions: [], decisions: [] };
    this.byName.set(name, detail);
    const isInside = line.unit !== undefined || /[/[]/.test(line.phase);
    return { detail, texts: isInside ? units : phases };
  }

  #result(line: ResultLine): void {
    const { detail, texts } = this.#of(line);
    const { outputs, fileName } = this.#options;
    if (outputs && line.inputs) detail.asked = askedOf(line.inputs, texts);
    if (outputs) detail.said = saidOf(line.output, texts);
    if (line.output instanceof StoredOutput) {
      detail.saidFile = { path: fileName(line.output.file), bytes: line.output.stored.bytes };
    }
    if (line.failure) detail.failure = failureOf(line.failure, texts, outputs);
    if (line.files) detail.files = line.files.slice(0, MOST_FILES).map(({ path }) => texts.short(path, 500));
    const observed = observedView(line, texts);
    if (observed) detail.observed = observed;
    if (line.key !== undefined) detail.key = line.key;
    if (line.unkeepable !== undefined) detail.unkeepable = texts.short(line.unkeepable);
    if (line.masked) detail.masked = true;
  }

  #attempt(line: AttemptLine): void {
    const { detail, texts } = this.#of(line);
    const { outputs } = this.#options;
    if (outputs && line.inputs && detail.asked.length === 0) detail.asked = askedOf(line.inputs, texts);
    if (detail.attempts.length >= MOST_ATTEMPTS) return;
    const spent = line.usage && spentIfAny(line.usage);
    const attempt: AttemptView = {
      at: line.at,
      attempt: line.attempt,
      durationMs: line.durationMs,
      ...(spent && { spent }),
      failure: line.failure ? failureOf(line.failure, texts, outputs) : { code: '', message: '' },
      ...(outputs && line.partial && { partial: texts.text(line.partial) }),
      ...(line.retryInMs !== undefined && { retryInMs: line.retryInMs }),
    };
    detail.attempts = [...detail.attempts, attempt];
  }

  #ask(line: AskLine): void {
    const { detail, texts } = this.#of(line);
    const text = this.#options.outputs ? texts.text(line.text) : LEFT_OUT;
    detail.questions = [...detail.questions, { at: line.at, text, digest: line.digest }];
  }

  #decision(line: DecisionLine): void {
    const { detail, texts } = this.#of(line);
    const { at, decision, by, note } = line;
    const who = by === undefined ? {} : { by: texts.short(by, 200) };
    const what = note === undefined ? {} : { note: texts.short(note) };
    detail.decisions = [...detail.decisions, { at, decision, ...who, ...what }];
  }
}

const LEFT_OUT: ShownText = { text: '' };

export function askedOf(inputs: Readonly<Record<string, JsonValue>>, texts: TextBudget): NamedText[] {
  return Object.entries(inputs)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => ({ name: texts.short(name, 100), value: texts.text(asText(value)) }));
}

export function asText(value: JsonValue): string {
  if (typeof value === 'string') return value;
  return isTextList(value) ? value.join(' ') : JSON.stringify(value, null, 2);
}

function saidOf(output: Output, texts: TextBudget): ShownText {
  return output instanceof StoredOutput ? texts.text(output.preview, output.stored.bytes) : texts.text(output.text);
}

/** The error stream of a process is content, which a report may leave out. */
export function failureOf(failure: Failure, texts: TextBudget, outputs: boolean): FailureView {
  const { code, message, hint, detail } = failure;
  return {
    code,
    message: texts.short(message),
    ...(hint !== undefined && { hint: texts.short(hint) }),
    ...(outputs && detail !== undefined && { detail: texts.text(detail) }),
  };
}
