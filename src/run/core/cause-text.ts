import type { Failure } from '../../model/failure.js';
import { oneLine } from '../../util/terminal-text.js';

const LONGEST = 200;

/** `sh exited with status 1: no such table`: the message, and the last line of what was said on stderr. */
export function causeText(failure: Pick<Failure, 'message' | 'detail'>, mask: (text: string) => string): string {
  const message = mask(failure.message);
  const last = oneLine(mask(failure.detail?.trimEnd().split('\n').at(-1) ?? '')).trim();
  return last === '' || message.includes(last) ? message : `${message}: ${last.slice(0, LONGEST)}`;
}
