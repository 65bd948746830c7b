import type { Failure, FailureCode } from '../../model/failure.js';
import { oneLine } from '../../util/terminal-text.js';

const LONGEST = 200;
/** Their detail is not what a program said last, but words of ours: a list, a comparison, a stack. */
const OUR_WORDS: ReadonlySet<FailureCode> = new Set<FailureCode>(['in-doubt', 'items', 'bad-flow', 'internal']);

/** `sh exited with status 1: no such table`: the message, and the last line of what was said on stderr. */
export function causeText(
  failure: Pick<Failure, 'code' | 'message' | 'detail'>,
  mask: (text: string) => string,
): string {
  const message = mask(failure.message);
  if (OUR_WORDS.has(failure.code)) return message;
  const last = oneLine(mask(failure.detail?.trimEnd().split('\n').at(-1) ?? '')).trim();
  return last === '' || message.includes(last) ? message : `${message}: ${last.slice(0, LONGEST)}`;
}
