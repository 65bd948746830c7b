import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Failure } from '../model/failure.js';
import { Child } from './child.js';
import type { Mark } from './mark.js';
import { giveBack, type Pipe, takePipe } from './pipes.js';
import type { ProcessRequest } from './process.js';
import { spawnFailure } from './spawn-failure.js';
import { TraceStream } from './trace-stream.js';

export type Started =
  | { readonly child: Child; readonly traced?: TraceStream }
  | { readonly failure: Failure | Promise<Failure> };

/** Starts a program, under its tracer where there is one and it can start the program. */
export function startChild(request: ProcessRequest, mark: Mark | undefined): Started {
  const { trace } = request;
  const traced = trace && TraceStream.open(trace);
  const env = mark ? { [mark.name]: mark.value } : {};
  const argv = traced && trace?.wrap(request, { path: traced.path, env });
  const started = argv ? startPlain({ ...request, argv }, undefined) : undefined;
  if (traced && started && 'child' in started) return { ...started, traced };
  traced?.abandon();
  return startPlain(request, mark);
}

/** Starts a program in a session of its own, its streams in pipes. */
function startPlain(request: ProcessRequest, mark: Mark | undefined): Started {
  const pipes = takePipes();
  const ends: number[] = [];
  try {
    for (const pipe of pipes) ends.push(pipe.openForWriting());
    const [stdout, stderr] = ends;
    const stdin = stdinOf(request.input);
    if (typeof stdin === 'number') ends.push(stdin);
    const started = spawned(request, mark, { stdin, stdout, stderr });
    const { pid } = started;
    if (pid === undefined) {
      pipes.forEach(giveBack);
      return { failure: whyNot(started, request) };
    }
    // The process exists; this only reports a signal that could not be sent.
    started.on('error', () => {});
    // EPIPE, ECONNRESET: a program need not read what it is given.
    started.stdin?.on('error', () => {}).end(bytesOf(request.input));
    return { child: new Child(started, pid, pipes) };
  } catch (error) {
    // Some reasons (too long, a NUL byte, too many open files) are thrown, others come as an event.
    pipes.forEach(giveBack);
    return { failure: spawnFailure(error, request) };
  } finally {
    for (const end of ends) closeSync(end);
  }
}

/** Both or none. */
function takePipes(): readonly Pipe[] {
  const stdout = takePipe();
  const stderr = stdout && takePipe();
  if (stdout && stderr) return [stdout, stderr];
  if (stdout) giveBack(stdout);
  return [];
}

type Input = ProcessRequest['input'];

/** A file is read by the process itself: its bytes never come here. */
function stdinOf(input: Input): 'ignore' | 'pipe' | number {
  if (input === undefined) return 'ignore';
  return isFile(input) ? openSync(input.file, 'r') : 'pipe';
}

function bytesOf(input: Input): string | Buffer | undefined {
  return input === undefined || isFile(input) ? undefined : input;
}

function isFile(input: NonNullable<Input>): input is { readonly file: string } {
  return typeof input === 'object' && 'file' in input;
}

interface Streams {
  readonly stdin: 'ignore' | 'pipe' | number;
  readonly stdout: number | undefined;
  readonly stderr: number | undefined;
}

/** Where there are no pipes of ours, Node makes them. */
function spawned(request: ProcessRequest, mark: Mark | undefined, { stdin, stdout, stderr }: Streams): ChildProcess {
  const { argv, cwd, env } = request;
  return spawn(argv[0] ?? '', argv.slice(1), {
    cwd,
    env: mark ? { ...env, [mark.name]: mark.value } : env,
    detached: true,
    stdio: [stdin, stdout ?? 'pipe', stderr ?? 'pipe'],
  });
}

function whyNot(unborn: ChildProcess, request: ProcessRequest): Promise<Failure> {
  return new Promise((resolve) => {
    unborn.once('error', (error) => resolve(spawnFailure(error, request)));
  });
}
