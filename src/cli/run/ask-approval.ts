import type { ApprovalAnswer, ApprovalRequest } from '../../run/core/options.js';
import { sanitize } from '../../util/terminal-text.js';
import type { Writer } from '../boot/command.js';
import { createStyle } from '../terminal/style.js';
import { askPerson } from './ask-person.js';

/** Asks on the terminal. An end of input or an abort leaves the question open: the run pauses. */
export async function askApproval(
  { phase, text, signal, timeoutMs }: ApprovalRequest,
  err: Writer,
  suspendView: () => () => void,
): Promise<ApprovalAnswer> {
  const head = createStyle(err.color).bold(`${phase} needs an approval`);
  const shown = `\n${head}\n${sanitize(text).trimEnd()}\n`;
  const question = { text: shown, prompt: PROMPT, read: readAnswer, signal, timeoutMs };
  return (await askPerson(question, err, suspendView)) ?? { decision: 'pause' };
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
