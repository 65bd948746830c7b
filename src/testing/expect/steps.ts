import type { RunEvent } from '../../model/event.js';
import type { CacheHit, ShownOutcome } from '../../model/outcome.js';
import type { MadeUnit } from '../../run/core/made-phase.js';
import { unitName } from '../../run/core/selectors.js';
import { itemName } from '../../run/kinds/unit-title.js';
import { oneLine } from '../../util/terminal-text.js';

/** Something that was executed or reused: a phase, or an item of one. */
export interface Step {
  /** `notes`, `notes[src/b.ts]`, `review/check`. */
  readonly name: string;
  /** Other names for it: `notes[2]`. */
  readonly also: readonly string[];
  /** In a batch: the name of its row. */
  readonly row?: string;
  readonly was: 'executed' | 'reused';
}

interface Unit extends Pick<Step, 'name' | 'also' | 'was'> {}

/** Collects what a run or a batch executed and reused. */
export class StepLog {
  readonly #phases = new Map<string, Step['was'] | undefined>();
  readonly #units = new Map<string, Map<string, Unit>>();
  readonly #rows = new Map<string, string>();
  /** By path, the last outcome of each phase: also those of nested flows. */
  readonly outcomes = new Map<string, ShownOutcome>();

  readonly onEvent = (event: RunEvent): void => {
    if (event.type === 'row-start') this.#rows.set(event.path, event.label);
    if (event.type !== 'phase-end') return;
    this.outcomes.set(event.phase, event.outcome);
    const { cacheHit, attempts, noWork } = event.outcome;
    // A gate may send a phase back: one execution makes it `executed`.
    if (this.#phases.get(event.phase) !== 'executed')
      this.#phases.set(event.phase, wasOf(cacheHit, { attempts, noWork }));
  };

  readonly onUnit = ({ path, label, item, settled }: MadeUnit): void => {
    const was = wasOf(settled.origin.hit, settled);
    if (was === undefined) return;
    const numbered = unitName(path, label);
    const name = item === undefined ? numbered : `${path}[${oneLine(itemName(item))}]`;
    const units = this.#units.get(path) ?? new Map<string, Unit>();
    this.#units.set(path, units);
    if (units.get(label)?.was !== 'executed')
      units.set(label, { name, also: name === numbered ? [] : [numbered], was });
  };

  /** The smallest parts: a phase with items is its items, a nested flow its phases. */
  steps(): readonly Step[] {
    const paths = [...this.#phases.keys()];
    return paths.flatMap((path): readonly Step[] => {
      const units = [...(this.#units.get(path)?.values() ?? [])];
      if (units.length > 0) return units.map((unit) => this.#step(unit));
      const was = this.#phases.get(path);
      // Phases in the items of a map have paths that a test cannot name; their items represent them.
      if (was === undefined || path.includes('[') || paths.some((other) => other.startsWith(`${path}/`))) return [];
      return [this.#step({ name: path, also: [], was })];
    });
  }

  #step({ name, also, was }: Unit): Step {
    const [, path] = /^(rows\/[^/]+)\//.exec(name) ?? [];
    const row = path === undefined ? undefined : this.#rows.get(path);
    if (row === undefined) return { name, also, was };
    const inRow = (each: string) => each.slice(path!.length + 1);
    return { name: inRow(name), also: also.map(inRow), row, was };
  }
}

function wasOf(
  hit: CacheHit | null,
  { attempts, noWork }: Pick<ShownOutcome, 'attempts' | 'noWork'>,
): Step['was'] | undefined {
  if (hit !== null) return 'reused';
  return attempts > 0 && !noWork ? 'executed' : undefined;
}
