import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Failure } from '../../model/failure.js';
import { slugOf } from '../../run/batch/out/slug.js';
import { removeIfThere, writeFileTidily } from '../../util/atomic-write.js';
import { whyUnwritableAt } from '../../util/why-unwritable.js';
import { callKey, titleOf } from './call.js';
import type { KeptRecording } from './read-recordings.js';
import { type Recording, type RunnerFacts, toRaw } from './recording.js';

/** `replay` calls no agent; `update` only for what is not recorded; `record` for everything anew. */
export type RecordMode = 'replay' | 'update' | 'record';

/** The recordings of one folder while tests use them. */
export class Recordings {
  readonly #atFirst: readonly KeptRecording[];
  readonly #byCall: Map<string, KeptRecording>;
  readonly #used = new Set<string>();
  readonly #made = new Set<string>();

  constructor(
    readonly folder: string,
    kept: readonly KeptRecording[],
    readonly mode: RecordMode,
  ) {
    this.#atFirst = kept;
    this.#byCall = new Map(kept.map((recording) => [callName(recording.key, recording.ordinal), recording]));
  }

  /** The recording of a call; when all is recorded anew, only one that was made just now. */
  use(key: string, ordinal: number): KeptRecording | undefined {
    const name = callName(key, ordinal);
    const found = this.mode === 'record' && !this.#made.has(name) ? undefined : this.#byCall.get(name);
    if (found) this.#used.add(name);
    return found;
  }

  /** Written at once, so that an interrupt loses nothing that was paid for. */
  add(recording: Recording): Failure | undefined {
    const key = callKey(recording.call);
    const name = callName(key, recording.ordinal);
    const file = fileName(recording, key);
    const path = join(this.folder, file);
    const data = `${JSON.stringify(toRaw(recording), null, 2)}\n`;
    const failed = makeFolder(this.folder) ?? failureOf(writeFileTidily(path, data, 0o644));
    if (failed) {
      return { code: 'io', message: `the recording cannot be written: ${whyUnwritableAt(path, failed)}` };
    }
    const before = this.#byCall.get(name);
    if (before && before.file !== file) removeIfThere(join(this.folder, before.file));
    this.#byCall.set(name, { ...recording, file, key });
    this.#used.add(name);
    this.#made.add(name);
    return undefined;
  }

  get all(): readonly KeptRecording[] {
    return [...this.#byCall.values()];
  }

  get made(): number {
    return this.#made.size;
  }

  unused(): readonly KeptRecording[] {
    return [...this.#byCall].flatMap(([name, recording]) => (this.#used.has(name) ? [] : [recording]));
  }

  removeUnused(): readonly KeptRecording[] {
    return this.unused().filter(({ file }) => removeIfThere(join(this.folder, file)));
  }

  /**
   * The facts about a runner from its recordings; those of any runner, where this one has none. The same for all cases,
   * whatever is recorded meanwhile, because they decide whether a result is reused.
   */
  factsOf(runner: string | undefined): RunnerFacts | undefined {
    const known = this.#atFirst;
    return (known.find((recording) => recording.runner.name === runner) ?? known[0])?.runner;
  }
}

function callName(key: string, ordinal: number): string {
  return `${key} ${ordinal}`;
}

/** What the task begins with, and enough of the key to tell equal beginnings apart. */
function fileName({ call, ordinal }: Recording, key: string): string {
  const { slug } = slugOf(titleOf(call));
  return `${slug || 'call'}-${key.slice(0, 8)}${ordinal === 1 ? '' : `-${ordinal}`}.json`;
}

function makeFolder(folder: string): Error | undefined {
  try {
    mkdirSync(folder, { recursive: true });
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

function failureOf(result: ReturnType<typeof writeFileTidily>): Error | undefined {
  return 'failed' in result ? result.failed : undefined;
}
