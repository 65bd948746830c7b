#!/usr/bin/env node
import { writeSync } from 'node:fs';
import type { KnownFiles } from '../../memo/fingerprint/source.js';
import { VERSION } from '../../util/version.js';
import { loadBundle } from './load-bundle.js';

/** Bundles that answer a command by themselves if they can, one after the other, and are loaded in less time. */
const ALONE = new Map([
  ['run', ['unchanged', 'run']],
  ['mcp', ['serve']],
]);

/** True: it has answered. Else the next one does, with the files that this one knows. */
interface Answering {
  answered(args: readonly string[], known: KnownFiles | undefined): Promise<boolean | KnownFiles>;
}

// The whole answer to `--version`: nothing else is loaded for it.
const first = process.argv[2];
if (process.argv.length === 3 && (first === '--version' || first === '-V') && wrote(`${VERSION}\n`)) {
  process.exit();
} else {
  void start(process.argv.slice(2));
}

async function start(args: readonly string[]): Promise<void> {
  let known: KnownFiles | undefined;
  for (const alone of ALONE.get(args[0] ?? '') ?? []) {
    let missed = false;
    const { answered } = loadBundle<Answering>(alone, () => !missed);
    // The command itself says what is wrong.
    const answer = await answered(args, known).catch(() => false as const);
    if (answer === true) return;
    missed = true;
    if (answer) known = answer;
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
