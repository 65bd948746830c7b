import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { INLINE_BYTES } from '../../model/limits.js';
import { type Output, StoredOutput, type TextOutput } from '../../model/output.js';
import { removeIfThere, writeFileAtomic } from '../../util/atomic-write.js';
import { sha256Hex } from '../../util/digest.js';
import { digestFile } from '../../util/digest-file.js';
import { formatBytes } from '../../util/format.js';
import { linkOrCopy } from '../../util/link-or-copy.js';
import { statIfThere } from '../../util/stat.js';
import { strictJson } from './output.js';
import { OutputSink } from './output-sink.js';
import { inFolder } from './stored-writer.js';

/** Where a run has its large outputs, by digest. */
export function outputsBeside(journal: string): string {
  return join(dirname(journal), 'outputs');
}

interface OutputFolderOptions {
  readonly folder: string;
  readonly limit: number;
  readonly secrets: { readonly values: readonly string[] };
}

/** The large outputs of a run. */
export class OutputFolder {
  constructor(private readonly options: OutputFolderOptions) {}

  /** `inline`: what is larger is in a file. */
  sink({ limit = this.options.limit, inline = INLINE_BYTES } = {}): OutputSink {
    const { folder, secrets } = this.options;
    return new OutputSink({ folder, limit, inline, secrets: secrets.values });
  }

  /** A large text becomes a file. One that cannot be written, or holds a secret, stays in memory. */
  keep(output: Output): Output {
    if (output instanceof StoredOutput || output.text.length <= INLINE_BYTES || output.base64 !== undefined)
      return output;
    const stored = this.#write(output.text, INLINE_BYTES);
    if (!stored || output.json === null) return stored ?? output;
    if (strictJson(output.text) !== undefined) return stored.withJson(stored.stored);
    const json = this.#write(JSON.stringify(output.json), 0);
    return json ? stored.withJson(json.stored) : output;
  }

  /** Puts the files of a reused output into this run's folder too. Undefined when they are not what they should be. */
  async adopt(output: Output): Promise<Output | undefined> {
    if (!(output instanceof StoredOutput)) return output;
    for (const { path, bytes, digest } of output.files) {
      if (statIfThere(path)?.size !== bytes) return undefined;
      if ((await digestFile(path, bytes)) !== digest) {
        // It is damaged: as long as it is there, the right one would not be written.
        removeIfThere(path);
        return undefined;
      }
    }
    return linkOutput(output, this.options.folder) ?? output;
  }

  /** The same without a look at the bytes, for what a journal says: it vouches for itself. */
  link(output: Output): Output | undefined {
    return output instanceof StoredOutput ? linkOutput(output, this.options.folder) : output;
  }

  #write(text: string, inline: number): StoredOutput | undefined {
    const sink = this.sink({ inline });
    const output = sink.add(Buffer.from(text)) ? undefined : sink.end();
    return output instanceof StoredOutput ? output : undefined;
  }
}

/** The same output with its files in another folder too, linked if possible. Undefined when they are gone. */
export function linkOutput(output: StoredOutput, folder: string): StoredOutput | undefined {
  try {
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
    for (const { path, bytes, digest } of output.files) {
      if (statIfThere(path)?.size !== bytes) return undefined;
      linkOrCopy(path, join(folder, digest));
    }
    return output.in(inFolder(folder));
  } catch {
    // The folder cannot be written, or a file was removed this moment.
    return undefined;
  }
}

/** Writes the files of outputs that came with a checkpoint; one that is not what its name says is left out. */
export function writeOutputs(folder: string, outputs: Readonly<Record<string, string>>): void {
  for (const [digest, base64] of Object.entries(outputs)) {
    const bytes = Buffer.from(base64, 'base64');
    if (sha256Hex(bytes) !== digest) continue;
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
    writeFileAtomic(join(folder, digest), bytes, 0o400);
  }
}

/** As an output is shown and printed as JSON: its beginning, and where the whole is. */
export function shownOutput(output: Output, root: string): TextOutput {
  if (!(output instanceof StoredOutput)) return output;
  const { digest, bytes } = output.stored;
  const path = relative(root, output.file).split(sep).join('/');
  const text = `${output.preview}\n… (cut here: all ${formatBytes(bytes)} are in ${path})`;
  return { text, json: null, file: { path, bytes, digest } };
}
