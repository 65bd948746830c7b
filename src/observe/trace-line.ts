/** One line of a trace, as strace 5.15 and later write it with `-f -y -x -s 0`. */
export type TraceLine =
  | { readonly type: 'call' | 'unfinished' | 'resumed'; readonly pid: number; readonly text: string }
  | { readonly type: 'ended'; readonly pid: number }
  | { readonly type: 'superseded'; readonly pid: number; readonly by: number }
  | { readonly type: 'signal' };

const UNFINISHED = ' <unfinished ...>';
/**
 * One expression for what most lines are: thousands come at once, and the program waits for none of them. A call whose
 * thread is killed before strace can ask for its name is called `???`.
 */
const LINE = /^(\d{1,10}) +(?:[\w?]+\(|(<\.\.\. [\w?]+ resumed>)|--- |(\+\+\+ ))/;
const SUPERSEDED = /^\+\+\+ superseded by execve in pid (\d{1,10}) \+\+\+$/;
const ENDED = /^\+\+\+ (?:exited with \d+|killed by \w+(?: \(core dumped\))?) \+\+\+$/;

/** Undefined for what strace never writes. A file name cannot forge a line: strace escapes unprintable characters. */
export function parseTraceLine(line: string): TraceLine | undefined {
  const head = LINE.exec(line);
  if (!head) return undefined;
  const pid = Number(head[1]);
  if (head[3] !== undefined) return ending(pid, line.slice(head[0].length - head[3].length));
  // A call during which its process was killed: begun and resumed in one line.
  if (head[2] !== undefined) return { type: 'resumed', pid, text: line.slice(head[0].length).replace(UNFINISHED, '') };
  if (head[0].endsWith('-- ')) return { type: 'signal' };
  const isWhole = !line.endsWith(UNFINISHED);
  const text = line.slice(line.indexOf(' ') + 1, isWhole ? undefined : -UNFINISHED.length).trimStart();
  return { type: isWhole ? 'call' : 'unfinished', pid, text };
}

function ending(pid: number, text: string): TraceLine | undefined {
  const superseded = SUPERSEDED.exec(text);
  if (superseded) return { type: 'superseded', pid, by: Number(superseded[1]) };
  return ENDED.test(text) ? { type: 'ended', pid } : undefined;
}
