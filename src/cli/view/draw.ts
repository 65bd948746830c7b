import { formatDuration } from '../../util/duration.js';
import { plural } from '../../util/format.js';
import { displayWidth, oneLine, truncate } from '../../util/terminal-text.js';
import type { Style } from '../terminal/style.js';
import { waitingText } from '../text/limit-text.js';
import { type LineOptions, phaseLine } from './phase-line.js';
import type { PhaseState, RunState } from './run-state.js';
import { runTimeLeft, type UsualTimes } from './time-left.js';

export interface DrawOptions {
  readonly style: Style;
  readonly columns: number;
  /** Lines that may be used. */
  readonly rows: number;
  readonly now: number;
  readonly tick: number;
  /** For an estimate of the time that is left. */
  readonly usual?: UsualTimes;
}

/**
 * The picture of a run: a line per phase in the order of the DAG, or, where they do not fit, those that matter most
 * (under way, failed, just ended, next) and a count of the others. A pure function of state and size.
 */
export function drawRun(state: RunState, options: DrawOptions): string[] {
  const { style, columns, rows } = options;
  const width = Math.max(20, columns - 1);
  const header = truncate(headerLine(state, options, width), width);
  const room = Math.max(1, rows - 1);
  const chosen = choosePhases(state.phases, room, state.end !== undefined);
  const lineOptions: LineOptions = { ...options, width, idWidth: idColumn(chosen, width) };
  const lines = [header];
  for (const phase of chosen) {
    lines.push(phaseLine(phase, lineOptions));
    if (phase.state === 'running') lines.push(...nestedLines(state, phase, lineOptions));
  }
  const left = state.phases.length - chosen.length;
  if (left === 0) return lines.slice(0, rows);
  // The count stands where the lines are missing, if that is one place.
  const isBefore = state.phases.indexOf(chosen[0]!) === left;
  const rest = truncate(style.dim(`  … ${plural(left, isBefore ? 'earlier phase' : 'more phase')}`), width);
  if (isBefore) return [header, rest, ...lines.slice(1)].slice(0, rows);
  return [...lines.slice(0, rows - 1), rest];
}

/** `release · 12 of 40 done · 3 running · 1 failed · 1m 5s · about 2m left`. */
function headerLine(state: RunState, { style, now, usual }: DrawOptions, width: number): string {
  const counts = countStates(state.phases);
  const facts = [`${counts.settled} of ${state.phases.length} done`];
  if (counts.reused > 0) facts.push(`${counts.reused} reused`);
  if (counts.running > 0 && !state.end) facts.push(`${counts.running} running`);
  if (counts.failed > 0) facts.push(style.red(`${counts.failed} failed`));
  if (counts.tolerated > 0) facts.push(style.yellow(`${counts.tolerated} optional failed`));
  facts.push(formatDuration(state.end?.durationMs ?? Math.max(0, now - state.startedAt)));
  if (state.limit?.waits && state.limit.until > now && !state.end) {
    facts.push(style.yellow(waitingText(state.limit, now)));
  }
  const left = state.end || !usual ? undefined : runTimeLeft(state, usual, now);
  if (left !== undefined) facts.push(`about ${formatDuration(left)} left`);
  const name = style.bold(oneLine(state.flow));
  const rest = facts.join(style.dim(' · '));
  const whole = `${name} ${style.dim(state.runId)}  ${rest}`;
  // On a narrow terminal, the counts matter more than the id.
  return displayWidth(whole) <= width ? whole : `${name}  ${rest}`;
}

/** `executed` and `reused` count as `reuse` in the run's result: a failed phase was executed, too. */
export function countStates(phases: Iterable<PhaseState>) {
  const counts = { settled: 0, reused: 0, running: 0, failed: 0, tolerated: 0, executed: 0 };
  for (const { state, outcome } of phases) {
    if (state === 'running') counts.running++;
    else if (outcome?.optional) counts.tolerated++;
    else if (state === 'failed' || state === 'blocked') counts.failed++;
    else if (state === 'done' || state === 'skipped') counts.settled++;
    if (outcome?.cacheHit) counts.reused++;
    else if (outcome && !outcome.noWork && (outcome.status === 'done' || outcome.attempts > 0)) counts.executed++;
  }
  return counts;
}

/** All phases if they fit; else the most important ones, in the flow's order. */
function choosePhases(phases: readonly PhaseState[], room: number, ended: boolean): readonly PhaseState[] {
  if (phases.length <= room) return phases;
  const slots = Math.max(1, room - 1); // One line says how many are left out.
  const ranked = phases.map((phase, index) => ({
    index,
    rank: importance(phase, ended ? index : phases.length - index, index),
  }));
  ranked.sort((a, b) => b.rank - a.rank || a.index - b.index);
  return ranked
    .slice(0, slots)
    .sort((a, b) => a.index - b.index)
    .map(({ index }) => phases[index]!);
}

/** The higher, the sooner it is shown. `place`: the phase's distance from the running ones. */
function importance(phase: PhaseState, place: number, index: number): number {
  switch (phase.state) {
    case 'running':
      return 5_000_000;
    case 'failed':
    case 'blocked':
    case 'paused':
      return 4_000_000;
    case 'done':
      // An executed phase is more interesting than a reused one.
      return phase.outcome?.cacheHit ? 1_000_000 - place : 2_000_000 + index;
    case 'waiting':
      return 1_500_000 - index;
    default:
      return 500_000 - index;
  }
}

const MAX_NESTED = 4;

function nestedLines(state: RunState, phase: PhaseState, options: LineOptions): string[] {
  if (state.nested.size === 0) return [];
  const inside: PhaseState[] = [];
  for (const nested of state.nested.values()) {
    if (nested.state === 'running' && nested.id.startsWith(`${phase.id}/`)) inside.push(nested);
  }
  const shown = inside.slice(0, MAX_NESTED).map((nested) => ({ nested, label: nested.id.slice(phase.id.length + 1) }));
  const widest = Math.max(options.idWidth - 2, ...shown.map(({ label }) => Math.min(24, displayWidth(label))));
  const lines = shown.map(({ nested, label }) => phaseLine(nested, { ...options, indent: 2, idWidth: widest, label }));
  if (inside.length > MAX_NESTED) lines.push(options.style.dim(`    … ${inside.length - MAX_NESTED} more inside`));
  return lines;
}

function idColumn(phases: readonly PhaseState[], width: number): number {
  let widest = 4;
  for (const { id } of phases) widest = Math.max(widest, displayWidth(id));
  return Math.min(widest, Math.max(8, Math.floor(width * 0.35)));
}
