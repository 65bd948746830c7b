import type { Savings, ShownOutcome, Spent, Usage } from './outcome.js';

/** The events of a run, for views, `--events` and the library. Every event has `type`, `at` and `runId`. */
export type RunEvent = { readonly at: number; readonly runId: string } & (
  | {
      readonly type: 'run-start';
      readonly flow: string;
      readonly file?: string;
      readonly phases: readonly { readonly id: string; readonly kind: string; readonly needs: readonly string[] }[];
      /** The phase whose output is the run's. */
      readonly result?: string;
      /** A batch: how many rows the flow is run for. Its phases have paths of the form `rows/…/id`. */
      readonly rows?: number;
      readonly continues?: {
        readonly runId: string;
        /** Phases that are reused. */
        readonly reusable: number;
        readonly total: number;
        /**
         * `at-least`: more, if phases before them give the same result as before. `done`: this many were done there.
         */
        readonly known?: 'at-least' | 'done';
        /** How the earlier run ended: `failed 5m ago`. */
        readonly notice?: string;
      };
    }
  | { readonly type: 'phase-start'; readonly phase: string; readonly reason: string }
  | {
      /** The state of a phase under way. */
      readonly type: 'phase-progress';
      readonly phase: string;
      readonly unit?: string;
      readonly model?: string;
      readonly turns?: number;
      readonly usage?: Usage;
      readonly tool?: string;
      readonly text?: string;
      /** The machine that does it, where it is another one. */
      readonly worker?: string;
      readonly items?: {
        readonly total: number;
        readonly done: number;
        readonly failed: number;
        readonly reused: number;
        /** The item that has been under way for the longest time, and how many are under way. */
        readonly current?: string;
        readonly running?: number;
      };
    }
  | { readonly type: 'phase-waiting'; readonly phase: string; readonly for: string }
  | {
      /** A provider's usage limit is reached: no phase calls this runner before `until` (ms since the epoch). */
      readonly type: 'limit';
      readonly phase: string;
      readonly runner: string;
      readonly until: number;
      /** The provider named the time; else the run tries again then. */
      readonly known: boolean;
      /** True: the phases wait. False: they pause or fail, until the run is continued. */
      readonly waits: boolean;
      readonly error: string;
    }
  | {
      readonly type: 'retry';
      readonly phase: string;
      readonly unit?: string;
      readonly attempt: number;
      readonly delayMs: number;
      readonly error: string;
    }
  | { readonly type: 'phase-end'; readonly phase: string; readonly outcome: ShownOutcome }
  | { readonly type: 'approval'; readonly phase: string; readonly text: string; readonly digest: string }
  | { readonly type: 'warning'; readonly phase?: string; readonly message: string }
  | { readonly type: 'row-start'; readonly row: number; readonly label: string; readonly path: string }
  | {
      /** One row of a batch has ended. */
      readonly type: 'row-end';
      readonly row: number;
      readonly label: string;
      readonly path: string;
      readonly status: RunStatus;
      readonly spent: Spent;
      readonly saved: Savings;
      readonly durationMs: number;
      readonly reuse: { readonly executed: number; readonly run: number; readonly crossRun: number };
      readonly file?: string;
      readonly error?: EndError & { readonly phase: string };
    }
  | {
      readonly type: 'run-end';
      readonly status: RunStatus;
      readonly spent: Spent;
      readonly saved: Savings;
      readonly durationMs: number;
      readonly error?: EndError;
      /** Its journal could not be written: nothing can continue or look at it. */
      readonly unrecorded?: true;
    }
);

/** Why the run did not succeed. */
export interface EndError {
  readonly phase?: string;
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

export type RunEventType = RunEvent['type'];

/** Without `at` and `runId`, which the run adds. Distributes over the union. */
export type RunEventBody = RunEvent extends infer E ? (E extends RunEvent ? Omit<E, 'at' | 'runId'> : never) : never;

export const RUN_STATUSES = ['success', 'failed', 'blocked', 'paused', 'over-budget', 'interrupted'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];
