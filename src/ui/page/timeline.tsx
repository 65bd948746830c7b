import { formatDuration } from '../../util/duration.js';
import { plural } from '../../util/format.js';
import { oneLine } from '../../util/terminal-text.js';
import type { PhaseView, RunView, UnitView } from '../view/types.js';
import { Icon } from './icon.js';
import { chosenBy, focusDetail, phaseKeys } from './keys.js';
import { selection, selectPhase } from './state.js';
import { outcomeOf, outcomeWord, whyText } from './words.js';

interface Span {
  readonly start: number;
  readonly ms: number;
}

/** When each phase waited and executed. A reused phase is a mark, since it took no time. */
export function Timeline({ run }: { readonly run: RunView }) {
  const { phases } = run;
  const ends = phases.map(({ endedAt }) => endedAt ?? 0);
  const span = {
    start: run.startedAt,
    ms: Math.max(1, run.endedAt - run.startedAt, ...ends.map((at) => at - run.startedAt)),
  };
  const shown = [...phases].sort((a, b) => begun(a) - begun(b));
  const ids = shown.map(({ id }) => id);
  const { focusable, onKeyDown } = phaseKeys(ids, focusDetail);
  return (
    <div class="timeline">
      <Axis span={span} />
      <div
        role="listbox"
        tabIndex={-1}
        aria-label="Phases by time"
        class="lanes"
        onClick={chosenBy((id) => selectPhase(id))}
        onKeyDown={onKeyDown}
      >
        {shown.map((phase) => (
          <Lane key={phase.id} phase={phase} span={span} focusable={phase.id === focusable} now={run.endedAt} />
        ))}
      </div>
      <p class="legend" aria-hidden="true">
        <span class="key is-waits" /> waited <span class="key is-runs" /> executed <span class="key is-mark" /> reused
      </p>
    </div>
  );
}

function begun({ startedAt, endedAt }: PhaseView): number {
  return startedAt ?? endedAt ?? Number.MAX_SAFE_INTEGER;
}

const STEPS = [1, 2, 5];

function Axis({ span }: { readonly span: Span }) {
  return (
    <div class="axis" aria-hidden="true">
      {ticks(span.ms).map((ms) => (
        <span key={ms} style={{ left: `${(ms / span.ms) * 100}%` }}>
          {ms === 0 ? '0' : formatDuration(ms)}
        </span>
      ))}
    </div>
  );
}

/** Round numbers, five or so. */
function ticks(ms: number): readonly number[] {
  const rough = ms / 5;
  const ten = 10 ** Math.floor(Math.log10(rough));
  const units = [...STEPS.map((step) => step * ten), 10 * ten];
  const minutes = [15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000, 1_800_000, 3_600_000];
  const step = [...(rough > 10_000 ? minutes : []), ...units].find((each) => each >= rough) ?? rough;
  return Array.from({ length: Math.floor((ms * 0.96) / step) + 1 }, (_, index) => index * step);
}

interface LaneProps {
  readonly phase: PhaseView;
  readonly span: Span;
  readonly focusable: boolean;
  /** The present end of phases that are under way. */
  readonly now: number;
}

