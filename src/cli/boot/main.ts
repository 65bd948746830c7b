#!/usr/bin/env node
import { writeSync } from 'node:fs';
import { VERSION } from '../../util/version.js';
import { loadBundle } from './load-bundle.js';

/** Smaller bundles that are tried first, one after the other: each answers its command if it can. */
const ALONE = new Map([
  ['run', ['unchanged', 'run']],
  ['mcp', ['serve']],
]);

// The whole answer to `--version`: nothing else is loaded for it.
const first = process.argv[2];
if (process.argv.length === 3 && (first === '--version' || first === '-V') && wrote(`${VERSION}\n`)) {
  process.exit();
} else {
  void start(process.argv.slice(2));
}

async function start(args: readonly string[]): Promise<void> {
  for (const alone of ALONE.get(args[0] ?? '') ?? []) {
    let missed = false;
    const { answered } = loadBundle<typeof import('./unchanged.js')>(alone, () => !missed);
    // After an exception the command itself reports the problem.
    if (await answered(args).catch(() => false)) return;
    missed = true;
  }
  await loadBundle<typeof import('./dispatch.js')>('cli').main(args);
}

function wrote(text: string): boolean {
  try {
    writeSync(1, text);
    return true;
  } catch {
    // A full disk, a reader that went away: the whole command line reports these.
    return false;
  }
}
