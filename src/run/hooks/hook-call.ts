import type { HookEvent } from '../../model/hooks.js';

export interface HookCall {
  readonly event: HookEvent;
  readonly runId: string;
  /** What the hook is given, as JSON. */
  readonly body: string;
}
