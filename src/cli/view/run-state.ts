import type { EndError, RunEvent, RunStatus } from '../../model/event.js';
import { NO_USAGE, type Savings, type ShownOutcome, type Spent, type Usage } from '../../model/outcome.js';
import { type DagNode, dagOrder } from '../../plan/dag-order.js';

/** The state of a run, folded from its events by `applyEvent`. Drawing only reads it. */
export interface RunState {
  runId: string;
  flow: string;
  file?: string;
  startedAt: number;
  continues?: NonNullable<Extract<RunEvent, { readonly type: 'run-start' }>['continues']>;
  /** The phases that the run's start announces. */
  outline: { readonly phases: readonly DagNode[] };
  /** All phases of the flow itself, in the order of the DAG. Built when they are first drawn. */
  readonly phases: readonly PhaseState[];
  /** Phases that an event or a drawing has named: each is the same object from then on. */
  readonly byId: Map<string, PhaseState>;
  /** Phases of nested flows that are under way, by full path. */
  nested: Map<string, PhaseState>;
  /** Full paths of failed phases inside of others. */
  failedInside: string[];
  /** Full paths of the approvals that wait for a person. */
  asked: Set<string>;
  /** The last usage limit; it ends at its time. */
  limit?: Extract<RunEvent, { readonly type: 'limit' }>;
  warnings: string[];
  end?: {
    readonly status: RunStatus;
    readonly spent: Spent;
    readonly saved: Savings;
    readonly durationMs: number;
    readonly error?: EndError;
    readonly unrecorded?: true;
  };
}

export interface PhaseState {
  readonly id: string;
  state: 'waiting' | 'running' | ShownOutcome['status'];
  startedAt?: number;
  reason?: string;
  model?: string;
  turns?: number;
  /** The last count of each unit, while the phase is under way. */
  turnsOf?: Map<string, number>;
  usage: Usage;
  items?: Extract<RunEvent, { readonly type: 'phase-progress' }>['items'];
  /** What it is doing: a tool, a pause, what it waits for. */
  note?: string | undefined;
  outcome?: ShownOutcome;
}

export function createRunState(): RunState {
  let ordered: readonly PhaseState[] | undefined;
  let of: RunState['outline'] | undefined;
  return {
    runId: '',
    flow: '',
    startedAt: 0,
    outline: { phases: [] },
    get phases() {
      if (!ordered || of !== this.outline || ordered.length < this.byId.size) ordered = inOrder(this);
      of = this.outline;
      return ordered;
    },
    byId: new Map(),
    nested: new Map(),
    failedInside: [],
    asked: new Set(),
    warnings: [],
  };
}

/** Phases that are not in the outline come last. */
function inOrder({ outline, byId }: RunState): readonly PhaseState[] {
  const known = new Set<PhaseState>();
  for (const { id } of dagOrder(outline.phases)) {
    const phase = byId.get(id) ?? newPhase(id);
    byId.set(id, phase);
    known.add(phase);
  }
  for (const phase of byId.values()) known.add(phase);
  return [...known];
}

export function applyEvent(state: RunState, event: RunEvent): void {
  switch (event.type) {
    case 'run-start':
      state.runId = event.runId;
      state.flow = event.flow;
      state.startedAt = event.at;
      if (event.file !== undefined) state.file = event.file;
      if (event.continues) state.continues = event.continues;
      state.outline = event;
      return;
    case 'warning':
      state.warnings.push(event.phase === undefined ? event.message : `${event.phase}: ${event.message}`);
      return;
    case 'approval':
      state.asked.add(event.phase);
      return;
    case 'limit':
      state.limit = event;
      return;
    case 'run-end':
      state.end = event;
      return;
    case 'row-start':
    case 'row-end':
      return;
    default:
      applyPhaseEvent(state, findPhase(state, event), event);
  }
}

type PhaseEvent = Extract<
  RunEvent,
  { readonly type: 'phase-start' | 'phase-progress' | 'phase-waiting' | 'retry' | 'phase-end' }
>;

function applyPhaseEvent(state: RunState, phase: PhaseState, event: PhaseEvent): void {
  switch (event.type) {
    case 'phase-start':
      phase.state = 'running';
      phase.startedAt = event.at;
      phase.reason = event.reason;
      phase.note = undefined;
      return;
    case 'phase-waiting':
      phase.note = `waiting for ${event.for}`;
      return;
    case 'retry':
      phase.note = `attempt ${event.attempt} failed (${event.error}), again in ${Math.ceil(event.delayMs / 1000)}s`;
      return;
    case 'phase-progress':
      if (event.model !== undefined) phase.model = event.model;
      if (event.turns !== undefined) countTurns(phase, event.turns, event.unit);
      if (event.usage !== undefined && event.unit === undefined) phase.usage = event.usage;
      if (event.items !== undefined) phase.items = event.items;
      if (event.tool !== undefined) phase.note = event.tool;
      return;
    case 'phase-end':
      phase.state = event.outcome.status;
      phase.outcome = event.outcome;
      phase.usage = event.outcome.usage;
      if (phase.turnsOf) delete phase.turnsOf;
      if (event.outcome.model !== undefined) phase.model = event.outcome.model;
      phase.note = undefined;
      if (event.outcome.status !== 'paused') state.asked.delete(phase.id);
      if (phase === state.byId.get(phase.id)) return;
      // A nested phase has its line only while it is under way.
      state.nested.delete(phase.id);
      if (isBad(event.outcome) && !event.outcome.optional) state.failedInside.push(phase.id);
  }
}

function isBad({ status }: ShownOutcome): boolean {
  return status === 'failed' || status === 'blocked';
}

/** Each item, branch or iteration counts its own; the phase's line shows all of them. */
function countTurns(phase: PhaseState, turns: number, unit: string | undefined): void {
  if (unit === undefined) {
    phase.turns = turns;
    return;
  }
  phase.turnsOf ??= new Map();
  phase.turns = (phase.turns ?? 0) + turns - (phase.turnsOf.get(unit) ?? 0);
  phase.turnsOf.set(unit, turns);
}

/** Phases of nested flows are not announced by the run's start: they appear when they start. */
function findPhase(state: RunState, event: PhaseEvent): PhaseState {
  const known = state.byId.get(event.phase) ?? state.nested.get(event.phase);
  if (known) return known;
  const phase = newPhase(event.phase);
  (event.phase.includes('/') ? state.nested : state.byId).set(event.phase, phase);
  return phase;
}

function newPhase(id: string): PhaseState {
  return { id, state: 'waiting', usage: NO_USAGE };
}
