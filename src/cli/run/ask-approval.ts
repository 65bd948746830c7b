import { createInterface } from 'node:readline';
import type { ApprovalAnswer, ApprovalRequest } from '../../run/core/options.js';
import { sanitize } from '../../util/terminal-text.js';
import type { Writer } from '../boot/command.js';
import { createStyle } from '../terminal/style.js';

/** Asks on the terminal. An end of input or an abort leaves the question open: the run pauses. */
export async function askApproval(
  request: ApprovalRequest,
  err: Writer,
  suspendView: () => () => void,
): Promise<ApprovalAnswer> {
  if (request.signal.aborted) return { decision: 'pause' };
  const resumeView = suspendView();
  const style = createStyle(err.color);
  err.write(`\n${style.bold(`${request.phase} needs an approval`)}\n${sanitize(request.text).trimEnd()}\n`);
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
    for await (const line of lines) {
      isLineOpen = false;
      const answer = readAnswer(line);
      if (answer) return answer;
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

const PROMPT = 'approve (y), reject (n, or n REASON), or type a note to approve with: ';

/** Undefined when nothing was said. Anything that is neither yes nor no is a note, and a note approves. */
export function readAnswer(line: string): ApprovalAnswer | undefined {
  const text = sanitize(line).trim();
  if (text === '') return undefined;
  if (/^(y|yes|approve|ok)$/i.test(text)) return { decision: 'approve' };
  const reject = /^(?:n|no|reject)(?:[\s:,]+(.*))?$/i.exec(text);
  if (reject) return { decision: 'reject', ...(reject[1] ? { note: reject[1] } : {}) };
  return { decision: 'approve', note: text };
}
