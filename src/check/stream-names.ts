import type { Path } from '../parse/locate.js';
import type { Problems } from './problem.js';

const NAMES = /\/dev\/(?:stdin|stdout|stderr|fd\/[012])(?![\w/-]|\.\w)/g;

const STREAMS = [
  { name: 'stdin', hint: 'read stdin itself: most programs do so without a file name, or with `-`' },
  { name: 'stdout', hint: 'write to stdout itself: `>&1`, or `-` where a program takes that for a file name' },
  { name: 'stderr', hint: 'write to stderr itself: `>&2`' },
] as const;

/**
 * The streams of a process that Node starts are sockets, which the system does not open by name: a script that does so works
 * in a terminal and fails here. Stdin is one only where there is an `input`.
 */
export function warnOfStreamNames(problems: Problems, path: Path, text: string, hasInput: boolean): void {
  if (!text.includes('/dev/')) return;
  for (const match of text.matchAll(NAMES)) {
    const name = match[0];
    const stream = STREAMS.find((each, index) => name.endsWith(each.name) || name.endsWith(`/${index}`))!;
    if (stream.name === 'stdin' && !hasInput) continue;
    problems.warn(path, 'stream-name', `${name} cannot be opened: ${stream.name} of a phase is not a file`, {
      span: { offset: match.index, length: name.length },
      hint: stream.hint,
    });
  }
}
