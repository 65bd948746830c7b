import { formatDuration } from '../../util/duration.js';
import { displayWidth, oneLine, padEnd, truncate } from '../../util/terminal-text.js';
import type { Style } from '../terminal/style.js';
import { outcomeNote, tookText, usageFacts } from './notes.js';
import type { PhaseState } from './run-state.js';
import { spinner } from './spinner.js';

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
  /** Shown instead of the id. */
  readonly label?: string;
}

/** One phase on one line: glyph, id, then time, items, model, turns, tokens, cost and why. Never wider than asked. */
export function phaseLine(phase: PhaseState, options: LineOptions): string {
  const { style, width, idWidth } = options;
  const indent = ' '.repeat(options.indent ?? 0);
  const label = options.label ?? phase.id;
  const name = padEnd(truncate(label, idWidth), idWidth);
  const quiet = phase.state === 'waiting' || phase.state === 'skipped' || phase.state === 'cancelled';
  const head = `${indent}${glyph(phase, options)} ${quiet ? style.dim(name) : name}  `;
  const facts = [...phaseFacts(phase, options), ...phaseNote(phase, style)];
  return truncate(`${head}${joinFitting(facts, width - displayWidth(head), style)}`.trimEnd(), width);
}

/** A part of the line. Where space is short, the one with the lowest weight goes first. */
interface Fact {
  readonly text: string;
  readonly weight: number;
}

function joinFitting(facts: readonly Fact[], width: number, style: Style): string {
  const kept = [...facts];
  const joined = () => kept.map(({ text }) => text).join(style.dim(' · '));
  for (let text = joined(); ; text = joined()) {
    if (displayWidth(text) <= width || kept.every(({ weight }) => weight >= KEPT)) return text;
    const lightest = kept.reduce((least, fact) => (fact.weight < least.weight ? fact : least));
    kept.splice(kept.indexOf(lightest), 1);
  }
}

/** A fact of this weight or more is cut rather than dropped. */
const KEPT = 5;

function glyph(phase: PhaseState, { style, tick }: LineOptions): string {
  switch (phase.state) {
    case 'waiting':
      return style.dim('○');
    case 'running':
      return style.cyan(spinner(tick));
    case 'done':
      return style.green(phase.outcome?.cacheHit ? '●' : '✔');
    case 'failed':
      return phase.outcome?.optional ? style.yellow('!') : style.red('✖');
    case 'blocked':
      return phase.outcome?.optional ? style.yellow('!') : style.red('■');
    case 'paused':
      return style.yellow('‖');
    default:
      return style.dim('–');
  }
}

function phaseFacts(phase: PhaseState, options: LineOptions): Fact[] {
  const { now } = options;
  const facts: Fact[] = [];
  const { outcome } = phase;
  if (phase.state === 'running' && phase.startedAt !== undefined) {
    facts.push({ text: formatDuration(Math.max(0, now - phase.startedAt)).padStart(5), weight: KEPT });
  } else if (outcome && outcome.cacheHit === null && outcome.attempts > 0) {
    facts.push({ text: tookText(outcome).padStart(5), weight: KEPT });
  }
  facts.push(...itemFacts(phase, options));
  if (outcome?.cacheHit) return facts;
  if (phase.model !== undefined) facts.push({ text: oneLine(phase.model), weight: 2 });
  if (phase.turns) facts.push({ text: `${phase.turns} ${phase.turns === 1 ? 'turn' : 'turns'}`, weight: 1 });
  const [tokens, money] = usageFacts(phase.usage);
  if (tokens) facts.push({ text: tokens, weight: 3 });
  // While items are under way, people look for the total so far.
  if (money) facts.push({ text: money, weight: phase.state === 'running' && phase.items ? KEPT : 4 });
  return facts;
}

/** On a narrow terminal, the counts say more than the bar. */
function barWidth(width: number): number {
  if (width < 45) return 0;
  return width < 65 ? 8 : 16;
}

/** A bar while items are under way, counts afterwards. */
function itemFacts({ state, items, outcome }: PhaseState, { style, width }: LineOptions): Fact[] {
  if (state === 'running' && items && items.total > 0) {
    const ended = items.done + items.failed;
    const cells = barWidth(width);
    const filled = Math.min(cells, Math.floor((cells * ended) / items.total));
    const bar = style.cyan('█'.repeat(filled)) + style.dim('░'.repeat(cells - filled));
    return [
      { text: `${bar} ${ended}/${items.total}`.trimStart(), weight: KEPT },
      ...countFacts(items.reused, items.failed, style),
    ];
  }
  const counts = outcome?.items;
  if (!counts) return [];
  const total = { text: `${counts.total} ${counts.total === 1 ? 'item' : 'items'}`, weight: KEPT };
  const executed = counts.executed > 0 ? [{ text: `${counts.executed} executed`, weight: 4 }] : [];
  return [total, ...executed, ...countFacts(counts.reused, counts.failed, style)];
}

function countFacts(reused: number, failed: number, style: Style): Fact[] {
  const facts: Fact[] = [];
  if (reused > 0) facts.push({ text: `${reused} reused`, weight: 3 });
  if (failed > 0) facts.push({ text: style.red(`${failed} failed`), weight: KEPT });
  return facts;
}

/** `item 3 (e2e), 2 more`: what is under way in a map. */
function currentText({ items }: PhaseState): string | undefined {
  if (items?.current === undefined) return undefined;
  const more = (items.running ?? 1) - 1;
  return `${oneLine(items.current)}${more > 0 ? `, ${more} more` : ''}`;
}

function phaseNote(phase: PhaseState, style: Style): Fact[] {
  const { outcome, state } = phase;
  const note = (text: string) => [{ text, weight: KEPT }];
  if (outcome) {
    const text = outcomeNote(outcome);
    if (state === 'failed' || state === 'blocked') return note((outcome.optional ? style.yellow : style.red)(text));
    return note(outcome.cacheHit ? style.cyan(text) : style.dim(text));
  }
  const current = currentText(phase);
  if (current !== undefined) return note(style.dim(current));
  if (phase.note !== undefined) return note(style.dim(oneLine(phase.note)));
  return [];
}
