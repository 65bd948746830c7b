import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOnPath } from '../../process/find-program.js';
import { makeTemporaryFolder } from '../../util/temporary-folder.js';
import type { PhaseContext } from '../context/phase-context.js';
import { journalChild } from '../execute/start-line.js';

export type Language = 'javascript' | 'typescript';

/** Says what a compiler has against a program, in words; undefined when nothing. */
export type Compile = (language: Language, text: string) => Promise<string | undefined>;

const LIMIT_MS = 60_000;
const FENCE = /^ {0,3}(`{3,}|~{3,})[^\n]*\n([\s\S]*?)^ {0,3}\1[ \t]*$/m;

/** Reads the program in a folder of its own, and executes nothing of it. */
export function compiler(at: PhaseContext): Compile {
  return async (language, text) => {
    const code = FENCE.exec(text)?.[2] ?? text;
    if (code.trim() === '') return 'there is no code';
    const folder = makeTemporaryFolder('code');
    try {
      return language === 'javascript' ? await checkScript(at, folder, code) : await checkTypes(at, folder, code);
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  };
}

/** A file may be a module of either kind; it compiles if it is one of them. */
async function checkScript(at: PhaseContext, folder: string, code: string): Promise<string | undefined> {
  const check = (name: string) => {
    writeFileSync(join(folder, name), code);
    return objectionOf(at, folder, [process.execPath, '--check', name]);
  };
  const asModule = await check('code.mjs');
  return asModule === undefined || (await check('code.cjs')) === undefined ? undefined : asModule;
}

async function checkTypes(at: PhaseContext, folder: string, code: string): Promise<string | undefined> {
  const { root, env } = at.run.options.project;
  const tsc = findOnPath('tsc', [join(root, 'node_modules/.bin'), env['PATH'] ?? ''].join(':'));
  if (tsc === undefined) return 'there is no tsc: install typescript in the project';
  writeFileSync(join(folder, 'code.ts'), code);
  const flags = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'preserve'];
  return objectionOf(at, folder, [tsc, ...flags, '--types', '', 'code.ts']);
}

async function objectionOf(at: PhaseContext, cwd: string, argv: readonly string[]): Promise<string | undefined> {
  const { runProcess } = await import('../../process/run-process.js');
  const { env } = at.run.options.project;
  const { failure, stdout, stderrTail } = await runProcess({
    argv,
    cwd,
    env: { PATH: env['PATH'], HOME: cwd },
    timeoutMs: LIMIT_MS,
    signal: at.signal,
    onStart: (child) => journalChild(at, child),
  });
  if (!failure) return undefined;
  const said = [...stdout.toString('utf8').split('\n'), ...stderrTail.split('\n')];
  return said.find((line) => /Error:|\berror\b/.test(line))?.trim() || failure.message;
}
