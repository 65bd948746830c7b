import type { RecordedState } from '../../run/history/run-head.js';
import type { Style } from '../terminal/style.js';

export function stateText(state: RecordedState, style: Style): string {
  if (state === 'success') return style.green(state);
  if (state === 'running') return style.cyan(state);
  return state === 'paused' || state === 'interrupted' ? style.yellow(state) : style.red(state);
}
