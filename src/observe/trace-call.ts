/** A whole system call: its arguments as strace printed them, and what it returned. */
export interface SystemCall {
  readonly name: string;
  readonly args: readonly string[];
  /** The error's name (`ENOENT`), where it failed. */
  readonly error?: string;
  readonly value: number;
  /** Path of the file descriptor that it returned. */
  readonly path?: string;
}

const CLOSES: Readonly<Record<string, string>> = { '{': '}', '[': ']', '(': ')' };
const RESULT = /^\) += (?:(-?\d+)(<(?:[^>\\]|\\.)*>)?|\?|0x[0-9a-f]+)(?:\(deleted\))?(?: (E[A-Z0-9]+)| \/\* (\d+) in)?/;

/** The usual form of a call: one name without escapes, numbers and flags, and a result. */
const USUAL =
  /^(\w+)\((?:(AT_FDCWD(?:<[^>\\]*>)?), )?"([^"\\]*)"((?:, \w[\w|]*)*)\) += (-?\d+)(?:<([^>\\]*)>)?(?: (E[A-Z\d]+) |$)/;

/**
 * Undefined for what cannot be read. `unknown` for a call that never returned: its process was killed, or the call is
 * about to be made again.
 */
export function parseCall(text: string): SystemCall | 'unknown' | undefined {
  return usualCall(text) ?? anyCall(text);
}

/** A fast path that gives the same as `anyCall`. */
function usualCall(text: string): SystemCall | undefined {
  const match = USUAL.exec(text);
  if (!match) return undefined;
  const [, name, folder, file, more, value, path, error] = match;
  const args = folder === undefined ? [`"${file}"`] : [folder, `"${file}"`];
  if (more !== '') args.push(...more!.slice(2).split(', '));
  return {
    name: name!,
    args,
    value: Number(value),
    ...(error !== undefined && { error }),
    ...(path !== undefined && { path }),
  };
}

function anyCall(text: string): SystemCall | 'unknown' | undefined {
  const open = text.indexOf('(');
  const split = splitArguments(text, open + 1);
  if (open < 1 || !split) return undefined;
  const result = RESULT.exec(text.slice(split.end));
  if (!result) return undefined;
  if (result[1] === undefined) return 'unknown';
  const path = result[2] === undefined ? undefined : unquoted(result[2].slice(1, -1));
  return {
    name: text.slice(0, open),
    args: split.args,
    // The second number is the id outside the process's own namespace.
    value: Number(result[4] ?? result[1]),
    ...(result[3] !== undefined && { error: result[3] }),
    ...(path !== undefined && { path }),
  };
}

/** Cuts at the commas between arguments; `end` is where the closing parenthesis is. */
function splitArguments(text: string, from: number): { args: string[]; end: number } | undefined {
  const args: string[] = [];
  const open: string[] = [];
  let start = from;
  for (let at = from; at < text.length; at += 1) {
    const char = text[at]!;
    if (char === '"') at = endOf(text, at, '"');
    else if (char === '<' && isPath(text, at)) at = endOf(text, at, '>');
    else if (char === '/' && text[at + 1] === '*') at = afterComment(text, at);
    else if (CLOSES[char] !== undefined) open.push(CLOSES[char]);
    else if (char === ')' && open.length === 0) {
      if (at > start || args.length > 0) args.push(text.slice(start, at).trim());
      return { args, end: at };
    } else if (char === open.at(-1)) open.pop();
    else if (char === ',' && open.length === 0) {
      args.push(text.slice(start, at).trim());
      start = at + 1;
    }
    if (at < 0) return undefined;
  }
  return undefined;
}

/** A path follows a file descriptor or AT_FDCWD; `1<<3` is a number. */
function isPath(text: string, at: number): boolean {
  return /[\dD]/.test(text[at - 1] ?? '') && text[at + 1] !== '<';
}

/** Negative when it does not end. */
function endOf(text: string, at: number, close: string): number {
  for (let end = at + 1; end < text.length; end += 1) {
    if (text[end] === '\\') end += 1;
    else if (text[end] === close) return end;
  }
  return -1;
}

function afterComment(text: string, at: number): number {
  const end = text.indexOf('*/', at + 2);
  return end === -1 ? -1 : end + 1;
}

/** The text of `"…"`; undefined for anything else (an address, a string that was cut). */
export function quoted(arg: string | undefined): string | undefined {
  if (arg === undefined || arg.length < 2 || arg[0] !== '"' || arg.at(-1) !== '"') return undefined;
  return unquoted(arg.slice(1, -1));
}

/** A file descriptor or AT_FDCWD with its path, as `-y` prints them. */
interface FileArgument {
  readonly isCwd: boolean;
  /** Absent for pipes, sockets and descriptors that are not open. */
  readonly path?: string;
  readonly deleted: boolean;
}

/** Before strace 5.19 it is inside of the brackets, where it could be part of a name. */
export const DELETED = ' (deleted)';

const FILE = /^(AT_FDCWD|-?\d+)(?:<((?:[^>\\]|\\.)*)>)?(\(deleted\))?$/;

export function fileArgument(arg: string | undefined): FileArgument | undefined {
  const match = FILE.exec(arg ?? '');
  if (!match) return undefined;
  const path = match[2] === undefined ? undefined : unquoted(match[2]);
  return {
    isCwd: match[1] === 'AT_FDCWD',
    deleted: match[3] !== undefined,
    ...(path?.startsWith('/') && { path }),
  };
}

const NAMED: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', v: '\v', f: '\f', '"': '"', '\\': '\\' };
const ESCAPE = /\\(?:x[0-9a-f]{2}|[0-7]{1,3}|.)/g;

/** In a name that is not UTF-8, which a text cannot name. */
export const NOT_UTF8 = '\ufffd';

/** Undoes strace's escapes: the bytes are UTF-8 again. */
function unquoted(text: string): string {
  if (!text.includes('\\')) return text;
  const bytes = text.replaceAll(ESCAPE, (escaped) => {
    const what = escaped.slice(1);
    if (what.length === 3 && what.startsWith('x')) return String.fromCharCode(Number.parseInt(what.slice(1), 16));
    if (/^[0-7]/.test(what)) return String.fromCharCode(Number.parseInt(what, 8) & 0xff);
    return NAMED[what] ?? what;
  });
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
