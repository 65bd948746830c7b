import { isAbsolute, join } from 'node:path';
import type { Failure } from '../model/failure.js';
import { statIfThere } from '../util/stat.js';
import type { ProcessRequest } from './process.js';

/** Why a program could not be started, and what to do about it. */
export function spawnFailure(error: unknown, request: ProcessRequest): Failure {
  const { code, message } = error as NodeJS.ErrnoException;
  const program = request.argv[0] ?? '';
  const fail = (text: string, hint?: string): Failure => ({ code: 'spawn', message: text, ...(hint && { hint }) });
  if (program === '') return fail('nothing to start: the argv is empty');
  const cwd = cwdProblem(request.cwd);
  if (cwd) return fail(`cannot start ${program}: ${cwd}`, 'check the cwd of the phase');
  switch (code) {
    case 'ENOENT':
      return fail(`cannot start ${program}: not found`, notFoundHint(program, request));
    case 'EACCES':
      return fail(`cannot start ${program}: permission denied`, `is it executable? (chmod +x ${program})`);
    case 'E2BIG':
      return fail(
        `cannot start ${program}: its arguments and environment are too long (${sizeOf(request)} bytes)`,
        'the system allows about 128 KB per argument: pass long text by stdin (`input`) or in a file',
      );
    case 'EAGAIN':
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOMEM':
    case 'ETXTBSY':
      return {
        code: 'spawn',
        message: `cannot start ${program}: ${message}`,
        hint: code === 'ETXTBSY' ? 'the program is still being written' : 'fewer processes at once (`concurrency`)',
        transient: true,
      };
    case 'ERR_INVALID_ARG_VALUE':
      return fail(`cannot start ${program}: an argument or variable holds a NUL byte`, 'pass binary text by stdin');
    default:
      return fail(`cannot start ${program}: ${message}`);
  }
}

function cwdProblem(cwd: string): string | undefined {
  const stat = statIfThere(cwd);
  if (!stat) return `its folder ${cwd} does not exist`;
  return stat.isDirectory() ? undefined : `${cwd} is not a folder`;
}

function notFoundHint(program: string, request: ProcessRequest): string {
  if (!program.includes('/')) return 'is it installed, and on PATH?';
  const path = isAbsolute(program) ? program : join(request.cwd, program);
  // A script whose interpreter is missing gives the same error as a missing script.
  return statIfThere(path)
    ? 'the file is there: is the interpreter of its first line (#!) installed?'
    : `there is no ${path}`;
}

function sizeOf(request: ProcessRequest): number {
  const variables = Object.entries(request.env).map(([name, value]) => `${name}=${value ?? ''}`);
  return [...request.argv, ...variables].reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
}
