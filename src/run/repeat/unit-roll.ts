import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { MapPhase } from '../../model/flow.js';
import type { Output } from '../../model/outcome.js';
import { entryPath } from '../../store/paths.js';
import { canonicalEncode } from '../../util/canonical.js';
import { checksum } from '../../util/checksum.js';
import { writeDerivedFile } from '../../util/derived-cache.js';
import { shortPath } from '../../util/project.js';
import { lstatIfThere } from '../../util/stat.js';
import { once, twice } from '../../util/twice.js';
import { VERSION } from '../../util/version.js';
import type { Settled } from '../execution.js';
import { costInFull, reusedFigures, reusedLine, type WrittenCost } from '../journal/reused-line.js';
import type { PhaseContext } from '../phase-context.js';
import { fromEntry } from '../settle.js';
import type { UnitSpec } from '../unit.js';
import { LARGEST, SHEETS } from './sheet.js';
import { type EntryFigures, entryStands } from './standing.js';

/** Raised when a roll looks different or means something else. */
const FORMAT = 2;
const KEPT_ROLLS = 64;
/** Fewer are looked up one by one as quickly. */
const FEWEST = 50;
const MOST = 20_000;
/** The roll is written again when this share of the items is not in it; the others are simply looked up. */
const WORTH_WRITING = 0.02;

const NO_FILES: readonly [] = [];

type LabelledSpec = UnitSpec & { readonly label: string };

/**
 * What is known of an item's result besides its output, which stands beside it as JSON text. Its last fields are what the
 * journal says of it each time: see `reusedFigures`.
 */
interface UnitRecord extends EntryFigures {
  readonly cost: WrittenCost;
  readonly model?: string;
  readonly facts?: Settled['facts'];
}

/**
 * The items of a map as the last run found them in the store. What decides an item's key is the phase as it is written,
 * the item, the arguments, and what is the same for all items (fingerprints, the agent, the phases above). So if the phase
 * is written as it was, and one item that is looked up has the key that it had, each other item has the key that it had,
 * until something is executed, and its entry need not be read again: that the file is the same is enough. Taken at its word, like a sheet, and kept
 * where the sheets are.
 */
export class UnitRoll {
  /** Of each item its record and its output, as they are written. */
  readonly #records: string[] = [];
  readonly #outputs: string[] = [];
  /** By name, which of them are an item's. */
  readonly #known = new Map<string, number>();
  /** All of them read at once, when the first is asked for: a thousand texts one by one take twice as long. */
  #read: { readonly records: readonly UnitRecord[]; readonly outputs: readonly Output[] } | undefined;
  /** When the roll was last found to hold, as `touches` count it: what is executed meanwhile may change what items are. */
  #heldAt: number | undefined;
  /** Lines of the next roll; undefined when there will be none. */
  #next: string[] | undefined;
  #length = 0;
  #units = 0;
  #taken = 0;

