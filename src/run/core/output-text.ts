import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import type { Failure } from '../../model/failure.js';
import type { JsonValue } from '../../model/json.js';
import { TEXT_BYTES } from '../../model/limits.js';
import { type Output, StoredOutput } from '../../model/output.js';
import { TAIL_BYTES, Tail } from '../../process/tail.js';
import { formatBytes } from '../../util/format.js';
import { whyUnreadable } from '../../util/why-unreadable.js';

/** Each item of a map quotes the same output: the last one that was read stays in memory. */
let last: { readonly path: string; readonly text: string } | undefined;

/** The text of an output, which a stored one has in a file. Too large for a text, or gone: a failure. */
export function readText(output: Output): { readonly text: string } | { readonly failure: Failure } {
  return output instanceof StoredOutput ? readStored(output.file, output.stored.bytes) : output;
}

/** A phase without `output: json` may still have said JSON; undefined when it did not. */
export function readJson(output: Output): { readonly json: JsonValue | undefined } | { readonly failure: Failure } {
  if (output.json !== null) return output;
  const read =
    output instanceof StoredOutput ? readStored(output.jsonFile, (output.stored.json ?? output.stored).bytes) : output;
  if ('failure' in read) return read;
  try {
    return { json: JSON.parse(read.text) as JsonValue };
  } catch {
    // It is prose: there is nothing inside to point at.
    return { json: undefined };
  }
}

function readStored(path: string, bytes: number): { readonly text: string } | { readonly failure: Failure } {
  if (bytes > TEXT_BYTES) return { failure: tooLargeForText(bytes) };
  if (last?.path === path) return last;
  try {
    last = { path, text: readFileSync(path, 'utf8') };
    return last;
  } catch (error) {
    return { failure: { code: 'io', message: `the output ${path} cannot be read: ${whyUnreadable(error)}` } };
  }
}

function tooLargeForText(bytes: number): Failure {
  return {
    code: 'limit',
    message: `the output has ${formatBytes(bytes)}, and what is used as a text may have ${formatBytes(TEXT_BYTES)}`,
    hint: 'Give it to a script whole, with `input: "{steps.ID.output}"`, or let the phase write to a file.',
  };
}

export function outputBytes(output: Output): number {
  return output instanceof StoredOutput ? output.stored.bytes : Buffer.byteLength(output.text);
}

const CHUNK = 256 * 1024;

/** The bytes of a file from a place on, in pieces. May throw. */
export function* chunksOf(path: string, start = 0): Generator<Buffer> {
  const file = openSync(path, 'r');
  try {
    for (let at = start; ; ) {
      const chunk = Buffer.allocUnsafe(CHUNK);
      const read = readSync(file, chunk, 0, CHUNK, at);
      if (read === 0) return;
      at += read;
      yield chunk.subarray(0, read);
    }
  } finally {
    closeSync(file);
  }
}

/** The text of a file, in pieces. May throw. */
export function* textPieces(path: string): Generator<string> {
  const decoder = new StringDecoder('utf8');
  for (const chunk of chunksOf(path)) yield decoder.write(chunk);
  yield decoder.end();
}

/** The end of an output, or all of a small one. */
export function lastWords(output: Output): string {
  if (!(output instanceof StoredOutput)) return output.text;
  const tail = new Tail(TAIL_BYTES);
  try {
    for (const chunk of chunksOf(output.file, Math.max(0, output.stored.bytes - TAIL_BYTES))) tail.add(chunk);
  } catch {
    // Removed meanwhile: then its beginning has to do.
    return output.preview;
  }
  return tail.text();
}
