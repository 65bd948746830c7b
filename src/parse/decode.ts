import type { SyntaxProblem } from './tree.js';

const MIB = 1024 * 1024;
/** Limit for JSON, which programs write. A flow of twenty thousand phases has 4 MiB. */
export const LARGEST_FILE = 8 * MIB;
/** Limit for YAML, which takes a hundred times as long to read. */
export const LARGEST_YAML = MIB;

/**
 * A flow file's bytes as text. UTF-8 only, a byte order mark is dropped, and NUL is refused: such a file is not a text,
 * whatever its name. The text that did decode is returned, too, so that a place in it can be shown.
 */
export function decodeText(bytes: Buffer): { readonly text: string; readonly problem?: SyntaxProblem } {
  if (bytes.length > LARGEST_FILE) return { text: '', problem: tooLarge(LARGEST_FILE) };
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    return { text: '', problem: notText(0, 'the file is UTF-16', 'save it as UTF-8') };
  }
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  const text = bytes.toString('utf8', start);
  const nul = text.indexOf('\0');
  if (nul !== -1) return { text, problem: notText(nul, 'the file holds a NUL character', 'a flow file is plain text') };
  const bad = text.indexOf('\ufffd');
  // A replacement character in the file is fine; one for bytes that are not UTF-8 is not.
  if (bad !== -1 && !bytes.subarray(start).equals(Buffer.from(text, 'utf8'))) return { text, problem: invalid(bad) };
  return { text };
}

export function tooLarge(most: number): SyntaxProblem {
  return {
    offset: 0,
    length: 1,
    code: 'too-large',
    message: `the file has more than ${most / MIB} MiB, which is what such a file may have`,
    hint: 'keep long texts in files of their own and name them in "context"',
  };
}

function invalid(offset: number): SyntaxProblem {
  return notText(offset, 'the file is not valid UTF-8 from here on', 'save it as UTF-8');
}

function notText(offset: number, message: string, hint: string): SyntaxProblem {
  return { offset, length: 1, code: 'encoding', message, hint };
}
