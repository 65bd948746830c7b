import type { Failure } from '../model/failure.js';
import type { DecisionLine, JournalLine, ResultLine } from './journal/lines.js';
import { type PlacedLine, readLineAt } from './journal/reader.js';
import type { LinePlace } from './journal/writer.js';

export type PriorHow = 'none' | 'auto' | 'resume' | 'checkpoint';

/**
 * What the run that is continued has left: results by run key and by phase, decisions, and side effects whose end nobody
 * saw. Only places are kept in memory; a result is read when it is asked for.
 */
export class PriorResults {
  readonly #byKey = new Map<string, LinePlace>();
  readonly #byPhase = new Map<string, LinePlace>();
  readonly #decisions = new Map<string, DecisionLine>();
  readonly #underWay = new Map<string, { readonly path: string; readonly at: number }>();
  #projectChanged: boolean | undefined;

  constructor(
    readonly how: PriorHow,
    readonly runId: string | undefined,
    private readonly journalPath: string,
    private readonly changedSince: () => boolean = () => false,
  ) {}

  /** Takes note of a line; true if a run that continues must carry it. */
  learn({ line, offset, length }: PlacedLine): boolean {
    const place = { offset, length };
    switch (line.type) {
      case 'start':
        if (line.idempotent) return false;
        this.#underWay.set(doubtKey(line.phase, line.unit === undefined ? undefined : line.runKey), {
          path: line.phase,
          at: line.at,
        });
        return true;
      case 'attempt':
        this.#settle(line);
        return false;
      case 'unit':
      case 'phase':
        this.#settle(line);
        if (line.status !== 'done') return line.failure?.code === 'in-doubt';
        if (line.runKey !== undefined) this.#byKey.set(line.runKey, place);
        if (line.type === 'phase') this.#byPhase.set(line.phase, place);
        // A decision serves one run: it has released work now.
        if (line.kind === 'approval') this.#useDecisions(line.phase);
        return true;
      case 'decision':
        this.#decisions.set(decisionKey(line.phase, line.digest), line);
        return true;
      default:
        return false;
    }
  }

  find(runKey: string): ResultLine | undefined {
    return this.#read(this.#byKey.get(runKey));
  }

  /** The last result of a phase whatever it was made from: for partial runs. */
  ofPhase(path: string): ResultLine | undefined {
    return this.#read(this.#byPhase.get(path));
  }

  get completed(): number {
    return this.#byPhase.size;
  }

  has(path: string): boolean {
    return this.#byPhase.has(path);
  }

  decision(path: string, digest: string): DecisionLine | undefined {
    return this.#decisions.get(decisionKey(path, digest));
  }

  /** A side effect of this phase (or of this unit of it) was under way when the earlier process ended. */
  inDoubt(path: string, runKey: string | undefined): Failure | undefined {
    const found = this.#underWay.get(doubtKey(path, runKey));
    if (!found) return undefined;
    const id = path.split('/').at(-1);
    return {
      code: 'in-doubt',
      message: `${path} is not idempotent and was under way when run ${this.runId} ended: nobody knows whether it took effect`,
      hint: `Find out, then continue with --rerun ${id} (do it again) or --skip ${id} (it is done).`,
    };
  }

  /** Files of the project, other than the flow, are newer than the end of the earlier run. Looked up once. */
  projectChanged(): boolean {
    this.#projectChanged ??= this.changedSince();
    return this.#projectChanged;
  }

  #useDecisions(path: string): void {
    for (const [key, decision] of this.#decisions) if (decision.phase === path) this.#decisions.delete(key);
  }

  #settle(line: JournalLine & { phase: string; unit?: string; runKey?: string; failure?: Failure }): void {
    if (line.failure?.code === 'in-doubt' || line.failure?.code === 'interrupted') return;
    this.#underWay.delete(doubtKey(line.phase, line.unit === undefined ? undefined : line.runKey));
  }

  #read(place: LinePlace | undefined): ResultLine | undefined {
    const line = place && readLineAt(this.journalPath, place);
    return line && (line.type === 'unit' || line.type === 'phase') ? line : undefined;
  }
}

function decisionKey(path: string, digest: string): string {
  return `${path} ${digest}`;
}

function doubtKey(path: string, runKey: string | undefined): string {
  return runKey === undefined ? path : `${path} ${runKey}`;
}
