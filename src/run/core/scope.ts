import type { RunStatus } from '../../model/event.js';
import type { Failure } from '../../model/failure.js';
import type { Flow } from '../../model/flow.js';
import type { JsonObject, JsonValue } from '../../model/json.js';
import type { Output, Savings, Usage } from '../../model/outcome.js';

import type { Admission } from './admission.js';
import type { PhaseOutcome } from './execution.js';

/** One execution of one flow: the run's own, a row's, or a nested one. */
export interface Scope {
  /** `''` for the run's own flow; `review`, `files[3]`, `rows/<digest>` for others. Unique within the run. */
  readonly path: string;
  readonly flow: Flow;
  readonly args: JsonObject;
  /** Of the phases that have settled, by id. */
  readonly outcomes: Map<string, PhaseOutcome>;
  readonly admission: Admission;
  readonly depth: number;
  /** False inside of a phase that is not idempotent: nothing in there is done twice. */
  readonly idempotent?: false;
  /** Made by a model: held to the limits for generated flows, as is everything inside. */
  readonly generated: boolean;
  /** What a gate said when it sent a phase back, by phase id: `{reflexion}` of its next round. */
  readonly feedback: Map<string, string>;
  /** Phases of fragments that grew in this flow, by their prefixed names. */
  readonly grafted: Map<string, PhaseOutcome>;
  /** A grafted fragment sees the phases of the flow it grows in. */
  readonly around?: ReadonlyMap<string, PhaseOutcome>;
  /** The phase around it is run anew, so that nothing in here is reused from this run or the one continued. */
  readonly anew?: {
    readonly because: string;
    readonly readStore: boolean;
    /** A selector names it: then side effects inside are meant too. */
    readonly named?: true;
  };
  /** A phase above the one around it executed in this run: see `PhaseOutcome.newWork`. */
  readonly newWork?: string;
  /** Of the phases above the one around it, in its row or item: see `PhaseOutcome.done`. */
  readonly done?: string;
  /** A phase around it is kept across runs: scripts in here see these variables besides the plain ones. */
  readonly kept?: { readonly env: readonly string[] };
  /** Names of the flows around this one, to refuse a flow that uses itself. */
  readonly ancestry: readonly string[];
}

/** How all of it ended. */
export interface ScopeResult {
  readonly status: RunStatus;
  /** Of the flow's result phase. */
  readonly output: Output;
  readonly usage: Usage;
  readonly saved: Savings;
  readonly failure?: Failure & { readonly phase: string };
  /** Phases that executed, were reused from this run or the one continued, and from the store. */
  readonly reuse: { readonly executed: number; readonly run: number; readonly crossRun: number };
  /** Youngest reused part, when nothing was executed. */
  readonly ageMs?: number;
  /** Phases were left out because only a part was asked for. */
  readonly partial?: true;
}

/** Of a run's own flow, or of a row of a batch. */
export function ownScope(
  { flow, args, generated = false }: Pick<Scope, 'flow' | 'args'> & { readonly generated?: boolean },
  admission: Admission,
  path = '',
): Scope {
  return {
    path,
    flow,
    args,
    outcomes: new Map(),
    feedback: new Map(),
    grafted: new Map(),
    admission,
    depth: 0,
    generated,
    ancestry: [flow.file ?? flow.name],
  };
}

export function phasePath(scope: Scope, id: string): string {
  return scope.path === '' ? id : `${scope.path}/${id}`;
}

/** Names that mean something only inside one unit: the item of a map, a loop's counters. */
export interface Variables {
  readonly item?: { readonly name: string; readonly value: JsonValue };
  readonly loop?: { readonly iteration: number; readonly lastOutput: string; readonly maxIterations: number };
  readonly reflexion?: string;
  /** A loop may mention itself: its latest iteration. */
  readonly self?: { readonly id: string; readonly text: string; readonly json: JsonValue };
}
