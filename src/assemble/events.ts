import type { RunEvent } from '../model/event.js';
import type { Spent } from '../model/outcome.js';

/** Every event of assembling. */
export type AssembleEvent = AssembleEventBody & { readonly at: number };

export type AssembleEventBody =
  | { readonly type: 'assemble-start'; readonly inputId: string; readonly task: string }
  /** There is a complete plan, and everything that it uses is unchanged. */
  | { readonly type: 'assemble-found'; readonly id: string; readonly from: 'memory' | 'disk' }
  /** There is a plan, but something that it uses has changed: it is repaired. */
  | { readonly type: 'assemble-changed'; readonly id: string; readonly changed: readonly string[] }
  /** An attempt that was cut short goes on. */
  | { readonly type: 'assemble-continues'; readonly id: string; readonly rounds: number }
  /** A plan that this user has neither made nor approved is passed over. */
  | { readonly type: 'assemble-foreign'; readonly id: string }
  /** Another process plans the same thing. */
  | { readonly type: 'assemble-waiting'; readonly for: string }
  | { readonly type: 'assemble-asking'; readonly round: number; readonly runner: string; readonly model?: string }
  | { readonly type: 'assemble-answered'; readonly round: number; readonly spent: Spent; readonly durationMs: number }
  | { readonly type: 'assemble-checked'; readonly round: number; readonly problems: readonly string[] }
  | { readonly type: 'assemble-trying'; readonly round: number; readonly example: string }
  | {
      readonly type: 'assemble-tried';
      readonly round: number;
      readonly example: string;
      readonly ok: boolean;
      readonly why?: string;
      readonly spent: Spent;
      readonly durationMs: number;
    }
  /** The planner, the judge or the flow that is tried meets the usage limit of a provider. */
  | ({ readonly type: 'assemble-limit' } & Omit<
      Extract<RunEvent, { readonly type: 'limit' }>,
      'type' | 'phase' | 'at' | 'runId'
    >)
  | { readonly type: 'assemble-stored'; readonly id: string; readonly status: 'complete' | 'incomplete' }
  | { readonly type: 'assemble-warning'; readonly message: string };

export type OnAssembleEvent = (event: AssembleEventBody) => void;

/** Passes on the usage limits of a run that is a step of assembling; its other events are dropped. */
export function limitsOf(onEvent: OnAssembleEvent): (event: RunEvent) => void {
  return (event) => {
    if (event.type !== 'limit') return;
    const { runner, until, known, waits, error } = event;
    onEvent({ type: 'assemble-limit', runner, until, known, waits, error });
  };
}
