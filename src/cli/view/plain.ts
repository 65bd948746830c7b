import type { RunEvent } from '../../model/event.js';
import type { FailureCode } from '../../model/failure.js';
import { formatDuration } from '../../util/duration.js';
import { oneLine } from '../../util/terminal-text.js';
import type { Style } from '../terminal/style.js';
import { limitText } from '../text/limit-text.js';
import { failureText } from './failure-lines.js';
import { outcomeNote, tookText, usageFacts } from './notes.js';
import type { RunState } from './run-state.js';

/** One line per change, for logs and pipes; an empty list where the event changes nothing worth a line. */
export function plainLines(state: RunState, event: RunEvent, style: Style): string[] {
  switch (event.type) {
    case 'run-start':
      return [`${style.bold(oneLine(event.flow))} ${style.dim(event.runId)}`, ...continuingLines(state)];
    case 'phase-start':
      return [`${style.cyan('▸')} ${event.phase} started`];
    case 'phase-waiting':
      return [`${style.dim('…')} ${event.phase} waits for ${oneLine(event.for)}`];
    case 'limit':
      return [limitLine(event, style)];
    case 'retry':
      return [retryLine(event.phase, event, style)];
    case 'phase-end':
      return endLines(state, event, style);
    case 'approval':
      return [`${style.yellow('‖')} ${event.phase} asks: ${oneLine(event.text)}`];
    case 'warning':
      return [warningLine(event.phase, event.message, style)];
    default:
      return [];
  }
}

/** `continuing run … (failed 5m ago): 2 of 3 phases reused; --fresh starts over`. */
export function continuingLines({ continues }: RunState): string[] {
  if (!continues) return [];
  const { runId, reusable, total, notice, known } = continues;
  const atLeast = known === 'at-least';
  const counted = `${reusable} of ${total} phases ${known === 'done' ? 'done there' : 'reused'}`;
  const facts = [`continuing run ${runId}${notice === undefined ? '' : ` (${oneLine(notice)})`}`];
  if (!atLeast || reusable > 0) facts.push(`: ${atLeast ? 'at least ' : ''}${counted}`);
  // Whoever named the run, or phases of it, wants it continued.
  if (notice !== undefined) facts.push('; --fresh starts over');
  return [facts.join('')];
}

type Retry = Extract<RunEvent, { readonly type: 'retry' }>;

/** `↻ review [item 3] attempt 1 failed: …; again in 2s`. */
export function retryLine(phase: string, { unit, attempt, error, delayMs }: Retry, style: Style): string {
  const name = unit === undefined ? phase : `${phase} [${oneLine(unit)}]`;
  const failed = `attempt ${attempt} failed: ${oneLine(error)}`;
  return `${style.yellow('↻')} ${name} ${failed}; again in ${formatDuration(delayMs)}`;
}

export function limitLine(event: Extract<RunEvent, { readonly type: 'limit' }>, style: Style): string {
  return `${style.yellow('‖')} ${limitText(event)}`;
}

export function warningLine(phase: string | undefined, message: string, style: Style): string {
  return `${style.yellow('warning:')} ${phase === undefined ? '' : `${phase}: `}${oneLine(message)}`;
}

function hitGlyph(style: Style): string {
  return style.green('●');
}

const GLYPHS = { done: '✔', failed: '✖', blocked: '■', paused: '‖', skipped: '–', cancelled: '–' } as const;

type PhaseEnd = Extract<RunEvent, { readonly type: 'phase-end' }>;

/** Shows a failure once, where it happened: the phases around it only report that a part failed. */
function endLines(state: RunState, event: PhaseEnd, style: Style): string[] {
  const { phase, outcome } = event;
  if (outcome.status !== 'failed' && outcome.status !== 'blocked') return [endLine(event, style)];
  const inside = causeInside(state, phase, outcome);
  const { first, under } = failureText(outcome, style);
  const note = inside === undefined || outcome.items ? first : `see ${inside} above`;
  return [endLine(event, style, note), ...(inside === undefined ? under : [])];
}

/** Failures that only report the failure of a part. */
const OF_A_PART: ReadonlySet<FailureCode | undefined> = new Set<FailureCode>([
  'nested',
  'items',
  'blocked',
  'rejected',
  'in-doubt',
  'frozen',
]);

function causeInside({ failedInside }: RunState, phase: string, { failure }: PhaseEnd['outcome']): string | undefined {
  if (!OF_A_PART.has(failure?.code)) return undefined;
  return failedInside.find((path) => path.startsWith(`${phase}/`) || path.startsWith(`${phase}[`));
}

function endLine({ phase, outcome }: PhaseEnd, style: Style, failed?: string): string {
  const { status, cacheHit } = outcome;
  if (cacheHit !== null && !outcome.items) return `${hitGlyph(style)} ${phase}  ${outcomeNote(outcome)}`;
  const isBad = status === 'failed' || status === 'blocked';
  const color = status === 'done' ? style.green : outcome.optional ? style.yellow : isBad ? style.red : style.dim;
  const facts: string[] = [];
  if (cacheHit === null && outcome.attempts > 0) facts.push(tookText(outcome), ...usageFacts(outcome.usage));
  if (outcome.items) facts.push(`${outcome.items.executed} of ${outcome.items.total} items executed`);
  // The note of an optional phase already has the word.
  const word = status === 'done' || outcome.optional ? '' : ` ${status}`;
  const glyph = outcome.optional ? '!' : cacheHit ? '●' : GLYPHS[status];
  const note =
    failed === undefined ? outcomeNote(outcome) : outcome.optional ? `${status}, and is optional: ${failed}` : failed;
  const details = [...facts, status === 'skipped' || status === 'cancelled' ? oneLine(outcome.reason) : note].filter(
    Boolean,
  );
  return `${color(glyph)} ${phase}${word}${details.length > 0 ? `  ${details.join(' · ')}` : ''}`;
}
