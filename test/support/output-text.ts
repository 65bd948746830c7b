import type { Output } from '../../src/model/output.js';
import { readText } from '../../src/run/core/output-text.js';

/** What a phase said, wherever it is. */
export function textOf(output: Output): string {
  const read = readText(output);
  if ('failure' in read) throw new Error(read.failure.message);
  return read.text;
}
