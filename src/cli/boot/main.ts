#!/usr/bin/env node
import { writeSync } from 'node:fs';
import { VERSION } from '../../util/version.js';
import { loadBundle } from './load-bundle.js';

// The whole answer to `--version`: nothing else is loaded for it.
const first = process.argv[2];
if (process.argv.length === 3 && (first === '--version' || first === '-V') && wrote(`${VERSION}\n`)) {
  process.exit();
} else {
  void loadBundle<typeof import('./dispatch.js')>('cli').main(process.argv.slice(2));
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
