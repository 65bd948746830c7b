import type { RunStatus } from '../../model/event.js';
import { waitsFor } from '../../model/failure.js';
import { formatDuration } from '../../util/duration.js';
import { formatBill } from '../../util/format.js';
import { oneLine } from '../../util/terminal-text.js';
import type { Style } from '../terminal/style.js';
import { type Advice, adviceLines } from '../text/advice.js';
import { decideAdvice } from '../text/decide-command.js';
import { countStates } from './draw.js';
import { failureText } from './failure-lines.js';
import type { PhaseState, RunState } from './run-state.js';

const WORDS: Readonly<Record<RunStatus, string>> = {
  success: 'succeeded',
  failed: 'failed',
  blocked: 'was blocked by a gate',
  paused: 'waits for an approval',
  'over-budget': 'stopped: the budget is used up',
  interrupted: 'was interrupted',
};

interface ClosingOptions {
  readonly named?: boolean;
  readonly columns?: number;
}

function wordsFor({ status, error }: NonNullable<RunState['end']>): string {
  if (status === 'paused') return `waits for ${waitsFor(error)}`;
  return error?.code === 'rejected' ? 'was rejected' : WORDS[status];
}

/**
 * The last lines of a run: how it went, what failed and why, what was spent and saved, and what to do next. `named`:
 * each failure was shown when it happened. `columns`: the width of the terminal.
 */
export function closingLines(state: RunState, style: Style, { named = false, columns }: ClosingOptions = {}): string[] {
  const { end } = state;
  if (!end) return [];
  // Phases that no event has named have nothing to count.
  const counts = countStates(state.byId.values());
  const mark = { success: style.green('✔'), paused: style.yellow('‖') }[end.status as string] ?? style.red('✖');
  const parts = [`${counts.executed} executed`, `${counts.reused} reused`];
  if (counts.failed > 0) parts.push(`${counts.failed} failed`);
  if (counts.tolerated > 0) parts.push(`${counts.tolerated} optional failed`);
  const bill = formatBill(end.spent, end.saved);
  const name = style.bold(oneLine(state.flow));
  return [
    ...(end.status === 'success' && counts.tolerated === 0 ? [] : failureLines(state, style, named)),
    `${mark} ${name} ${wordsFor(end)} after ${formatDuration(end.durationMs)}: ${parts.join(', ')}`,
    ...(bill === '' ? [] : [`  ${bill}`]),
    ...adviceLines(nextSteps(state), { style, columns }),
  ];
}

const GOES_ON = 'goes on with what is done';
const MAX_FAILURES = 5;
const MAX_ASKED = 10;

function failureLines(state: RunState, style: Style, named: boolean): string[] {
  const failed = state.phases.filter(({ state: phase }) => phase === 'failed' || phase === 'blocked');
  // The failures that stopped the run come first.
  const [tolerated, stopping] = [failed.filter(isOptional), failed.filter((phase) => !isOptional(phase))];
  const shown = named ? [] : [...stopping, ...tolerated].slice(0, MAX_FAILURES);
  const lines = shown.flatMap((phase) => failureOf(phase, style));
  if (!named && failed.length > MAX_FAILURES) lines.push(`${failed.length - MAX_FAILURES} more phases failed`, '');
  return stopping.length === 0 ? [...lines, ...endErrorLines(state, style)] : lines;
}

function isOptional({ outcome }: PhaseState): boolean {
  return outcome?.optional === true;
}

/** No phase failed: the time or the money of the whole run was used up. */
function endErrorLines({ end }: RunState, style: Style): string[] {
  if (!end?.error || end.status === 'paused' || end.status === 'interrupted') return [];
  const { message, hint } = end.error;
  const lines = [`${style.red('✖')} ${oneLine(message)}`];
  return [...lines, ...(hint ? [`  ${style.dim('→')} ${oneLine(hint)}`] : []), ''];
}

function failureOf({ id, state, outcome }: PhaseState, style: Style): string[] {
  const { first, under } = failureText(outcome, style);
  const mark = outcome?.optional ? style.yellow('!') : style.red(state === 'blocked' ? '■' : '✖');
  const optional = outcome?.optional ? ', and is optional' : '';
  return [`${mark} ${style.bold(id)} ${state}${optional}: ${first}`, ...under, ''];
}

function nextSteps(state: RunState): Advice[] {
  const { runId, end } = state;
  if (end!.unrecorded) return [];
  const inDoubt = end!.error?.code === 'in-doubt';
  switch (end!.status) {
    case 'success':
      return [];
    case 'paused': {
      if (end!.error?.code === 'usage-limit') return [[`taskflow resume ${runId}`, 'goes on when it has reset']];
      const waiting = [...state.asked];
      const decide = waiting.slice(0, MAX_ASKED).map((path) => decideAdvice(runId, path));
      if (waiting.length > MAX_ASKED)
        decide.push([`taskflow runs show ${runId}`, `shows all ${waiting.length} questions`]);
      return [...decide, [`taskflow resume ${runId}`, 'goes on once it is decided']];
    }
    case 'over-budget':
      return [[`taskflow resume ${runId} --max-usd N`, 'goes on with a higher budget']];
    case 'interrupted':
      return [[`taskflow resume ${runId}`, GOES_ON]];
    default:
      return [
        [`taskflow trace ${runId}`, 'shows every attempt with its inputs'],
        [`taskflow resume ${runId}${inDoubt ? ' …' : ''}`, inDoubt ? 'goes on, with --rerun or --skip' : GOES_ON],
      ];
  }
}
