import type { Failure } from '../../model/failure.js';
import type { RunBody, TaskBody, UseBody } from '../../model/flow.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { Execution } from '../core/execution.js';
import type { Variables } from '../core/scope.js';
import type { RenderedBody, Travelling } from '../core/unit-job.js';
import type { Fence } from '../render/fence.js';
import type { IdentityParts } from '../reuse/identify.js';

/** One agent call, one process or one nested flow, as a phase asks for it. */
export interface UnitSpec {
  /** Unique within the phase, readable: `item 3`, a branch's id, `iteration 2`. Undefined: the phase is the unit. */
  readonly label?: string;
  readonly body: TaskBody | RunBody | UseBody;
  readonly cwd?: string;
  readonly variables?: Variables;
  /** Distinguishes units that are otherwise equal. */
  readonly ordinal?: number;
  /** Replaces the phase's own promise about its output: who picks a winner does not owe what the candidates owe. */
  readonly plainOutput?: boolean;
  /** Put after the rendered task as it is: outputs of others, in which nothing is a placeholder. */
  readonly material?: string;
  /** Outputs that it judges: put after the task, fenced off as data with marks that are in no identity. */
  readonly judges?: (how: Asking) => string;
  /** The answer may be one JSON object, and is one where the runner can guarantee it. */
  readonly mayBeJson?: boolean;
  /** What the kind adds to the identity (a judge's role, the mode of a tournament). */
  readonly role?: string;
}

/** How an agent is asked. */
export interface Asking {
  readonly fence: Fence;
  /** Its runner guarantees that the answer is JSON. */
  readonly inJson: boolean;
}

/** A unit whose texts are rendered and whose agent is known: it can be identified, and executed. */
export interface PreparedUnit {
  readonly parts: IdentityParts;
  /** The parts after the execution, where executing may change what the work is made from. */
  partsInTheEnd?(): IdentityParts;
  /** `begin` reports the start; a unit with `beginsItself` calls it once it has a slot. */
  execute(begin: () => Failure | undefined): Promise<Execution>;
  readonly beginsItself?: true;
  /** What another machine needs to do the same; absent where only this one can. */
  travelling?(): Travelling;
}

export type Prepared = PreparedUnit | { readonly failure: Failure };

export type Prepare<B> = (at: PhaseContext, spec: UnitSpec & { readonly body: B }) => Promise<Prepared> | Prepared;

export function travelling(
  { ordinal, role, plainOutput }: UnitSpec,
  { name: cwd }: { readonly name: string },
  body: RenderedBody | undefined,
): Travelling {
  return { body, cwd, ordinal, role, plainOutput };
}
