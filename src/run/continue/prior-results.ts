import type { Failure } from '../../model/failure.js';
import { unitName } from '../core/selectors.js';
import { hasSettled } from '../effects/settled.js';
import type { AskLine, DecisionLine, JournalLine, ResultLine, StartLine } from '../journal/lines.js';
import { readLineAt } from '../journal/reader.js';
import type { LinePlace } from '../journal/writer.js';
import type { Around } from './changed-since.js';
import { PriorDecisions } from './prior-decisions.js';
import type { Validity } from './survey.js';

type PriorHow = 'none' | 'auto' | 'resume' | 'checkpoint';

interface PriorSource {
  readonly how: PriorHow;
  readonly runId?: string;
  /** A journal, or how to read a line that is nowhere on disk. */
  readonly journal: string | ((place: LinePlace) => JournalLine | undefined);
  /** What changed around the flow since a run ended. */
  readonly changedSince?: (runId: string, around: Around) => string | undefined;
}

/**
 * What the continued run has left: results by run key and by phase, decisions, and side effects whose end is unknown.
 * Memory holds only places; a result is read when it is needed.
 */
export class PriorResults {
  readonly #byKey = new Map<string, LinePlace & Validity>();
  readonly #byPhase = new Map<string, LinePlace>();
  /** Side effects that are done. */
  readonly #byEffect = new Map<string, LinePlace>();
  readonly #skipped = new Set<string>();
  readonly #underWay = new Map<string, StartLine>();
  readonly #decisions = new PriorDecisions();
  readonly #changed = new Map<string, string | undefined>();

  constructor(private readonly source: PriorSource) {}

  get how(): PriorHow {
    return this.source.how;
  }

  /** The run that is continued. */
  get runId(): string | undefined {
    return this.source.runId;
  }

  /** Collects what a line says about the state of the run. Call it for all lines, in their order. */
  collect(line: JournalLine): void {
    this.#decisions.collect(line);
    switch (line.type) {
      case 'start':
        if (!line.idempotent) this.#underWay.set(doubtKey(line.phase, line.unit, line.runKey), line);
        break;
      case 'attempt':
        // What failed is not in doubt. Units are settled by their own line, which names the key.
        if (line.unit === undefined) this.#settle(line);
        break;
      case 'rejected':
        for (const key of line.keys) this.#byKey.delete(key);
        break;
      case 'unit':
      case 'phase':
        this.#settle(line);
        // A person wanted it done again, and that failed.
        if (line.effect && line.status === 'failed' && hasSettled(line)) this.#byEffect.delete(effectKey(line));
        if (line.type === 'phase' && line.status === 'skipped' && line.failure === undefined) {
          this.#skipped.add(line.phase);
        }
        break;
    }
  }

  /** Adds a result that may be reused, and its place in the new journal. */
  keep(line: ResultLine, place: LinePlace): void {
    const { validIn, outdatedBy } = line;
    if (line.runKey !== undefined) this.#byKey.set(line.runKey, { ...place, validIn, outdatedBy });
    if (line.effect) this.#byEffect.set(effectKey(line), place);
    if (line.type === 'phase') {
      this.#byPhase.set(line.phase, place);
      this.#skipped.delete(line.phase);
    }
  }

  find(runKey: string): ResultLine | undefined {
    const place = this.#byKey.get(runKey);
    const line = this.#read(place);
    // A forecast reads the original line, which lacks what carrying it would add.
    return line && { ...line, validIn: place?.validIn, outdatedBy: place?.outdatedBy };
  }

  /** A side effect that is done, by its place in the flow: whatever it, or what ran before it, is made of. */
  effect(path: string, unit: string | undefined): ResultLine | undefined {
    return this.#read(this.#byEffect.get(effectKey({ phase: path, effect: { unit } })));
  }

  /** The last result of a phase whatever it was made from: for partial runs. */
  ofPhase(path: string): ResultLine | undefined {
    return this.#read(this.#byPhase.get(path));
  }

  /** Skipped by its own condition, or with all that it needs: there is no output, and that is how it was meant. */
  wasSkipped(path: string): boolean {
    return this.#skipped.has(path);
  }

