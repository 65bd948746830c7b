import type { WaitingApproval } from '../../run/history/decide-approval.js';
import type { DecisionLine } from '../../run/journal/lines.js';
import { formatAgo } from '../../util/duration.js';
import { oneLine, truncate } from '../../util/terminal-text.js';
import type { Style } from '../terminal/style.js';
import { adviceLines } from '../text/advice.js';
import { decideAdvice } from '../text/decide-command.js';

/** `approved by kim 3m ago: with care`. */
export function decisionText({ decision, by, at, note }: DecisionLine, now: number): string {
  const who = by === undefined ? '' : ` by ${oneLine(by)}`;
  const decided = decision === 'approve' ? 'approved' : 'rejected';
  return `${decided}${who} ${formatAgo(now - at)}${note ? `: ${oneLine(note)}` : ''}`;
}

/** A decision as JSON. */
export function decisionJson({ decision, at, note, by }: DecisionLine) {
  return { decision, by: by ?? null, at, note: note ?? null };
}

/** The questions of a paused run, each with how to decide it or what was decided. */
export function questionLines(
  waiting: readonly WaitingApproval[],
  runId: string,
  { style, now }: { readonly style: Style; readonly now: number },
): string[] {
  return waiting.flatMap(({ phase, text, decided }) =>
    decided
      ? [`${style.yellow('‖')} ${style.bold(phase)} ${decisionText(decided, now)}`]
      : [
          `${style.yellow('‖')} ${style.bold(phase)} asks: ${truncate(oneLine(text), 100)}`,
          ...adviceLines([decideAdvice(runId, phase)], { style }),
        ],
  );
}
