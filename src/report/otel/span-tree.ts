import type { AttemptLine, EndLine, JournalLine, ResultLine, RunLine } from '../../run/journal/lines.js';
import { attemptsOf, type Described, describeAttempt, describeResult, describeRow, describeRun } from './describe.js';
import {
  attributesOf,
  INTERNAL,
  nanos,
  type Span,
  type SpanEvent,
  shortened,
  spanIdOf,
  traceIdOf,
  type Values,
} from './span.js';
import type { OtelTarget } from './target.js';

/** The spans of a run: of itself, its rows, phases, units and attempts, as its journal has them. */
export function* spansOf(lines: Iterable<JournalLine>, target: Pick<OtelTarget, 'parent'>): Generator<Span> {
  let tree: SpanTree | undefined;
  let carrying = false;
  for (const line of lines) {
    if (line.type === 'run') tree ??= new SpanTree(line, target);
    if (line.type === 'carried-begin') carrying = true;
    if (line.type === 'carried-end') carrying = false;
    // The results of an earlier run are in that run's own trace.
    if (!carrying && tree) yield* tree.read(line);
  }
  if (tree) yield* tree.end();
}

const ROOT = 'run';
/** More would make the run's own span larger than some collectors take. */
const MOST_EVENTS = 100;

class SpanTree {
  readonly #traceId: string;
  /** When each phase and unit began. */
  readonly #starts = new Map<string, number>();
  readonly #attempts = new Map<string, AttemptLine[]>();
  /** Phases and rows that have begun and not ended. */
  readonly #open = new Map<string, number>();
  /** How often each has ended: a gate sends phases back, and each round has a span of its own. */
  readonly #rounds = new Map<string, number>();
  readonly #events: SpanEvent[] = [];
  #end: EndLine | undefined;
  #lastAt: number;
  #limitedUntil = 0;

  constructor(
    private readonly run: RunLine,
    private readonly target: Pick<OtelTarget, 'parent'>,
  ) {
    this.#traceId = target.parent?.traceId ?? traceIdOf(run.runId);
    this.#lastAt = run.at;
  }

  *read(line: JournalLine): Generator<Span> {
    this.#lastAt = Math.max(this.#lastAt, line.at);
    switch (line.type) {
      case 'start':
        this.#starts.set(keyOf(line), line.at);
        this.#begin(line.phase, line.at);
        return;
      case 'attempt':
        this.#attempts.set(keyOf(line), [...(this.#attempts.get(keyOf(line)) ?? []), line]);
        return;
      case 'unit':
      case 'phase':
        yield* this.#result(line);
        return;
      case 'row':
        this.#begin(line.path, line.at - line.durationMs);
        yield this.#span(describeRow(line), this.#close(line.path), ROOT);
        return;
      case 'limit':
        this.#limitedUntil = line.until;
        this.#event(line.at, 'taskflow.usage_limit', { 'taskflow.runner': line.runner, 'taskflow.until': line.until });
        return;
      case 'warning':
        this.#event(line.at, 'taskflow.warning', { 'taskflow.message': line.message });
        return;
      case 'end':
        this.#end = line;
        return;
      default:
    }
  }

  /** What did not end, because the run was killed or is under way; then the run itself. */
  *end(): Generator<Span> {
    for (const [path, from] of this.#open) {
      const values = { 'taskflow.phase.path': path, 'error.type': 'interrupted' };
      const failure = { message: 'it has not ended' };
      const parent = this.#parentOf(path);
      yield this.#span({ name: path, from, to: this.#lastAt, values, failure }, this.#close(path), parent);
    }
    const root = this.#span(describeRun(this.run, this.#end, this.#lastAt), ROOT, undefined);
    const { parent } = this.target;
    yield { ...root, ...(parent && { parentSpanId: parent.spanId }), events: this.#events };
  }

  *#result(line: ResultLine): Generator<Span> {
    const { phase, unit } = line;
    const key = keyOf(line);
    const described = describeResult(line, this.#starts.get(key));
    this.#begin(phase, described.from);
    const parent = unit === undefined ? this.#parentOf(phase) : this.#round(phase);
    const node = unit === undefined ? this.#close(phase) : this.#close(key);
    for (const tried of attemptsOf(line, this.#attempts.get(key) ?? [], this.#limitedUntil)) {
      yield this.#span(describeAttempt(tried), `${node} attempt ${tried.attempt}`, node);
    }
    yield this.#span(described, node, parent);
    this.#starts.delete(key);
    this.#attempts.delete(key);
  }

  #span(described: Described, node: string, parent: string | undefined): Span {
    const { name, kind = INTERNAL, from, to, values, failure } = described;
    return {
      traceId: this.#traceId,
      spanId: spanIdOf(this.run.runId, node),
      ...(parent !== undefined && { parentSpanId: spanIdOf(this.run.runId, parent) }),
      name: shortened(name),
      kind,
      startTimeUnixNano: nanos(Math.min(from, to)),
      endTimeUnixNano: nanos(to),
      attributes: attributesOf(values),
      status: failure ? { code: 2, message: shortened(failure.message) } : {},
    };
  }

  /** Begins everything around the phase, too, even if the journal has no line for that. */
  #begin(path: string, at: number): void {
    for (let inside = path; inside !== '' && !this.#open.has(inside); inside = above(inside)) {
      // Losers of a race end after the phase around them.
      if (inside !== path && this.#rounds.has(inside)) return;
      this.#open.set(inside, at);
    }
  }

  /** The name, numbered by round. */
  #close(key: string): string {
    const round = (this.#rounds.get(key) ?? 0) + 1;
    this.#rounds.set(key, round);
    this.#open.delete(key);
    return `${key} round ${round}`;
  }

  /** The round that is under way, or the last one. */
  #round(path: string): string {
    const ended = this.#rounds.get(path) ?? 0;
    return `${path} round ${this.#open.has(path) ? ended + 1 : ended}`;
  }

  #parentOf(path: string): string {
    const around = above(path);
    return around === '' ? ROOT : this.#round(around);
  }

  #event(at: number, name: string, values: Values): void {
    if (this.#events.length >= MOST_EVENTS) return;
    this.#events.push({ timeUnixNano: nanos(at), name, attributes: attributesOf(values) });
  }
}

function keyOf({ phase, unit }: { readonly phase: string; readonly unit?: string }): string {
  return unit === undefined ? phase : `${phase} unit ${unit}`;
}

/** `each[f5ef]/x` is inside of `each`, `rows/ab/x` of the row `rows/ab`; empty for what is the run's own. */
function above(path: string): string {
  if (/^rows\/[^/]*$/.test(path)) return '';
  return path.slice(0, Math.max(0, path.lastIndexOf('/'))).replace(/\[[^\]]*\]$/, '');
}
