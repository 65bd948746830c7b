import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** A worker as plain JavaScript; built once per test file. */
export async function bundleWorker(source = 'worker.ts'): Promise<string> {
  const outfile = join(mkdtempSync(join(tmpdir(), 'taskflow-worker-')), 'worker.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL(source, import.meta.url))],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  return outfile;
}

export interface Worker {
  readonly child: ChildProcess;
  readonly lines: string[];
  /** Resolves when a line begins like this. */
  said(beginning: string): Promise<string>;
  readonly ended: Promise<readonly string[]>;
}

/** `limits` is put before the program: `ulimit -n 40`. */
export function startWorker(bundle: string, args: readonly string[], limits?: string): Worker {
  const command = `${limits === undefined ? '' : `${limits} && `}exec "$0" "$@"`;
  const child = spawn('bash', ['-c', command, process.execPath, bundle, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  const waiting: { beginning: string; found: (line: string) => void }[] = [];
  let partial = '';
  child.stdout!.on('data', (chunk: Buffer) => {
    const parts = (partial + chunk.toString()).split('\n');
    partial = parts.pop()!;
    for (const line of parts) {
      lines.push(line);
      for (const { beginning, found } of waiting) if (line.startsWith(beginning)) found(line);
    }
  });
  return {
    child,
    lines,
    said: (beginning) => {
      const known = lines.find((line) => line.startsWith(beginning));
      if (known !== undefined) return Promise.resolve(known);
      return new Promise((found) => waiting.push({ beginning, found }));
    },
    ended: new Promise((resolve) => child.on('close', () => resolve(lines))),
  };
}

export function executions(root: string): string[] {
  try {
    return readFileSync(join(root, 'executions'), 'utf8').trim().split('\n');
  } catch {
    // Nothing was computed.
    return [];
  }
}
