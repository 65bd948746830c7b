import { basename, dirname, join, resolve } from 'node:path';
import type { MapPhase } from '../../model/flow.js';
import type { JsonValue } from '../../model/json.js';
import { NO_SAVINGS } from '../../model/outcome.js';
import { canonicalEncode } from '../../util/canonical.js';
import { checksum } from '../../util/checksum.js';
import { writeDerivedFile } from '../../util/derived-cache.js';
import { shortPath } from '../../util/project.js';
import { VERSION } from '../../util/version.js';
import { addToSavings } from '../budget.js';
import type { Settled } from '../execution.js';
import type { PhaseContext } from '../phase-context.js';
import type { UnitSpec } from '../unit.js';
import {
  type EntryFigures,
  entryFigures,
  type KeptRow,
  type KeptRows,
  newRow,
  outputLength,
  RowsFile,
  RowsWriter,
  sparse,
} from './kept-rows.js';
import { LARGEST, SHEETS } from './sheet.js';
import { TakenUnit, type UnitColumns } from './taken-unit.js';

/** Raised when a roll looks different or means something else. */
const FORMAT = 5;
const KEPT_ROLLS = 64;
/** Fewer are looked up one by one as quickly. */
const FEWEST = 50;
const MOST = 20_000;
/** The roll is written again when this share of the items is not in it; the others are simply looked up. */
const WORTH_WRITING = 0.02;

type LabelledSpec = UnitSpec & { readonly label: string };

/** Beside the columns of the rows. */
interface RollColumns extends UnitColumns {
  /** See `nameOf`. */
  readonly name: readonly string[];
  /** What each is called in the journal. */
  readonly unit: readonly string[];
}

/** An item as it is kept. */
interface RollItem {
  readonly name: string;
  readonly unit: string;
  readonly facts: JsonValue | undefined;
  readonly row: KeptRow;
}

/**
 * The items of a map as the last run found them in the store. What decides an item's key is the phase as it is written,
 * the item, the arguments, and what is the same for all items (fingerprints, the agent, the phases above). So if the phase
 * is written as it was, and one item that is looked up has the key that it had, each other item has the key that it had,
 * until something is executed, and its entry need not be read again: that the file is the same is enough. Taken at its word, like a sheet, and kept
 * where the sheets are.
 */
export class UnitRoll {
  /** Undefined when there is none. */
  #rows: KeptRows<RollColumns> | undefined;
  /** Rows by the names of their items: of use once one is not where it was. */
  #byName: ReadonlyMap<string, number> | undefined;
  #holdsNot = false;
  /** When the roll was last found to hold, as `touches` count it: what is executed meanwhile may change what items are. */
  #heldAt: number | undefined;
  /** The next roll: items that are new, and numbers of those that stand in this one. Undefined when there will be none. */
  #next: (RollItem | number)[] | undefined = [];
  #length = 0;
  /** What of it is not in the roll that there is. */
  #fresh = 0;

  private constructor(
    private readonly at: PhaseContext<MapPhase>,
    private readonly store: string,
    private readonly path: string,
    /** What the roll is of, and how that was written. */
    private readonly head: string,
  ) {
    this.#open();
  }

  /** Undefined where items are too few to matter, or something else than the phase and the item decides what an item is. */
  static open(at: PhaseContext<MapPhase>, count: number): UnitRoll | undefined {
    if (count < FEWEST || count > MOST || !isPlain(at)) return undefined;
    const { options } = at.run;
    const { project, config, flow, source } = options;
    const store = resolve(project.root, config.cache.dir);
    const of = JSON.stringify([FORMAT, VERSION, project.root, store, flow.file ?? source.ref, at.phase.id]);
    const name = `${checksum(Buffer.from(of)).toString(16).padStart(8, '0')}.roll`;
    return new UnitRoll(at, shortPath(project, store), join(project.root, SHEETS, name), `${of}${definition(at)}`);
  }

  /**
   * Results of items that stand, from this one on, written down; none when this one has to be looked up. Others in this run
   * that ask for the same find it in the store, as this one would have.
   */
  take(specs: readonly LabelledSpec[], from: number): readonly Settled[] {
    const { run, policy } = this.at;
    const rows = this.#heldAt === run.fingerprints.touches ? this.#rows : undefined;
    if (!rows) return [];
    const now = run.options.project.clock.now();
    const taken: TakenUnit[] = [];
    const saved = { ...NO_SAVINGS };
    const lines = new Stretch((first, end) => rows.write(run.journal, now, first, end));
    for (let index = from; index < specs.length; index++) {
      const spec = specs[index]!;
      const name = nameOf(spec);
      const row = this.#find(name, index);
      if (row === undefined || !rows.stands(row, this.store, now, policy.ttlMs)) break;
      const unit = new TakenUnit(rows, row, now);
      taken.push(unit);
      addToSavings(saved, unit.saved);
      if (rows.columns.unit[row] === spec.label) {
        lines.add(row);
        this.#add(index, row, rows.outputLength(row));
        continue;
      }
      // In another place of the list an item is called otherwise.
      lines.end();
      const moved = this.#rowOf(spec.label, unit, rows.row(row));
      const { source, start, end } = moved.line;
      run.journal.writeTaken(now, source, start, end);
      this.#add(index, { name, unit: spec.label, facts: unit.facts, row: moved }, outputLength(moved.line));
    }
    lines.end();
    run.ledger.save(saved);
    return taken;
  }