function Lane({ phase, span, focusable, now }: LaneProps) {
  const { id, startedAt, readyAt } = phase;
  const outcome = outcomeOf(phase);
  const end = phase.endedAt ?? (startedAt === undefined ? undefined : now);
  const waited = readyAt !== undefined && startedAt !== undefined ? Math.max(0, startedAt - readyAt) : 0;
  const took = startedAt !== undefined && end !== undefined ? formatDuration(Math.max(phase.durationMs, 0)) : '';
  const shown = phase.hit !== undefined ? 'reused' : startedAt === undefined ? outcomeWord(phase) : took;
  const wait = waited > 0 ? `, waited ${formatDuration(waited)}` : '';
  const word = phase.hit === undefined && startedAt !== undefined ? `, ${outcomeWord(phase)}` : '';
  const label = `${oneLine(id)} ${shown}${word}${wait}: ${whyText(phase)}`;
  return (
    <div
      class={`lane is-${outcome}`}
      role="option"
      aria-selected={selection.value.phase === id}
      aria-label={label}
      tabIndex={focusable ? 0 : -1}
      data-phase={id}
    >
      <span class="lane-name">
        <Icon of={outcome} />
        <span>{oneLine(id)}</span>
      </span>{' '}
      <span class="lane-bars">
        {waited > 0 && <Bar kind="waits" from={readyAt!} to={startedAt!} span={span} />}
        {phase.hit !== undefined && end !== undefined && <Mark at={end} span={span} />}
        {phase.hit === undefined && startedAt !== undefined && end !== undefined && (
          <Bar kind="runs" from={startedAt} to={end} span={span} text={took} free={waited > 0 ? readyAt! : startedAt} />
        )}
        {phase.hit === undefined && startedAt === undefined && end !== undefined && (
          <BarText after={percent(end, span)} before={percent(end, span)} text={outcomeWord(phase)} />
        )}
        {selection.value.phase === id && <Units units={phase.units} span={span} />}
      </span>
    </div>
  );
}

interface BarProps {
  readonly kind: string;
  readonly from: number;
  readonly to: number;
  readonly span: Span;
  readonly text?: string;
  /** Where the text may end, if there is no room after the bar. */
  readonly free?: number;
}

function Bar({ kind, from, to, span, text, free = from }: BarProps) {
  const [left, right] = [percent(from, span), percent(Math.max(from, to), span)];
  return (
    <>
      <span class={`bar is-${kind}`} style={{ left: `${left}%`, width: `${right - left}%` }} />
      {text !== undefined && <BarText after={right} before={percent(free, span)} text={text} />}
    </>
  );
}

function Mark({ at, span }: { readonly at: number; readonly span: Span }) {
  const left = percent(at, span);
  return (
    <>
      <span class="reused-mark" style={{ left: `${left}%` }} />
      <BarText after={left} before={left} text="reused" />
    </>
  );
}

function percent(at: number, span: Span): number {
  return ((at - span.start) / span.ms) * 100;
}

/** After its bar, or before it where the page ends. */
function BarText({ after, before, text }: { readonly after: number; readonly before: number; readonly text: string }) {
  const isBefore = after > 85;
  return (
    <span class={`bar-text${isBefore ? ' is-before' : ''}`} style={{ left: `${isBefore ? before : after}%` }}>
      {text}
    </span>
  );
}

const MOST_DRAWN = 400;
const MOST_LANES = 12;

/** The items of the selected phase that executed, side by side as they ran. */
function Units({ units, span }: { readonly units: readonly UnitView[]; readonly span: Span }) {
  const executed = units.filter(
    ({ hit, startedAt, endedAt }) => hit === undefined && startedAt !== undefined && endedAt !== undefined,
  );
  if (executed.length === 0) return null;
  const free: number[] = [];
  const placed = executed.slice(0, MOST_DRAWN).map((unit) => {
    const found = free.findIndex((until) => until <= unit.startedAt!);
    const lane = found === -1 ? Math.min(free.length, MOST_LANES - 1) : found;
    free[lane] = unit.endedAt!;
    return { unit, lane };
  });
  return (
    <span class="unit-lanes" style={{ height: `${free.length * 8 + 4}px` }}>
      {placed.map(({ unit, lane }) => (
        <span
          key={unit.name}
          class={`unit-bar is-${outcomeOf(unit)}`}
          title={`${oneLine(unit.label)}: ${formatDuration(unit.durationMs)}`}
          style={{
            left: `${percent(unit.startedAt!, span)}%`,
            width: `${((unit.endedAt! - unit.startedAt!) / span.ms) * 100}%`,
            top: `${lane * 8 + 2}px`,
          }}
        />
      ))}
      {executed.length > MOST_DRAWN && (
        <span class="note">{plural(executed.length - MOST_DRAWN, 'more item')} not drawn</span>
      )}
    </span>
  );
}
