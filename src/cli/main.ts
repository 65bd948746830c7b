#!/usr/bin/env node
import { writeSync } from 'node:fs';
import { VERSION } from '../util/version.js';

// The whole answer to `--version`: nothing else is loaded for it.
const first = process.argv[2];
if (process.argv.length === 3 && (first === '--version' || first === '-V')) {
  writeSync(1, `${VERSION}\n`);
} else {
  import('./dispatch.js').then(({ main }) => main(process.argv.slice(2)));
}
