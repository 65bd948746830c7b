import type { JournalLine, ResultLine, RunLine } from '../journal/lines.js';

/** Since when a carried result counts as valid or outdated, for the run that carried it. */
export type Validity = Pick<ResultLine, 'validIn' | 'outdatedBy'>;

/**
 * What a run did with the results that it carried from the one before: used them, did not get to them, or executed
 * something in their place or above them. What it did not use is only as good as it was in the run that used it last.
 */
export class Survey {
  readonly #used = new Set<string>();
  readonly #executed = new Set<string>();
  /** By row. */
  readonly #executedPhases = new Map<string, Set<string>>();
  readonly #outdatedPhases = new Map<string, ReadonlyMap<string, string>>();
  readonly #executedScopes = new Set<string>();
  #phases: RunLine['phases'] = [];
  #below: ReadonlyMap<string, readonly string[]> | undefined;

  constructor(lines: Iterable<JournalLine>) {
    let isCarried = false;
    for (const line of lines) {
      if (line.type === 'run') this.#phases = line.phases;
      else if (line.type === 'carried-begin') isCarried = true;
      else if (line.type === 'carried-end') isCarried = false;
      else if (isCarried) continue;
      else if (line.type === 'start') this.#noteStart(line.phase, line.unit);
      else if ((line.type === 'unit' || line.type === 'phase') && line.status === 'done')
        this.#used.add(carriedName(line));
    }
  }

  /** Of a result that was carried from this run. */
  validityOf(line: ResultLine, from: string): Validity {
    if (this.#used.has(carriedName(line))) return { validIn: undefined, outdatedBy: undefined };
    return { validIn: line.validIn ?? from, outdatedBy: line.outdatedBy ?? this.#executedBefore(line) };
  }

  #noteStart(phase: string, unit: string | undefined): void {
    const { row, top, scope } = placeOf(phase);
    this.#executed.add(`${phase}\n${unit ?? ''}`);
    const phases = this.#executedPhases.get(row);
    if (phases) phases.add(top);
    else this.#executedPhases.set(row, new Set([top]));
    if (scope !== undefined) this.#executedScopes.add(scope);
  }

  /** How a nested flow is built is not in the journal: there, everything beside it counts as before it. */
  #executedBefore({ phase, unit }: ResultLine): string | undefined {
    const { row, top, scope } = placeOf(phase);
    if (this.#executed.has(`${phase}\n${unit ?? ''}`)) return phase;
    if (scope !== undefined && this.#executedScopes.has(scope)) return scope;
    return this.#outdated(row).get(top);
  }

  /** Phases below one that executed, with that one. A list of work, since a chain may be ten thousand long. */
  #outdated(row: string): ReadonlyMap<string, string> {
    const known = this.#outdatedPhases.get(row);
    if (known) return known;
    const below = new Map<string, string>();
    const open = [...(this.#executedPhases.get(row) ?? [])].map((id) => ({ id, by: id }));
    for (let current = open.pop(); current; current = open.pop()) {
      for (const id of this.#dependents().get(current.id) ?? []) {
        if (below.has(id)) continue;
        below.set(id, current.by);
        open.push({ id, by: current.by });
      }
    }
    this.#outdatedPhases.set(row, below);
    return below;
  }

  #dependents(): ReadonlyMap<string, readonly string[]> {
    if (this.#below) return this.#below;
    const below = new Map<string, string[]>();
    for (const { id, needs } of this.#phases) {
      for (const need of needs) {
        const list = below.get(need);
        if (list) list.push(id);
        else below.set(need, [id]);
      }
    }
    this.#below = below;
    return below;
  }
}

/** A result by what it is: items move. */
export function carriedName({ phase, unit, runKey, key }: ResultLine): string {
  return `${phase}\n${unit ?? ''}\n${runKey ?? key ?? ''}`;
}

function placeOf(path: string): { readonly row: string; readonly top: string; readonly scope: string | undefined } {
  const row = /^rows\/[^/]+\//.exec(path)?.[0] ?? '';
  const rest = path.slice(row.length);
  const [top = ''] = rest.split('/');
  const scope = rest.includes('/') ? path.slice(0, path.lastIndexOf('/')) : undefined;
  return { row, top: top.replace(/\[.*$/s, ''), scope };
}
