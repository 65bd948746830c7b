import { totalTokens } from '../../model/outcome.js';
import type { RecordedState, RunHead } from '../../run/history/run-head.js';
import type { Style } from '../terminal/style.js';

/** A run of the list, for programs. */
export function runJson({ runId, run, state, endedAt, end }: RunHead) {
  return {
    runId,
    flow: run.flow,
    file: run.file ?? null,
    state,
    startedAt: run.at,
    durationMs: end?.durationMs ?? Math.max(0, Math.round(endedAt - run.at)),
    spent: end ? { usd: end.spent.usd ?? null, tokens: totalTokens(end.spent) } : null,
    saved: end?.saved ?? null,
    continues: run.continues ?? null,
  };
}

export function stateText(state: RecordedState, style: Style): string {
  if (state === 'success') return style.green(state);
  if (state === 'running') return style.cyan(state);
  return state === 'paused' || state === 'interrupted' ? style.yellow(state) : style.red(state);
}
