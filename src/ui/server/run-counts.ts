import type { JournalLine } from '../../run/journal/lines.js';
import { readLines } from '../../run/journal/reader.js';
import { statIfThere } from '../../util/stat.js';

/** Null where the journal is too long to be counted for a list. */
export interface RunCounts {
  readonly executed: number | null;
  readonly reused: number | null;
  /** Approvals that are not decided. */
  readonly waiting: number;
}

/** The limit is lower for a running journal, which is counted again and again. */
const MOST_BYTES = { ended: 16 * 1024 ** 2, running: 256 * 1024 };

/** How many phases (of a batch: of all rows) a run executed and reused. */
export function countRun(journal: string, isRunning: boolean): RunCounts {
  const most = isRunning ? MOST_BYTES.running : MOST_BYTES.ended;
  if ((statIfThere(journal)?.size ?? 0) > most) return { executed: null, reused: null, waiting: 0 };
  const count = new Count();
  for (const { line } of readLines(journal)) count.add(line);
  return count.result();
}

class Count {
  readonly #undecided = new Map<string, string>();
  #carrying = false;
  #executed = 0;
  #reused = 0;

  add(line: JournalLine): void {
    if (line.type === 'carried-begin') this.#carrying = true;
    if (line.type === 'carried-end') this.#carrying = false;
    if (line.type === 'ask') this.#undecided.set(line.phase, line.digest);
    if (line.type === 'decision' && this.#undecided.get(line.phase) === line.digest) this.#undecided.delete(line.phase);
    if (this.#carrying) return;
    if (line.type === 'row') {
      this.#executed += line.reuse.executed;
      this.#reused += line.reuse.run + line.reuse.crossRun;
    } else if (line.type === 'phase' && line.status !== 'paused') {
      this.#undecided.delete(line.phase);
      // Phases inside of another phase or a row are part of it.
      if (line.phase.includes('/')) return;
      if (line.hit !== null) this.#reused += 1;
      else if (line.attempts > 0) this.#executed += 1;
    }
  }

  result(): RunCounts {
    return { executed: this.#executed, reused: this.#reused, waiting: this.#undecided.size };
  }
}
