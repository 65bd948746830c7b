import { countsOf, type ListedFolder, type Observation, type ObservedCounts } from '../../model/observation.js';
import type { Settled } from './execution.js';

type Looked = Pick<Settled, 'observed'> & { readonly result: Pick<Settled['result'], 'seen' | 'files'> };

/** What a result was made from: as it was observed now, or when the reused result was made. */
export function observedOf({ observed, result: { seen, files } }: Looked): Observation | undefined {
  if (observed || !seen) return observed;
  const { marks: _marks, ...set } = seen.set;
  const incomplete = set.complete ? {} : { incomplete: 'a part of it was not seen whole' };
  const writes = files.map(({ path }) => path);
  return { source: 'system', ...set, ...incomplete, writes };
}

/** How much an execution of this run looked at. */
export function lookedOf({ origin, observed, result }: Settled): ObservedCounts | undefined {
  return origin.hit === null && observed ? countsOf(observed, result.seen?.set) : undefined;
}

/** What several parts looked at, in the order in which they ended. What one part made is no input of a later one. */
export class ObservationUnion {
  readonly #reads = new Set<string>();
  readonly #absent = new Set<string>();
  readonly #present = new Set<string>();
  readonly #writes = new Set<string>();
  readonly #lists = new Map<string, Set<string>>();
  #source: Observation['source'] = 'system';
  #incomplete: string | undefined;
  #trouble: Observation['trouble'];
  #isAny = false;

  /** Undefined: nobody looked at this part. */
  add(observed: Observation | undefined): void {
    if (!observed) {
      this.#incomplete ??= 'a part of it was not observed';
      return;
    }
    this.#isAny = true;
    if (observed.source === 'client') this.#source = 'client';
    this.#trouble ??= observed.trouble;
    if (!observed.complete) this.#incomplete ??= observed.incomplete ?? 'a part of it was not seen whole';
    const isForeign = (path: string) => !this.#writes.has(path);
    for (const path of observed.reads.filter(isForeign)) this.#reads.add(path);
    for (const path of observed.absent.filter(isForeign)) this.#absent.add(path);
    for (const path of (observed.present ?? []).filter(isForeign)) this.#present.add(path);
    for (const folder of observed.lists) this.#list(folder);
    for (const path of observed.writes) this.#writes.add(path);
  }

  get whole(): Observation | undefined {
    if (!this.#isAny) return undefined;
    const complete = this.#incomplete === undefined;
    return {
      source: this.#source,
      complete,
      ...(complete ? {} : { incomplete: this.#incomplete }),
      ...(this.#trouble && { trouble: this.#trouble }),
      reads: sorted(this.#reads),
      lists: sorted(this.#lists.keys()).map((path) => ({ path, own: sorted(this.#lists.get(path)!) })),
      absent: sorted(this.#absent),
      present: sorted(this.#present),
      writes: sorted(this.#writes),
    };
  }

  /** Names that earlier parts made are the whole's own. */
  #list({ path, own }: ListedFolder): void {
    const names = this.#lists.get(path) ?? new Set();
    this.#lists.set(path, names);
    for (const name of own) names.add(name);
    const prefix = path === '.' ? '' : `${path}/`;
    for (const written of this.#writes) {
      if (!written.startsWith(prefix)) continue;
      const [name] = written.slice(prefix.length).split('/');
      if (name !== undefined && !this.#reads.has(written)) names.add(name);
    }
  }
}

export function unionOf(parts: Iterable<Observation | undefined>): Observation | undefined {
  const union = new ObservationUnion();
  for (const part of parts) union.add(part);
  return union.whole;
}

function sorted(paths: Iterable<string>): string[] {
  return [...paths].sort();
}