  /** An item that was looked up, since `touches`, or executed: if the roll has it, it tells whether the roll holds. */
  note(spec: LabelledSpec, index: number, settled: Settled, touches: number): void {
    const name = nameOf(spec);
    const found = this.#heldAt === touches ? undefined : this.#find(name, index);
    if (found !== undefined && this.#rows!.key(found) === settled.key) this.#heldAt = touches;
    else if (found !== undefined) this.#holdsNot = true;
    if (!this.#next) return;
    const figures = isStored(settled) ? entryFigures(this.store, settled.key!) : undefined;
    if (!figures) {
      this.#next = undefined;
      return;
    }
    const row = this.#rowOf(spec.label, settled, figures);
    this.#add(index, { name, unit: spec.label, facts: settled.facts, row }, outputLength(row.line));
  }

  /** When all items are done. */
  keep(): void {
    if (!this.#next || this.#fresh < this.#next.length * WORTH_WRITING) return;
    const next = this.#next;
    const rows = new RowsWriter();
    const name: string[] = [];
    const unit: string[] = [];
    const facts: (JsonValue | undefined)[] = [];
    for (const item of next) {
      if (typeof item === 'number') rows.copy(this.#rows!, item);
      else rows.add(item.row);
      const described = typeof item === 'number' ? this.#described(item) : item;
      name.push(described.name);
      unit.push(described.unit);
      facts.push(described.facts);
    }
    const columns: RollColumns = { name, unit, facts: sparse(facts) };
    const whole = rows.encode([this.head], { columns });
    const names = { names: /^[0-9a-f]{8}\.roll$/, kept: KEPT_ROLLS };
    writeDerivedFile(dirname(this.path), basename(this.path), whole, names);
  }

  #open(): void {
    try {
      const file = RowsFile.read(this.path);
      if (file?.text() !== this.head) return;
      this.#rows = file.rows<RollColumns>();
    } catch {
      // None was kept, or none of ours.
    }
  }

  /** Most items are where they were. */
  #find(name: string, index: number): number | undefined {
    if (!this.#rows || this.#holdsNot) return undefined;
    const names = this.#rows.columns.name;
    if (names[index] === name) return index;
    this.#byName ??= new Map(names.map((known, row) => [known, row]));
    return this.#byName.get(name);
  }

  #described(row: number): Omit<RollItem, 'row'> {
    const { name, unit, facts } = this.#rows!.columns;
    return { name: name[row]!, unit: unit[row]!, facts: facts?.[row] ?? undefined };
  }

  /** At its place in the list, where the next run looks for it first. */
  #add(index: number, item: RollItem | number, bytes: number): void {
    if (typeof item !== 'number') this.#fresh += 1;
    this.#length += bytes;
    if (this.#length > LARGEST) this.#next = undefined;
    if (this.#next) this.#next[index] = item;
  }

  #rowOf(unit: string, settled: Settled, figures: EntryFigures): KeptRow {
    const { path, phase } = this.at;
    const { madeAt, output, cost, model, facts } = settled;
    return newRow(
      { phase: path, kind: phase.kind, unit, key: settled.key!, madeAt, output, cost, model, facts },
      figures,
    );
  }
}

/** Numbers that follow one another, told together. */
class Stretch {
  #first = 0;
  #end = 0;

  constructor(private readonly tell: (first: number, end: number) => void) {}

  add(number: number): void {
    if (number !== this.#end) {
      this.end();
      this.#first = number;
    }
    this.#end = number + 1;
  }

  end(): void {
    if (this.#end > this.#first) this.tell(this.#first, this.#end);
    this.#first = this.#end;
  }
}

/** In the store, and only there. */
function isStored({ key, runKey, hit, kept, status, files }: Settled): boolean {
  const isInStore = hit === 'cross-run' || (hit === null && kept === true);
  return status === 'done' && isInStore && files.length === 0 && key !== undefined && key === runKey;
}

/** The item, and which of several equal ones it is. Only texts begin with a quote. */
function nameOf({ variables, ordinal = 0 }: UnitSpec): string {
  const value = variables?.item?.value ?? null;
  return typeof value === 'string' ? `${ordinal} "${value}` : `${ordinal} ${canonicalEncode(value)}`;
}

/**
 * Only the body's texts may depend on the item, and besides it they may quote only what the roll names: two outputs that
 * change at once could make the same text of one item and another one of the next.
 */
function isPlain({ run, scope, phase, policy, round }: PhaseContext<MapPhase>): boolean {
  const { body, context, outputs, cwd, cache } = phase;
  return (
    scope.path === '' &&
    round === 0 &&
    phase.idempotent &&
    policy.scope === 'cross-run' &&
    policy.readStore &&
    policy.writeStore &&
    run.store !== undefined &&
    run.options.forecast !== true &&
    run.options.config.cache.signingKey === undefined &&
    run.prior.how === 'none' &&
    !run.secrets.any &&
    outputs.length === 0 &&
    cwd === undefined &&
    body.type !== 'use' &&
    !/steps|previous|reflexion/.test(JSON.stringify(body)) &&
    ![...cache.fingerprint, ...context].some((text) => text.includes('{'))
  );
}

/** How the phase is written, but for its list and its place in the file, and what its texts may quote. */
function definition({ scope, phase }: PhaseContext<MapPhase>): string {
  const { over: _over, line: _line, column: _column, needs: _needs, ...rest } = phase;
  const { name, strictInterpolation } = scope.flow;
  return canonicalEncode([name, strictInterpolation, scope.args, rest]);
}
