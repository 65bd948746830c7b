import { createInterface } from 'node:readline';
import type { ApprovalAnswer, ApprovalRequest } from '../../run/core/options.js';
import { oneLine, sanitize, visible } from '../../util/terminal-text.js';
import type { Writer } from '../boot/command.js';
import { createStyle } from '../terminal/style.js';

/** How often a question is put before it is left open. */
const TIMES = 3;

/** Asks on the terminal. An end of input, an abort, or no clear answer leaves the question open: the run pauses. */
export async function askApproval(
  request: ApprovalRequest,
  err: Writer,
  suspendView: () => () => void,
): Promise<ApprovalAnswer> {
  if (request.signal.aborted) return { decision: 'pause' };
  const resumeView = suspendView();
  const style = createStyle(err.color);
  err.write(`\n${style.bold(`${oneLine(request.phase)} needs an approval`)}\n${visible(request.text).trimEnd()}\n`);
  const lines = createInterface({ input: process.stdin, terminal: false });
  // Whoever answers ends the line; whoever does not leaves it to us, before anybody else says something.
  let isLineOpen = false;
  const ask = () => {
    err.write(PROMPT);
    isLineOpen = true;
  };
  const stop = () => {
    if (isLineOpen) err.write('\n');
    isLineOpen = false;
    lines.close();
  };
  request.signal.addEventListener('abort', stop, { once: true });
  const timer = request.timeoutMs === undefined ? undefined : setTimeout(stop, request.timeoutMs);
  try {
    ask();
    let asked = 1;
    for await (const line of lines) {
      isLineOpen = false;
      const answer = readAnswer(line);
      if (answer) return answer;
      if (asked === TIMES) {
        err.write('neither yes nor no: the question is left open\n');
        break;
      }
      asked += 1;
      err.write('please say y (yes) or n (no)\n');
      ask();
    }
    stop();
    return { decision: 'pause' };
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener('abort', stop);
    lines.close();
    // Otherwise the open terminal keeps the process alive.
    process.stdin.pause();
    resumeView();
  }
}

const PROMPT = 'approve? (y, y NOTE, n, n REASON): ';

/** What follows a yes and makes it doubtful. */
const DOUBT = /^(?:n|no|not|or|wait|stop)\b|\?$/i;

/** Undefined when it is neither yes nor no: in doubt nobody has approved. */
export function readAnswer(line: string): ApprovalAnswer | undefined {
  // Keys that were meant to edit the line have not done so: what stands there is not what the person sees.
  if (sanitize(line) !== line) return undefined;
  const [, word, note = ''] = /^(y|yes|n|no)(?:[\s:,;.!–—-]+(.*))?$/i.exec(line.trim()) ?? [];
  if (word === undefined) return undefined;
  const decision = /^y/i.test(word) ? 'approve' : 'reject';
  if (decision === 'approve' && DOUBT.test(note)) return undefined;
  return note === '' ? { decision } : { decision, note };
}
