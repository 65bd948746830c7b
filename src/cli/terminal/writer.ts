import { fstatSync, readSync, writeSync } from 'node:fs';
import { whyUnwritable } from '../../util/why-unwritable.js';
import type { InputSource, Writer } from '../boot/command.js';
import { obeysLines, onlyStyles, withoutCommands } from './guard.js';
import { stopMarks } from './stop-commands.js';

interface WriterOptions {
  readonly fd: 1 | 2;
  /** `always`, `never` or `auto`, which depends on the terminal and the environment. */
  readonly color: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Writes straight to the file descriptor: loading Node's stream classes costs a short command several milliseconds.
 * Only the size of a terminal needs them.
 */
export function createWriter({ fd, color, env }: WriterOptions): Writer {
  const isTerminal = isTerminalFd(fd);
  const inCi = Boolean(env['CI']) && env['CI'] !== 'false' && env['CI'] !== '0';
  const isDumb = env['TERM'] === 'dumb';
  let open = true;
  const put = (text: string) => {
    if (!open || text === '') return;
    open = writeBytes(fd, Buffer.from(text, 'utf8'));
    if (fd === 2) midLine = !text.endsWith('\n');
  };
  const obeys = obeysLines(env);
  const stream = () => (fd === 1 ? process.stdout : process.stderr);
  const write = (text: string) => {
    const shown = isTerminal || fd === 2 ? onlyStyles(text) : text;
    const safe = obeys ? withoutCommands(shown) : shown;
    const marks = safe === shown ? undefined : stopMarks(env);
    if (marks) mark(marks.before);
    put(safe);
    if (marks) mark(marks.after);
  };
  return {
    isTerminal,
    isLive: isTerminal && !inCi && !isDumb,
    color: color === 'auto' ? isTerminal && !inCi && !isDumb && !env['NO_COLOR'] : color === 'always',
    get columns() {
      return (isTerminal && stream().columns) || 80;
    },
    get rows() {
      return (isTerminal && stream().rows) || 24;
    },
    write,
    json: (value) => write(indented(value)),
    draw: put,
    command: (line) => put(`${line}\n`),
    onResize(listener) {
      if (!isTerminal) return () => {};
      const terminal = stream();
      terminal.on('resize', listener);
      return () => terminal.off('resize', listener);
    },
  };
}

export function indented(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** The last write to stderr ended in the middle of a line. */
let midLine = false;

function mark(line: string): void {
  writeBytes(2, Buffer.from(midLine ? `\n${line}` : line));
  midLine = false;
}

/** Why results could not be written to stdout; undefined if they could, or if the reader went away. */
let lost: string | undefined;

export function lostOutput(): string | undefined {
  return lost;
}

/**
 * False once nothing can be written any more. Never throws: reporting the problem would fail, too. Text for a broken
 * stderr is dropped; lost results change the exit status.
 */
function writeBytes(fd: number, bytes: Buffer): boolean {
  let offset = 0;
  while (offset < bytes.length) {
    try {
      offset += writeSync(fd, bytes, offset);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      // A pipe that someone else made non-blocking is full: give its reader a moment.
      if (code === 'EAGAIN') waitBriefly();
      else {
        if (fd === 1 && code !== 'EPIPE' && code !== 'EIO' && code !== 'EBADF') lost ??= whyUnwritable(error);
        return false;
      }
    }
  }
  return true;
}

export function stdinSource(): InputSource {
  return {
    get isTerminal() {
      return isTerminalFd(0);
    },
    readAll: () => readToEnd(0),
  };
}

/** Synchronous: waits for an empty pipe. */
function readToEnd(fd: number): Buffer {
  const chunks: Buffer[] = [];
  const chunk = Buffer.allocUnsafe(65_536);
  for (;;) {
    try {
      const count = readSync(fd, chunk, 0, chunk.length, null);
      if (count === 0) return Buffer.concat(chunks);
      chunks.push(Buffer.from(chunk.subarray(0, count)));
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === 'EAGAIN') waitBriefly();
      else if (code === 'EOF' || code === 'EBADF') return Buffer.concat(chunks);
      else throw error;
    }
  }
}

function waitBriefly(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
}

/** Major 1, minor 3: `> /dev/null` is common, and asking Node's streams about it costs milliseconds. */
const LINUX_NULL_DEVICE = 0x103;

function isTerminalFd(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    if (!stat.isCharacterDevice() || (process.platform === 'linux' && stat.rdev === LINUX_NULL_DEVICE)) return false;
  } catch (error) {
    // A closed descriptor is not a terminal.
    if ((error as NodeJS.ErrnoException).code === 'EBADF') return false;
    throw error;
  }
  return (fd === 0 ? process.stdin : fd === 1 ? process.stdout : process.stderr).isTTY === true;
}
