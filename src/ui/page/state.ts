import { signal } from '@preact/signals';
import type { RunView } from '../view/types.js';

export type ViewName = 'graph' | 'timeline' | 'table' | 'rows';

/** What is selected: the same in every view. */
interface Selection {
  readonly phase?: string;
  /** A unit of the phase, by the journal's name. */
  readonly unit?: string;
  /** A row of a batch, by its path. */
  readonly row?: string;
}

export const selection = signal<Selection>({});
export const view = signal<ViewName>('graph');
/** Read out by screen readers. */
export const announcement = signal('');

export function selectPhase(phase: string, unit?: string): void {
  selection.value = unit === undefined ? { phase } : { phase, unit };
}

/** What a reader looks for first: what failed, else what waits, else what cost most. */
export function firstSelection({ phases }: RunView): Selection {
  const wrong = phases.find(({ state }) => state === 'failed' || state === 'blocked' || state === 'paused');
  const cost = [...phases].sort((a, b) => (b.spent?.usd ?? 0) - (a.spent?.usd ?? 0) || b.durationMs - a.durationMs);
  const found = wrong ?? cost[0];
  return found ? { phase: found.id } : {};
}
