import type { HolderIdentity } from '../../process/process-identity.js';

/** Which side effect: of one flow with these arguments, at this place. */
export interface EffectName {
  /** Digest of the arguments of the run, or of the row of a batch. */
  readonly args: string;
  /** Path of the phase; without the row. */
  readonly phase: string;
  /** An item by its value, a branch by its id: a new order makes no other item. */
  readonly unit?: string;
}

/** A run wants to start it, or a person marks it as done. Granted only if no other run holds it: see `EffectStates`. */
interface TakenLine extends EffectName {
  /** `kept`: a person says that it is done. */
  readonly type: 'start' | 'kept';
  /** No other line has it. */
  readonly id: string;
  /** A person's word: this replaces the start with that id, and no other. */
  readonly over?: string;
  readonly at: number;
  readonly run: string;
  readonly flow: string;
  readonly owner: HolderIdentity;
}

/** How a start ended. Without such a line it is in doubt. */
interface SettledLine {
  readonly type: 'done' | 'failed';
  readonly id: string;
}

/** The run that these belong to has succeeded: the next run may do them again. */
interface ClosedLine {
  readonly type: 'closed';
  readonly ids: readonly string[];
}

/** Nothing after this line counts: whatever is still held goes on in the next file. */
interface SealedLine {
  readonly type: 'sealed';
}

export type EffectLine = TakenLine | SettledLine | ClosedLine | SealedLine;

/** A side effect that has started and not settled (`open`), or that is done in a run that has not succeeded. */
export interface Held extends TakenLine {
  readonly state: 'open' | 'done';
}

/**
 * What a ledger says, line by line. The lines have one order, so all readers agree: of two processes that want to start
 * the same side effect, the first line is granted and the other one does not count.
 */
export class EffectStates {
  readonly #held = new Map<string, Held>();
  readonly #names = new Map<string, string>();
  #sealed = false;

  apply(line: EffectLine): void {
    if (this.#sealed) return;
    switch (line.type) {
      case 'start':
      case 'kept':
        this.#take(line);
        break;
      case 'done':
        this.#change(line.id, (held) => ({ ...held, state: 'done' }));
        break;
      case 'failed':
        this.#change(line.id, () => undefined);
        break;
      case 'closed':
        for (const id of line.ids) this.#change(id, (held) => (held.state === 'done' ? undefined : held));
        break;
      case 'sealed':
        this.#sealed = true;
        break;
    }
  }

  get(name: EffectName): Held | undefined {
    return this.#held.get(nameText(name));
  }

  all(): Iterable<Held> {
    return this.#held.values();
  }

  get size(): number {
    return this.#held.size;
  }

  get sealed(): boolean {
    return this.#sealed;
  }

  #take(line: TakenLine): void {
    const name = nameText(line);
    const before = this.#held.get(name);
    if (before && before.id !== line.over) return;
    if (before) this.#names.delete(before.id);
    this.#held.set(name, { ...line, state: line.type === 'kept' ? 'done' : 'open' });
    this.#names.set(line.id, name);
  }

  #change(id: string, to: (held: Held) => Held | undefined): void {
    const name = this.#names.get(id);
    const held = name === undefined ? undefined : this.#held.get(name);
    if (name === undefined || !held) return;
    const changed = to(held);
    if (changed) this.#held.set(name, changed);
    else {
      this.#held.delete(name);
      this.#names.delete(id);
    }
  }
}

/** Phases and units may hold any character but this one. */
export function nameText({ args, phase, unit }: EffectName): string {
  return `${args}\n${phase}\n${unit ?? ''}`;
}
