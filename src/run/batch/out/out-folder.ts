import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeOwnFile } from '../../../memo/files/written-files.js';
import type { Flow } from '../../../model/flow.js';
import type { Output } from '../../../model/outcome.js';
import { removeAbandoned } from '../../../util/atomic-write.js';
import type { Project } from '../../../util/project.js';
import { whyUnwritable } from '../../../util/why-unwritable.js';
import type { BatchRow } from '../rows/bind-rows.js';
import { fileNames } from './file-names.js';

export interface OutOptions {
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
    return this.put(name, bytesOf(output)) ? name : undefined;
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
}

function bytesOf({ text, base64 }: Output): Buffer {
  if (base64 !== undefined) return Buffer.from(base64, 'base64');
  return Buffer.from(text === '' || text.endsWith('\n') ? text : `${text}\n`, 'utf8');
}

function holds(path: string, bytes: Buffer): boolean {
  try {
    return readFileSync(path).equals(bytes);
  } catch {
    // Not there, or nothing that can be read: it is written.
    return false;
  }
}
