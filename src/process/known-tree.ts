import {
  hasAnotherMark,
  hasProcessTable,
  type ProcessRow,
  readProcessTable,
  startedWith,
  untilNextLook,
} from './process-table.js';
import { answersSignals, sendSignal } from './send-signal.js';

export interface Tree {
  /** The leader of a session and a group of its own, whose ids stay reserved while they have members. */
  readonly root: number;
  /** `NAME=value` that the whole tree was started with: finds even those who left the session and lost their parent. */
  readonly mark?: string;
  /** Start ticks of the root: older processes cannot be among them, and their environments need not be read. */
  readonly since?: number | undefined;
}

/**
 * The members of a process tree, found by session, parent and mark. They are remembered, because a dead parent's
 * children no longer lead back to it.
 */
export class KnownTree {
  readonly root: number;
  readonly #mark: string | undefined;
  readonly #since: number;
  /** Start ticks by process id, of every process that was ever in the tree. */
  readonly #startTicks = new Map<number, number>();
  /** Sessions that a member founded. */
  readonly #sessions: Set<number>;

  constructor(tree: Tree) {
    this.root = tree.root;
    this.#mark = tree.mark;
    this.#since = tree.since ?? 0;
    this.#sessions = new Set([tree.root]);
  }

  /** The members that are alive now, by a new look at the process table. Calls at about the same time share it. */
  async refresh(): Promise<ProcessRow[]> {
    await untilNextLook();
    return this.refreshNow();
  }

  refreshNow(): ProcessRow[] {
    const rows = readProcessTable((row) => this.#isElsewhere(row));
    const members = new Map<number, ProcessRow>();
    for (const row of rows) if (this.#isKnown(row)) this.#add(row, members);
    for (let before = -1; before !== members.size; ) {
      before = members.size;
      for (const row of rows) {
        if (members.has(row.pid)) continue;
        if (members.has(row.parent) || this.#sessions.has(row.session)) this.#add(row, members);
      }
    }
    return [...members.values()].filter((row) => !row.zombie);
  }

  /** Without a process table, the group is the only sign of life. */
  groupAnswersWithoutTable(): boolean {
    return !hasProcessTable() && answersSignals(-this.root);
  }

  /** The group first: one call reaches all its members, those started since the last look included. */
  signal(members: readonly ProcessRow[], signal: NodeJS.Signals): void {
    sendSignal(-this.root, signal);
    for (const { pid, group } of members) if (group !== this.root) sendSignal(pid, signal);
  }

  /** A process never changes its tree, so one with another mark, or older than the root, need not be read again. */
  #isElsewhere(row: ProcessRow): boolean {
    return row.startTicks < this.#since || (this.#mark !== undefined && hasAnotherMark(row, this.#mark));
  }

  #isKnown(row: ProcessRow): boolean {
    return (
      row.pid === this.root ||
      this.#sessions.has(row.session) ||
      this.#startTicks.get(row.pid) === row.startTicks ||
      (this.#mark !== undefined && row.startTicks >= this.#since && startedWith(row, this.#mark))
    );
  }

  #add(row: ProcessRow, members: Map<number, ProcessRow>): void {
    if (row.pid === process.pid) return;
    members.set(row.pid, row);
    this.#startTicks.set(row.pid, row.startTicks);
    if (row.session === row.pid) this.#sessions.add(row.session);
  }
}
