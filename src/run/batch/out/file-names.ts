import { sha256Hex } from '../../../util/digest.js';
import type { BatchRow } from '../rows/bind-rows.js';
import { folded, slugOf } from './slug.js';

/** Beside the rows' own files. */
export const BATCH_FILE = 'batch.json';
export const SUMMARY_FILE = 'summary.md';

/**
 * One file name per row, in the order of the rows. The first row with a name has it plain; others that would have the
 * same (on any file system, whatever it thinks of case and accents) get a part of their digest.
 */
export function fileNames(rows: readonly BatchRow[], extension: string): string[] {
  const used = new Set([BATCH_FILE, SUMMARY_FILE].map(folded));
  return rows.map(({ label, place }) => {
    const { slug, exact } = slugOf(label);
    const plain = `${slug}${extension}`;
    if (exact && !used.has(folded(plain))) {
      used.add(folded(plain));
      return plain;
    }
    const base = `${slug === '' ? 'row' : slug}-${sha256Hex(place).slice(0, 8)}`;
    let name = `${base}${extension}`;
    for (let again = 2; used.has(folded(name)); again++) name = `${base}-${again}${extension}`;
    used.add(folded(name));
    return name;
  });
}
