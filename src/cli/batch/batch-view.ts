import type { RunEvent } from '../../model/event.js';
import type { BatchResult } from '../../run/batch/result.js';
import { LineBuffer } from '../terminal/line-buffer.js';
import { createStyle } from '../terminal/style.js';
import { createAnimation } from '../view/animation.js';
import { warningLine } from '../view/plain.js';
import { createScreen, type RunViewOptions } from '../view/run-view.js';
import { applyBatchEvent, createBatchState, phaseName } from './batch-state.js';
import { closingLines } from './closing.js';
import { drawBatch } from './draw-batch.js';
import { plainBatchLines } from './plain.js';

/** Shows a batch while it goes. */
interface BatchView {
  onEvent(event: RunEvent): void;
  /** A line that stays on the screen, in addition to the events of the batch. */
  notice(line: string): void;
  suspend(): () => void;
  /** The name of a phase of a row, for people. */
  nameOf(phase: string): string;
  /** Writes the closing summary; without a result the batch never began. `summary`: the page in the `--out` folder. */
  stop(result: BatchResult | undefined, summary?: string): void;
}

/** A live bar on a terminal, plain lines elsewhere; with `--quiet` nothing, unless something fails. */
export function createBatchView(options: RunViewOptions & { readonly quiet?: boolean }): BatchView {
  if (options.quiet) return quietView(options);
  return options.out.isLive ? liveView(options) : plainView(options);
}

function quietView({ out }: RunViewOptions): BatchView {
  return {
    onEvent: () => {},
    notice: (line) => out.write(`${line}\n`),
    suspend: () => () => {},
    nameOf: (phase) => phase,
    stop(result, summary) {
      if (!result || result.status === 'success') return;
      out.write(`${closingLines(result, { style: createStyle(out.color), summary }).join('\n')}\n`);
    },
  };
}

function plainView({ out }: RunViewOptions): BatchView {
  const style = createStyle(out.color);
  const state = createBatchState();
  const lines = new LineBuffer(out);
  const toLines = plainBatchLines(style);
  return {
    onEvent(event) {
      applyBatchEvent(state, event);
      for (const line of toLines(state, event)) lines.add(line);
    },
    notice: (line) => lines.add(line),
    nameOf: (phase) => phaseName(state, phase),
    suspend() {
      lines.flush();
      return () => {};
    },
    stop(result, summary) {
      if (result) for (const line of closingLines(result, { style, named: true, summary })) lines.add(line);
      lines.flush();
    },
  };
}

function liveView({ out, clock }: RunViewOptions): BatchView {
  const style = createStyle(out.color);
  const state = createBatchState();
  const screen = createScreen(out);
  let seenWarnings = 0;
  let suspended = false;
  const notices: string[] = [];
  const stopResize = out.onResize(() => animation.redraw());
  const takeNotices = (): string[] => {
    const fresh = state.warnings.slice(seenWarnings).map((message) => warningLine(undefined, message, style));
    seenWarnings = state.warnings.length;
    return [...fresh, ...notices.splice(0)];
  };
  const animation = createAnimation((tick) => {
    if (state.total === 0) return;
    const size = { columns: out.columns, rows: Math.max(4, out.rows - 1) };
    screen.show(takeNotices(), drawBatch(state, { style, ...size, now: clock.now(), tick }));
  });
  return {
    onEvent(event) {
      applyBatchEvent(state, event);
      if (event.type === 'run-end') animation.halt();
      else if (!suspended) animation.start();
    },
    notice(line) {
      notices.push(line);
      animation.redraw();
    },
    nameOf: (phase) => phaseName(state, phase),
    suspend() {
      animation.halt();
      suspended = true;
      screen.show(takeNotices(), []);
      return () => {
        suspended = false;
        animation.start();
      };
    },
    stop(result, summary) {
      animation.halt();
      stopResize();
      screen.show(takeNotices(), []);
      if (result) screen.print(closingLines(result, { style, summary, columns: out.columns }));
    },
  };
}
