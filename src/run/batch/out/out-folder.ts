import { closeSync, mkdirSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { writeOwnFile, writeOwnPieces } from '../../../memo/files/written-files.js';
import type { Flow } from '../../../model/flow.js';
import { type Output, StoredOutput, type TextOutput } from '../../../model/output.js';
import { removeAbandoned } from '../../../util/atomic-write.js';
import type { Project } from '../../../util/project.js';
import { statIfThere } from '../../../util/stat.js';
import { whyUnwritable } from '../../../util/why-unwritable.js';
import { chunksOf } from '../../core/output-text.js';
import type { BatchRow } from '../rows/bind-rows.js';
import { fileNames } from './file-names.js';

interface OutOptions {
  readonly project: Project;
  readonly flow: Flow;
  readonly rows: readonly BatchRow[];
  readonly onTrouble: (message: string) => void;
}

/** The folder that `--out` names: one readable file per row. */
export class OutFolder {
  readonly #names: readonly string[];

  private constructor(
    /** Absolute. */
    private readonly folder: string,
    private readonly options: OutOptions,
  ) {
    const { flow, rows } = options;
    const result = flow.phases.find(({ id }) => id === flow.result);
    this.#names = fileNames(rows, result?.output === 'json' ? '.json' : '.md');
  }

  static open(folder: string, options: OutOptions): OutFolder | { readonly problem: string } {
    try {
      mkdirSync(folder, { recursive: true });
    } catch (error) {
      return { problem: `the folder ${folder} cannot be made: ${(error as Error).message}` };
    }
    removeAbandoned(folder, options.project.clock.now());
    return new OutFolder(folder, options);
  }

  /** The name of the row's file, once it holds the output; undefined when it could not be written. */
  write(row: BatchRow, output: Output): string | undefined {
    const name = this.#names[row.row - 1]!;
    const isWritten = output instanceof StoredOutput ? this.#copy(name, output) : this.put(name, bytesOf(output));
    return isWritten ? name : undefined;
  }

  /** Leaves a file alone that is right already, so that its time says when the result last changed. */
  put(name: string, bytes: Buffer): boolean {
    const path = join(this.folder, name);
    if (holds(path, bytes)) return true;
    // A rename replaces whatever is there, also a link that leads elsewhere.
    const { project, onTrouble } = this.options;
    const written = writeOwnFile(project, path, { data: bytes, mode: 0o644, amongMany: true });
    if ('failed' in written) onTrouble(`${path} cannot be written: ${whyUnwritable(written.failed)}`);
    return 'written' in written;
  }

  #copy(name: string, output: StoredOutput): boolean {
    const path = join(this.folder, name);
    const { project, onTrouble } = this.options;
    try {
      if (!consistsOf(path, filePieces(output)))
        writeOwnPieces(project, path, { pieces: filePieces(output), mode: 0o644 });
      return true;
    } catch (error) {
      onTrouble(`${path} cannot be written: ${whyUnwritable(error)}`);
      return false;
    }
  }
}

/** A text ends with a line end, as in any other file of the folder. */
function* filePieces({ file, stored }: StoredOutput): Generator<Buffer> {
  yield* chunksOf(file);
  if (!stored.binary) yield Buffer.from('\n');
}

/** Whether the file is there, with just these bytes. May throw. */
function consistsOf(path: string, pieces: Iterable<Buffer>): boolean {
  if (!statIfThere(path)?.isFile()) return false;
  const file = openSync(path, 'r');
  try {
    for (const piece of pieces) {
      const found = Buffer.alloc(piece.length);
      readSync(file, found);
      if (!found.equals(piece)) return false;
    }
    return readSync(file, Buffer.alloc(1)) === 0;
  } finally {
    closeSync(file);
  }
}

function bytesOf({ text, base64 }: TextOutput): Buffer {
  if (base64 !== undefined) return Buffer.from(base64, 'base64');
  return Buffer.from(text === '' || text.endsWith('\n') ? text : `${text}\n`, 'utf8');
}

function holds(path: string, bytes: Buffer): boolean {
  try {
    // An error for each file that is not there yet costs as much as writing it.
    return statIfThere(path)?.size === bytes.length && readFileSync(path).equals(bytes);
  } catch {
    // Nothing that can be read: it is written.
    return false;
  }
}
