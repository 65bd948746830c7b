/** One line of a trace, as strace 5.18 and later write it with `-f -y -x -s 0`. */
export type TraceLine =
  | { readonly type: 'call'; readonly pid: number; readonly name: string; readonly text: string }
  | { readonly type: 'unfinished'; readonly pid: number; readonly text: string }
  | { readonly type: 'resumed'; readonly pid: number; readonly rest: string }
  | { readonly type: 'ended'; readonly pid: number }
  | { readonly type: 'superseded'; readonly pid: number; readonly by: number }
  | { readonly type: 'signal' };

const UNFINISHED = ' <unfinished ...>';
const LINE = /^(\d{1,10}) +/;
const RESUMED = /^<\.\.\. \w+ resumed>/;
const SUPERSEDED = /^\+\+\+ superseded by execve in pid (\d{1,10}) \+\+\+$/;
const ENDED = /^\+\+\+ (?:exited with \d+|killed by \w+(?: \(core dumped\))?) \+\+\+$/;
const NAME = /^(\w+)\(/;

/** Undefined for what strace never writes. Names of files cannot forge a line: strace escapes what is not printable. */
export function parseLine(line: string): TraceLine | undefined {
  const head = LINE.exec(line);
  if (!head) return undefined;
  const pid = Number(head[1]);
  const text = line.slice(head[0].length);
  if (text.startsWith('--- ')) return { type: 'signal' };
  if (text.startsWith('+++ ')) {
    const superseded = SUPERSEDED.exec(text);
    if (superseded) return { type: 'superseded', pid, by: Number(superseded[1]) };
    return ENDED.test(text) ? { type: 'ended', pid } : undefined;
  }
  const resumed = RESUMED.exec(text);
  // A call that its process did not live to see the end of: both words in one line.
  if (resumed) return { type: 'resumed', pid, rest: text.slice(resumed[0].length).replace(UNFINISHED, '') };
  const name = NAME.exec(text)?.[1];
  if (name === undefined) return undefined;
  if (text.endsWith(UNFINISHED)) return { type: 'unfinished', pid, text: text.slice(0, -UNFINISHED.length) };
  return { type: 'call', pid, name, text };
}
