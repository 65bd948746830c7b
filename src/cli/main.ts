#!/usr/bin/env node
import { writeSync } from 'node:fs';
import { VERSION } from '../util/version.js';
import { tuneEngine } from './engine-flags.js';
import { chunk } from './packs.js';

/** Chunks that stand in a pack are asked for here. */
export { chunk };

// The whole answer to `--version`: nothing else is loaded for it.
const first = process.argv[2];
if (process.argv.length === 3 && (first === '--version' || first === '-V') && wrote(`${VERSION}\n`)) {
  // Quicker than letting Node find out that there is nothing left to do.
  process.exit();
} else {
  const { main } = chunk('start', 'dispatch.js') as typeof import('./dispatch.js');
  void main(process.argv.slice(2), { onMuchWork: tuneEngine });
}

function wrote(text: string): boolean {
  try {
    writeSync(1, text);
    return true;
  } catch {
    // A full disk, a reader that went away: the usual way knows what to say about each.
    return false;
  }
}
