import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { WORK } from './paths.mjs';
import { runProcess } from './run-process.mjs';

const PROGRAM = fileURLToPath(new URL('./tree-usage.py', import.meta.url));
const FILE = `${WORK}/tree-usage.json`;

/**
 * Runs a program and says what it and everything it started took.
 * @param {{ argv: string[], cwd: string, env?: Record<string, string> }} request
 * @returns {Promise<{ wallMs: number, cpuMs: number }>}
 */
export async function measureTree({ argv, cwd, env }) {
  await runProcess({ argv: ['python3', PROGRAM, FILE, ...argv], cwd, env });
  return JSON.parse(readFileSync(FILE, 'utf8'));
}
