import type { Dependency } from '../../check/dependencies.js';
import type { Config } from '../../model/config.js';
import type { JsonValue } from '../../model/json.js';
import { KINDS, type Kind } from '../../model/kind.js';
import type { Result } from '../../model/outcome.js';
import { pathSetsProblem } from '../../store/path-sets.js';
import { readChecked, removeDerivedFiles, writeChecked } from '../../util/derived-cache.js';
import { sha256Hex } from '../../util/digest.js';
import type { Project } from '../../util/project.js';
import { VERSION } from '../../util/version.js';
import type { RunLine } from '../journal/lines.js';

/** Raised when the format of a snapshot or its meaning changes. */
const FORMAT = 4;
const ENDING = '.snapshot';

/** A whole run that the store answered, with all its inputs. */
export interface Snapshot {
  /** The first line of its journal. */
  readonly run: RunLine;
  /** The phase whose output is the run's. */
  readonly result: string;
  readonly cache: Pick<Config['cache'], 'dir' | 'dirFrom'>;
  /** Digest of the environment, with its salt. */
  readonly environment: { readonly salt: string; readonly digest: string };
  /** The flow, the settings, agents: every file that was read before the run began. */
  readonly files: readonly Dependency[];
  /** In the order in which they settled. */
  readonly phases: readonly SnapshotPhase[];
}

export interface SnapshotPhase {
  readonly id: string;
  readonly kind: Kind;
  readonly result: Result & { readonly key: string };
  readonly ttlMs?: number;
  /** File stats of the entry that the run read. */
  readonly entry: EntryStats;
  /** Declared inputs and other files, as fingerprints with their values. */
  readonly inputs: readonly (readonly [entry: string, value: JsonValue])[];
  /** File stats of the entry with the path sets, where the result was found by what it looked at. */
  readonly paths?: EntryStats;
}

export type EntryStats = readonly [ino: number, size: number, ctimeMs: number];

/** What was typed, as far as it decides what is run. */
export interface Asked {
  readonly flow: string;
  readonly cwd: string;
  readonly words: readonly string[];
}

/** Undefined when there is none, or it is damaged, old, or not one that we wrote. */
export function readSnapshot(project: Project, asked: Asked): Snapshot | undefined {
  const value = readChecked(project, nameOf(project, asked));
  return isSnapshot(value) ? value : undefined;
}

export function writeSnapshot(project: Project, asked: Asked, snapshot: Snapshot): void {
  writeChecked(project, nameOf(project, asked), snapshot);
}

/** Snapshots hold outputs, so clearing results or runs removes them. */
export function forgetSnapshots(project: Project): void {
  removeDerivedFiles(project, ENDING);
}

function nameOf({ root, home }: Project, { flow, cwd, words }: Asked): string {
  return `${sha256Hex(JSON.stringify([FORMAT, VERSION, root, home, flow, cwd, ...words]))}${ENDING}`;
}

type Shape<T> = { readonly [F in keyof T]?: unknown };

function isSnapshot(value: unknown): value is Snapshot {
  const { run, result, cache, environment, files, phases } = (value ?? {}) as Shape<Snapshot>;
  return (
    isObject(run) &&
    typeof (run as Shape<RunLine>).flow === 'string' &&
    typeof (run as Shape<RunLine>).argsDigest === 'string' &&
    isListOf(run['phases'], isObject) &&
    typeof result === 'string' &&
    isObject(cache) &&
    typeof cache['dir'] === 'string' &&
    isObject(environment) &&
    typeof environment['salt'] === 'string' &&
    isListOf(files, (file) => isObject(file) && typeof file['path'] === 'string') &&
    isListOf(phases, isPhase)
  );
}

function isPhase(value: unknown): boolean {
  const { id, kind, result, entry, inputs, paths } = (value ?? {}) as Shape<SnapshotPhase>;
  const { key, madeAt, output, cost, files, seen } = (result ?? {}) as Shape<Result>;
  return (
    typeof id === 'string' &&
    KINDS.includes(kind as Kind) &&
    typeof key === 'string' &&
    typeof madeAt === 'number' &&
    isObject(output) &&
    typeof output['text'] === 'string' &&
    isObject(cost) &&
    isObject(cost['usage']) &&
    typeof cost['durationMs'] === 'number' &&
    Array.isArray(files) &&
    isListOf(entry, (part) => typeof part === 'number') &&
    isListOf(inputs, (input) => Array.isArray(input) && typeof input[0] === 'string') &&
    (seen === undefined || (isSeen(seen) && isListOf(paths, (part) => typeof part === 'number')))
  );
}

function isSeen(value: unknown): boolean {
  if (!isObject(value) || typeof value['value'] !== 'string') return false;
  return pathSetsProblem([value['set'] as JsonValue]) === undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isListOf(value: unknown, isPart: (part: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isPart);
}
