import { formatDuration } from '../../util/duration.js';
import { oneLine, padEnd, truncate } from '../../util/terminal-text.js';
import type { Style } from '../style.js';
import { outcomeNote, usageFacts } from './notes.js';
import type { PhaseState } from './run-state.js';

export interface LineOptions {
  readonly style: Style;
  /** Cells of the whole line. */
  readonly width: number;
  /** Cells of the column with the phase ids. */
  readonly idWidth: number;
  readonly now: number;
  /** Picture of the spinner, 0 and up. */
  readonly tick: number;
  readonly indent?: number;
}

const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** One phase on one line: glyph, id, then time, model, turns, tokens, cost, items and why. Never wider than asked. */
export function phaseLine(phase: PhaseState, options: LineOptions): string {
  const { style, width, idWidth } = options;
  const indent = ' '.repeat(options.indent ?? 0);
  const name = padEnd(truncate(phase.id, idWidth), idWidth);
  const quiet = phase.state === 'waiting' || phase.state === 'skipped' || phase.state === 'cancelled';
  const head = `${indent}${glyph(phase, options)} ${quiet ? style.dim(name) : name}`;
  const facts = [...phaseFacts(phase, options), ...phaseNote(phase, style)];
  return truncate(`${head}  ${facts.join(style.dim(' · '))}`.trimEnd(), width);
}

function glyph(phase: PhaseState, { style, tick }: LineOptions): string {
  switch (phase.state) {
    case 'waiting':
      return style.dim('○');
    case 'running':
      return style.cyan(SPINNER[tick % SPINNER.length]!);
    case 'done':
      return phase.outcome?.failure ? style.yellow('!') : style.green(phase.outcome?.cacheHit ? '●' : '✔');
    case 'failed':
      return style.red('✖');
    case 'blocked':
      return style.red('■');
    case 'paused':
      return style.yellow('‖');
    default:
      return style.dim('–');
  }
}

function phaseFacts(phase: PhaseState, { style, now }: LineOptions): string[] {
  const facts: string[] = [];
  const { outcome } = phase;
  if (phase.state === 'running' && phase.startedAt !== undefined) {
    facts.push(formatDuration(Math.max(0, now - phase.startedAt)).padStart(5));
  } else if (outcome && outcome.cacheHit === null && outcome.attempts > 0) {
    facts.push(formatDuration(outcome.durationMs).padStart(5));
  }
  if (outcome?.cacheHit) return [...facts, ...itemFacts(phase, style)];
  if (phase.model !== undefined) facts.push(oneLine(phase.model));
  if (phase.turns !== undefined && phase.turns > 0)
    facts.push(`${phase.turns} ${phase.turns === 1 ? 'turn' : 'turns'}`);
  facts.push(...usageFacts(phase.usage), ...itemFacts(phase, style));
  return facts;
}

const BAR = 16;

/** A bar while items are under way, counts afterwards. */
function itemFacts({ state, items, outcome }: PhaseState, style: Style): string[] {
  if (state === 'running' && items && items.total > 0) {
    const filled = Math.min(BAR, Math.floor((BAR * (items.done + items.failed)) / items.total));
    const bar = style.cyan('█'.repeat(filled)) + style.dim('░'.repeat(BAR - filled));
    const facts = [`${bar} ${items.done + items.failed}/${items.total}`];
    if (items.reused > 0) facts.push(`${items.reused} reused`);
    if (items.failed > 0) facts.push(style.red(`${items.failed} failed`));
    return facts;
  }
  const counts = outcome?.items;
  if (!counts) return [];
  const facts = [`${counts.total} ${counts.total === 1 ? 'item' : 'items'}`];
  if (counts.executed > 0) facts.push(`${counts.executed} executed`);
  if (counts.reused > 0) facts.push(`${counts.reused} reused`);
  if (counts.failed > 0) facts.push(style.red(`${counts.failed} failed`));
  return facts;
}

function phaseNote(phase: PhaseState, style: Style): string[] {
  const { outcome, state } = phase;
  if (outcome) {
    const note = outcomeNote(outcome);
    if (state === 'failed' || state === 'blocked') return [style.red(note)];
    return [outcome.cacheHit ? style.cyan(note) : style.dim(note)];
  }
  if (phase.note !== undefined) return [style.dim(oneLine(phase.note))];
  if (state === 'running' && phase.reason) return [style.dim(oneLine(phase.reason))];
  return [];
}
