import type { JsonObject } from '../../model/json.js';
import type { SeenInputs } from '../../model/observation.js';
import type { JournalLine, ResultLine } from '../../run/journal/lines.js';
import { readLineAt, resultName } from '../../run/journal/reader.js';
import type { LinePlace } from '../../run/journal/writer.js';
import type { StoreOptions } from '../../store/options.js';
import { showEntry } from '../../store/show-entry.js';

/** The stored identity of a result, in which secrets are sealed; or why it is not known. */
type MadeFrom = StoredInputs | { readonly unknown: string };

export interface StoredInputs {
  readonly identity: JsonObject;
  /** Undeclared paths that its execution looked at. */
  readonly seen?: SeenInputs;
  /** Key of the entry that holds the identity. Absent: the journal holds it. */
  readonly key?: string;
}

/** Where results are kept, or why that is not known. */
export type KeptIn = Pick<StoreOptions, 'dir' | 'signingKey'> | { readonly problem: string };

interface Made {
  readonly key: string;
  readonly line: LinePlace;
  /** The line of its execution, if that holds the identity. */
  readonly execution?: LinePlace;
}

/** Finds what the results of one run were made from: in its journal, or in the entries of the store. */
export class MadeFromIndex {
  readonly #journal: string;
  readonly #byName = new Map<string, Made>();
  /** A carried-over result has its identity in the line of its execution. */
  readonly #places = new Map<string, LinePlace>();

  constructor(journal: string) {
    this.#journal = journal;
  }

  add(line: JournalLine, place: LinePlace, isCarried: boolean): void {
    if (line.type !== 'phase' && line.type !== 'unit') return;
    const { key, execution = '' } = line;
    if (line.identity) this.#places.set(execution, place);
    if (isCarried || key === undefined) return;
    const made = { key, line: place, execution: line.identity ? place : this.#places.get(execution) };
    this.#byName.set(resultName(line.phase, line.unit), made);
  }

  /** Undefined: it has no identity, because the phase was not started. */
  find(name: string, kept: KeptIn): MadeFrom | undefined {
    const made = this.#byName.get(name);
    if (!made) return undefined;
    const identity = made.execution && this.#resultAt(made.execution)?.identity;
    const found = identity ? { identity } : inStore(kept, made.key);
    const seen = 'unknown' in found ? undefined : this.#resultAt(made.line)?.seen;
    return seen ? { ...found, seen } : found;
  }

  #resultAt(place: LinePlace): ResultLine | undefined {
    const line = readLineAt(this.#journal, place);
    return line?.type === 'phase' || line?.type === 'unit' ? line : undefined;
  }
}

function inStore(kept: KeptIn, key: string): MadeFrom {
  if ('problem' in kept) return { unknown: `the cache cannot be read: ${kept.problem}` };
  const shown = showEntry(kept, key);
  if ('entry' in shown) return { identity: shown.entry.identity, key };
  if ('problem' in shown) return { unknown: `its entry in the cache cannot be used: ${shown.problem}` };
  return { unknown: 'its entry is not in the cache any more' };
}