  /** How many results may be reused: of phases, items, branches, nested phases. */
  get size(): number {
    return this.#byKey.size;
  }

  has(path: string): boolean {
    return this.#byPhase.has(path);
  }

  /** Decided about exactly this text, and no work was released by it yet. */
  decision(path: string, digest: string): DecisionLine | undefined {
    return this.#decisions.find(path, digest);
  }

  /** Asked about exactly this text, with a time to be answered in. */
  asked(path: string, digest: string): AskLine | undefined {
    return this.#decisions.asked(path, digest);
  }

  /**
   * A side effect of this phase (or of this unit of it) was under way when the earlier process ended, and the ledger of
   * side effects here cannot know: it began on another machine, or under an older version.
   */
  inDoubt(path: string, unit: string | undefined, runKey: string): Failure | undefined {
    const begun = this.#underWay.get(doubtKey(path, unit, runKey));
    if (!begun || (begun.effect !== undefined && this.how !== 'checkpoint')) return undefined;
    const what = unit === undefined ? path : `${path} (${unit})`;
    const name = JSON.stringify(typedName(path)).slice(1, -1);
    const own = JSON.stringify(path).slice(1, -1);
    const one = unit === undefined ? own : `"${unitName(own, unit)}"`;
    const run = begun.begunIn ?? this.runId;
    // There may be several such rows or items.
    const all = one === name ? '' : `; --rerun ${name} and --skip ${name} mean all that are in doubt`;
    return {
      code: 'in-doubt',
      message: `${what} is not idempotent and was under way when run ${run} ended: nobody knows whether it took effect`,
      hint: `Find out, then continue with --rerun ${one} (do it again) or --skip ${one} (it is done)${all}.`,
    };
  }

  /** The phase, or some of its items, branches or iterations, is a side effect that has begun or is done. */
  hasActed(path: string): boolean {
    for (const key of this.#byEffect.keys()) if (key.startsWith(`${path}\n`)) return true;
    for (const line of this.#underWay.values()) if (line.phase === path) return true;
    return false;
  }

  /** What a run that continues must carry besides results: side effects in doubt, decisions that nobody has used. */
  openLines(): readonly JournalLine[] {
    const inDoubt = [...this.#underWay.values()].map((line) => ({ ...line, begunIn: line.begunIn ?? this.runId }));
    return [...inDoubt, ...this.#decisions.unused()];
  }

  /** What changed around the flow since a run ended, in words; remembered. */
  changed(since: string, around: Around = 'everything'): string | undefined {
    const name = `${around} ${since}`;
    if (!this.#changed.has(name)) this.#changed.set(name, this.source.changedSince?.(since, around));
    return this.#changed.get(name);
  }

  /** Forgets what was looked up: a person had time to change something. */
  lookAgain(): void {
    this.#changed.clear();
  }

  /** What was done, or attempted and failed by itself, is settled; what was cancelled before that is not. */
  #settle(line: { phase: string; unit?: string; runKey?: string } & Parameters<typeof hasSettled>[0]): void {
    if (hasSettled(line)) this.#underWay.delete(doubtKey(line.phase, line.unit, line.runKey));
  }

  #read(place: LinePlace | undefined): ResultLine | undefined {
    const { journal } = this.source;
    const line = place && (typeof journal === 'string' ? readLineAt(journal, place) : journal(place));
    return line && (line.type === 'unit' || line.type === 'phase') ? line : undefined;
  }
}

function effectKey({ phase, effect }: { phase: string; effect?: { readonly unit?: string } }): string {
  return `${phase}\n${effect?.unit ?? ''}`;
}

/** A phase by its place; a unit by what it is, since items move. */
function doubtKey(path: string, unit: string | undefined, runKey: string | undefined): string {
  return unit === undefined ? path : `${path} ${runKey ?? unit}`;
}

/** As a person types it: rows of a batch share their phases' names. */
function typedName(path: string): string {
  return path.replace(/^rows\/[^/]+\//, '');
}
