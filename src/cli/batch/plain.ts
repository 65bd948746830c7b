import type { RunEvent } from '../../model/event.js';
import { plural } from '../../util/format.js';
import { oneLine } from '../../util/terminal-text.js';
import type { Style } from '../terminal/style.js';
import { limitLine, retryLine, warningLine } from '../view/plain.js';
import { type BatchState, phaseName } from './batch-state.js';
import { progressLine, rowLine } from './row-line.js';

const PROGRESS_MS = 2_000;

/** Lines for logs and pipes: one for each row that executed something or failed, now and then one for the rest. */
export function plainBatchLines(style: Style): (state: BatchState, event: RunEvent) => string[] {
  let lastProgress = 0;
  return (state, event) => {
    switch (event.type) {
      case 'run-start':
        lastProgress = event.at;
        return [
          `${style.bold(oneLine(event.flow))} ${style.dim(event.runId)}  ${plural(event.rows ?? 0, 'row')}`,
          ...(event.continues ? [`continuing batch ${event.continues.runId}: what it has done is reused`] : []),
        ];
      case 'row-end':
        if (event.status !== 'success' || event.reuse.executed > 0) {
          const hint = event.status === 'success' ? undefined : event.error?.hint;
          return [rowLine(event, style), ...(hint ? [`  ${style.dim('→')} ${oneLine(hint)}`] : [])];
        }
        if (event.at - lastProgress < PROGRESS_MS) return [];
        lastProgress = event.at;
        return [progressLine(state.ended, state.total, state.reused)];
      case 'limit':
        return [limitLine(event, style)];
      case 'retry':
        return [retryLine(phaseName(state, event.phase), event, style)];
      case 'approval':
        return [`${style.yellow('‖')} ${phaseName(state, event.phase)} asks: ${oneLine(event.text)}`];
      case 'warning':
        return [warningLine(event.phase && phaseName(state, event.phase), event.message, style)];
      default:
        return [];
    }
  };
}
