import type { Writer } from '../boot/command.js';

/** Keeps what is written, for a surface that shows it elsewhere. */
export function captureWriter(): Writer & { text(): string } {
  const pieces: string[] = [];
  const keep = (text: string) => {
    pieces.push(text);
  };
  return {
    write: keep,
    draw: keep,
    command: () => {},
    isTerminal: false,
    isLive: false,
    color: false,
    columns: 80,
    rows: 24,
    onResize: () => () => {},
    text: () => pieces.join(''),
  };
}
