#!/usr/bin/env node
import { writeSync } from 'node:fs';
import { VERSION } from '../../util/version.js';
import { loadBundle } from './load-bundle.js';

/** Bundles that answer a command by themselves if they can, one after the other, and are loaded in less time. */
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
    // The command itself says what is wrong.
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
    // A full disk, a reader that went away: the usual way knows what to say about each.
    return false;
  }
}
