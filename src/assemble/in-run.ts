import type { RunOptions } from '../run/core/options.js';

/** For runs: nothing of assembling is loaded before a phase wants a flow. */
export const assembleInRun: NonNullable<RunOptions['assemble']> = async (wanted) => {
  const { flowForPhase } = await import('./for-phase.js');
  return flowForPhase(wanted);
};
