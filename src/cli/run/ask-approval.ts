import type { ApprovalAnswer, ApprovalRequest } from '../../run/core/options.js';
import { oneLine, sanitize, visible } from '../../util/terminal-text.js';
import type { Writer } from '../boot/command.js';
import { createStyle } from '../terminal/style.js';
import { askPerson } from './ask-person.js';

/** Asks on the terminal. An end of input, an abort, or no clear answer leaves the question open: the run pauses. */
export async function askApproval(
  { phase, text, signal, timeoutMs }: ApprovalRequest,
  err: Writer,
  suspendView: () => () => void,
): Promise<ApprovalAnswer> {
  const head = createStyle(err.color).bold(`${oneLine(phase)} needs an approval`);
  const shown = `\n${head}\n${visible(text).trimEnd()}\n`;
  const question = { text: shown, prompt: PROMPT, read: readApproval, again: AGAIN, signal, timeoutMs };
  return (await askPerson(question, err, suspendView)) ?? { decision: 'pause' };
}

const AGAIN = 'please say y (yes) or n (no)';
const PROMPT = 'approve? (y, y NOTE, n, n REASON): ';

/** What follows a yes and makes it doubtful. */
const DOUBTS =
  "n|no|nope|nah|not|never|or|but|wait|hold|stop|abort|cancel|q|quit|exit|reject|deny|maybe|do not|don['’]?t";
const DOUBT = new RegExp(`^(?:${DOUBTS})\\b|\\?$`, 'i');

/** Undefined when the answer is neither yes nor no: in doubt, nothing is approved. */
export function readApproval(line: string): ApprovalAnswer | undefined {
  // With control characters in it, the line is not what the person sees.
  if (sanitize(line) !== line) return undefined;
  const [, word, note = ''] = /^(y|yes|n|no)(?:[\s:,;.!–—-]+(.*))?$/i.exec(line.trim()) ?? [];
  if (word === undefined) return undefined;
  const decision = /^y/i.test(word) ? 'approve' : 'reject';
  if (decision === 'approve' && DOUBT.test(note)) return undefined;
  return note === '' ? { decision } : { decision, note };
}
