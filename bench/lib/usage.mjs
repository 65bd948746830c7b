import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { WORK } from './paths.mjs';
import { runProcess } from './run-process.mjs';

const HOOK = fileURLToPath(new URL('./usage-hook.cjs', import.meta.url));
/** The largest batches and maps take minutes, and more on a busy machine. */
const LIMIT_MS = 20 * 60_000;
const FILE = `${WORK}/usage.json`;

/**
 * Runs a Node program to its end and says what it took: time, processor time and highest resident size.
 * @param {string[]} args @param {string} cwd
 * @returns {Promise<{ wallMs: number, cpuMs: number, peakMb: number }>}
 */
export async function measureNode(args, cwd) {
  const argv = ['node', '-r', HOOK, ...args];
  const wallMs = await runProcess({ argv, cwd, env: { BENCH_USAGE_FILE: FILE }, timeoutMs: LIMIT_MS });
  return { wallMs, ...JSON.parse(readFileSync(FILE, 'utf8')) };
}
