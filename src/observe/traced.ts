import { accessSync, constants } from 'node:fs';
import { resolve } from 'node:path';
import type { Observation } from '../model/observation.js';
import { findOnPath } from '../process/find-program.js';
import type { ProcessRequest, Trace, TraceTarget } from '../process/process.js';
import { systemClock } from '../util/clock.js';
import { realPath } from '../util/inside.js';
import { statIfThere } from '../util/stat.js';
import { Observer } from './observer.js';
import { startOf } from './shebang.js';
import { straceArgv } from './strace.js';

interface TracedOptions {
  /** The program, as `observeSupport` found it. */
  readonly strace: string;
  readonly root: string;
  /** Also what lies in `.git`, `node_modules` and our own folders. */
  readonly all?: boolean;
}

/** One traced process, and what it looked at. */
export class TracedProcess implements Trace {
  #observer: Observer | undefined;
  #isWhole = false;

  constructor(private readonly options: TracedOptions) {}

  wrap(request: ProcessRequest, { path, env }: TraceTarget): readonly string[] | undefined {
    if (!canBeStarted(request)) return undefined;
    const { strace, root, all } = this.options;
    const startedAt = systemClock.now();
    this.#observer = new Observer({ root, cwd: realPath(request.cwd), startedAt, ...(all && { all }) });
    return straceArgv(request.argv, { strace, to: path, env });
  }

  add(chunk: Buffer): void {
    this.#observer?.add(chunk);
  }

  alive(): Iterable<number> {
    return this.#observer?.alive() ?? [];
  }

  close(): void {
    this.#isWhole = true;
  }

  /** Call it once, after the end. Undefined: the program was started without a tracer. */
  observation(): Observation | undefined {
    return this.#observer?.end(this.#isWhole);
  }
}

/**
 * Whether strace would start the program as we do. Its error messages differ, and it refuses a file without `#!`, which
 * we pass to a shell.
 */
function canBeStarted({ argv, cwd, env }: ProcessRequest): boolean {
  const [program = ''] = argv;
  const file = program.includes('/') ? resolve(cwd, program) : findOnPath(program, env['PATH']);
  if (file === undefined || !statIfThere(cwd)?.isDirectory() || !isProgram(file)) return false;
  const start = startOf(file);
  return start === 'elf' || (start !== undefined && isProgram(resolve(cwd, start.interpreter)));
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statIfThere(file)?.isFile() === true;
  } catch {
    return false;
  }
}