  private constructor(
    private readonly at: PhaseContext<MapPhase>,
    private readonly store: string,
    private readonly path: string,
    /** What the roll is of, and how that was written. */
    head: string,
  ) {
    this.#next = [head];
    this.#open(head);
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

  /** The result of an item that stands, told and written down; undefined when it has to be looked up. */
  take(spec: LabelledSpec): Settled | undefined {
    const name = nameOf(spec);
    const { run, policy, path, phase } = this.at;
    const found = this.#heldAt === run.fingerprints.touches ? this.#known.get(name) : undefined;
    if (found === undefined) return undefined;
    const now = run.options.project.clock.now();
    this.#read ??= { records: readAll(this.#records), outputs: readAll(this.#outputs) };
    const record = this.#read.records[found]!;
    if (!entryStands(this.store, record, now, policy.ttlMs)) return undefined;
    const { key, madeAt, model, facts } = record;
    const { usage, durationMs } = costInFull(record.cost);
    const written = this.#records[found]!;
    const output = this.#outputs[found]!;
    const entry = {
      output: this.#read.outputs[found]!,
      files: NO_FILES,
      model,
      facts,
      usage,
      durationMs,
      createdAt: madeAt,
    };
    const settled = fromEntry(entry, { key, runKey: key }, now);
    const line = reusedLine({
      at: now,
      phase: path,
      kind: phase.kind,
      unit: spec.label,
      reason: settled.reason,
      key,
      runKey: key,
      hit: 'cross-run',
      madeAt,
      output,
      figures: written.slice(written.indexOf('"cost":'), -1),
    });
    run.ledger.save(settled.saved!);
    run.shared.finish(key, settled, run.journal.writeText(line));
    this.#add(name, written, output);
    this.#taken += 1;
    return settled;
  }

  /** An item that was looked up, since `touches`, or executed: if the roll has it, it tells whether the roll holds. */
  note(spec: LabelledSpec, settled: Settled, touches: number): void {
    const name = nameOf(spec);
    const found = this.#heldAt === touches ? undefined : this.#known.get(name);
    if (found !== undefined && !this.#records[found]!.startsWith(`{"key":"${settled.key}"`)) this.#known.clear();
    else if (found !== undefined) this.#heldAt = touches;
    if (!this.#next) return;
    const record = this.#recordOf(settled);
    if (!record) {
      this.#next = undefined;
      return;
    }
    this.#add(name, record, JSON.stringify(settled.output));
  }

  /** When all items are done. */
  keep(): void {
    const fresh = this.#units - this.#taken;
    if (!this.#next || fresh < this.#units * WORTH_WRITING) return;
    const whole = twice(Buffer.from(this.#next.join('\n')));
    const names = { names: /^[0-9a-f]{8}\.roll$/, kept: KEPT_ROLLS };
    writeDerivedFile(dirname(this.path), basename(this.path), whole, names);
  }

  #add(name: string, record: string, output: string): void {
    this.#units += 1;
    this.#length += record.length + output.length;
    if (this.#length > LARGEST) this.#next = undefined;
    this.#next?.push(name, record, output);
  }

  /** After the head, three lines for each item: its name, its record and its output. */
  #open(head: string): void {
    let text: string;
    try {
      text = once(readFileSync(this.path))?.toString('utf8') ?? '';
    } catch {
      // None was kept.
      return;
    }
    if (!text.startsWith(`${head}\n`)) return;
    const lines = text.split('\n');
    for (let i = 1; i + 2 < lines.length; i += 3) {
      this.#known.set(lines[i]!, this.#records.length);
      this.#records.push(lines[i + 1]!);
      this.#outputs.push(lines[i + 2]!);
    }
  }

  /** Undefined for a result that is not in the store, or not only there. */
  #recordOf(settled: Settled): string | undefined {
    const { key, runKey, hit, kept, status, madeAt } = settled;
    const isStored = hit === 'cross-run' || (hit === null && kept === true);
    if (status !== 'done' || !isStored || settled.files.length > 0) return undefined;
    if (key === undefined || key !== runKey) return undefined;
    const stat = lstatIfThere(entryPath(this.store, key));
    if (!stat) return undefined;
    const figures: EntryFigures = {
      key,
      madeAt,
      usedAt: stat.mtimeMs,
      entry: [stat.ino, stat.size, stat.ctimeMs],
    };
    return `${JSON.stringify(figures).slice(0, -1)},${reusedFigures(settled)}}`;
  }
}

function readAll<T>(texts: readonly string[]): readonly T[] {
  return JSON.parse(`[${texts.join(',')}]`) as T[];
}

/** The item, and which of several equal ones it is. */
function nameOf({ variables, ordinal = 0 }: UnitSpec): string {
  const value = variables?.item?.value ?? null;
  return `${ordinal} ${typeof value === 'string' ? JSON.stringify(value) : canonicalEncode(value)}`;
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
