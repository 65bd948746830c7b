import type { ShownOutcome } from '../../model/outcome.js';
import { oneLine, sanitize } from '../../util/terminal-text.js';
import type { Style } from '../terminal/style.js';

const TAIL_LINES = 12;

/** A failure: the first line, then the rest of the message, what was printed, and what to do. */
export function failureText(outcome: ShownOutcome | undefined, style: Style): { first: string; under: string[] } {
  const failure = outcome?.failure;
  const message = sanitize(failure?.message ?? outcome?.reason ?? '').trimEnd();
  const [first = '', ...rest] = message.split('\n');
  const under = rest.slice(0, TAIL_LINES).map((line) => `  ${line}`);
  const said = tailOf(failure?.detail);
  // A message that already quotes the whole output is enough.
  const isQuoted = said.length === 1 && message.endsWith(said[0]!.trim());
  if (!isQuoted) under.push(...said.map((line) => `  ${style.dim('│')} ${line}`));
  if (failure?.hint) under.push(`  ${style.dim('→')} ${oneLine(failure.hint)}`);
  return { first, under };
}

function tailOf(detail: string | undefined): string[] {
  if (!detail) return [];
  const lines = sanitize(detail).trimEnd().split('\n');
  return lines.length <= TAIL_LINES ? lines : ['…', ...lines.slice(-TAIL_LINES)];
}
