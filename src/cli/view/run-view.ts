import type { RunEvent } from '../../model/event.js';
import type { Clock } from '../../util/clock.js';
import { displayWidth } from '../../util/terminal-text.js';
import type { Writer } from '../boot/command.js';
import { onlyStyles } from '../terminal/guard.js';
import { LineBuffer } from '../terminal/line-buffer.js';
import { createStyle } from '../terminal/style.js';
import { createAnimation } from './animation.js';
import { closingLines } from './closing.js';
import { drawRun } from './draw.js';
import { continuingLines, plainLines, warningLine } from './plain.js';
import { applyEvent, createRunState } from './run-state.js';
import type { UsualTimes } from './time-left.js';

/** Shows a run while it goes. */
export interface RunDisplay {
  onEvent(event: RunEvent): void;
  /** A line that stays on the screen, in addition to the events of the run. */
  notice(line: string): void;
  /** Removes the live picture, for a question to the person, until the returned function is called. */
  suspend(): () => void;
  /** Leaves the final picture and the closing summary. */
  stop(): void;
}

export interface RunViewOptions {
  readonly out: Pick<Writer, 'write' | 'draw' | 'isLive' | 'color' | 'columns' | 'rows' | 'onResize'>;
  readonly clock: Clock;
  /** A function, because a run that ends before the first drawing does not need it. */
  readonly usual?: () => UsualTimes;
}

/** Live on a terminal, one plain line per change elsewhere; with `--quiet` nothing, unless something fails. */
export function createRunView(options: RunViewOptions & { readonly quiet?: boolean }): RunDisplay {
  if (options.quiet) return quietView(options);
  return options.out.isLive ? liveView(options) : plainView(options);
}

function quietView({ out }: RunViewOptions): RunDisplay {
  const style = createStyle(out.color);
  const state = createRunState();
  const asked: string[] = [];
  return {
    onEvent(event) {
      applyEvent(state, event);
      if (event.type === 'approval') asked.push(...plainLines(state, event, style));
    },
    notice: (line) => out.write(`${line}\n`),
    suspend: () => () => {},
    stop() {
      if (!state.end || state.end.status === 'success') return;
      const questions = state.end.status === 'paused' ? asked : [];
      out.write(`${[...questions, ...closingLines(state, style)].join('\n')}\n`);
    },
  };
}

function plainView({ out }: RunViewOptions): RunDisplay {
  const style = createStyle(out.color);
  const state = createRunState();
  const lines = new LineBuffer(out);
  return {
    onEvent(event) {
      applyEvent(state, event);
      for (const line of plainLines(state, event, style)) lines.add(line);
    },
    notice: (line) => lines.add(line),
    suspend() {
      lines.flush();
      return () => {};
    },
    stop() {
      for (const line of closingLines(state, style, { named: true })) lines.add(line);
      lines.flush();
    },
  };
}

const FINAL_ROWS = 60;

function liveView({ out, clock, usual }: RunViewOptions): RunDisplay {
  const style = createStyle(out.color);
  const state = createRunState();
  const screen = createScreen(out);
  const notices: string[] = [];
  let seenWarnings = 0;
  let suspended = false;
  const stopResize = out.onResize(() => animation.redraw());

  /** Lines that stay above the picture. */
  const takeNotices = (): string[] => {
    for (const message of state.warnings.slice(seenWarnings)) notices.push(warningLine(undefined, message, style));
    seenWarnings = state.warnings.length;
    return notices.splice(0);
  };
  let times: UsualTimes | undefined;
  const picture = (rows: number, tick: number) => {
    if (!state.end) times ??= usual?.();
    return drawRun(state, { style, columns: out.columns, rows, now: clock.now(), tick, usual: times });
  };
  const animation = createAnimation((tick) => {
    if (state.phases.length > 0) screen.show(takeNotices(), picture(Math.max(3, out.rows - 1), tick));
  });

  return {
    onEvent(event) {
      applyEvent(state, event);
      if (event.type === 'run-start') screen.print(continuingLines(state));
      if (event.type === 'run-end') animation.halt();
      else if (!suspended) animation.start();
    },
    notice(line) {
      notices.push(line);
      if (!suspended) animation.start();
    },
    suspend() {
      animation.halt();
      suspended = true;
      screen.show(takeNotices(), []);
      return () => {
        suspended = false;
        if (!state.end) animation.start();
      };
    },
    stop() {
      animation.halt();
      stopResize();
      // One row more for the header, which is removed.
      const lines = state.phases.length > 0 ? picture(Math.max(FINAL_ROWS, out.rows) + 1, 0) : [];
      screen.show(takeNotices(), []);
      screen.print(finalLines(lines, closingLines(state, style, { columns: out.columns })));
    },
  };
}

function finalLines(picture: readonly string[], closing: readonly string[]): string[] {
  // Without the header, which describes a running run: the closing lines replace it.
  return closing.length === 0 ? [...picture] : [...picture.slice(1), ...(picture.length > 1 ? [''] : []), ...closing];
}

/** A block of lines at the end of the terminal that is drawn over in place. */
export function createScreen(out: RunViewOptions['out']) {
  let shown: readonly string[] = [];
  /** After a resize the terminal has broken our lines anew: count the rows they take now. */
  const height = () => {
    const columns = Math.max(1, out.columns);
    return shown.reduce((rows, line) => rows + Math.max(1, Math.ceil(displayWidth(line) / columns)), 0);
  };
  return {
    print(lines: readonly string[]): void {
      if (lines.length > 0) out.write(`${lines.join('\n')}\n`);
    },
    /** `above` stays for good; `block` replaces the one before. One write, so that nothing flickers. */
    show(above: readonly string[], block: readonly string[]): void {
      const up = Math.min(height(), out.rows - 1);
      const text = [...above, ...block].map((line) => `${onlyStyles(line)}\x1b[K\n`).join('');
      if (up > 0 || text !== '') out.draw(`\x1b[?2026h${up > 0 ? `\x1b[${up}A\r` : ''}${text}\x1b[J\x1b[?2026l`);
      shown = block;
    },
  };
}
