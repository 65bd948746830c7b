import type { Writer } from '../boot/command.js';
import { indented } from './writer.js';

interface CaptureWriter extends Writer {
  text(): string;
  /** The value, if exactly one value was written. */
  value(): unknown;
}

/** Keeps what is written, for another surface. */
export function captureWriter(): CaptureWriter {
  const pieces: (string | { readonly value: unknown })[] = [];
  const keep = (text: string) => {
    pieces.push(text);
  };
  return {
    write: keep,
    json: (value) => {
      pieces.push({ value });
    },
    draw: keep,
    command: () => {},
    isTerminal: false,
    isLive: false,
    color: false,
    columns: 80,
    rows: 24,
    onResize: () => () => {},
    text: () => pieces.map((piece) => (typeof piece === 'string' ? piece : indented(piece.value))).join(''),
    value: () => (pieces.length === 1 && typeof pieces[0] === 'object' ? pieces[0].value : undefined),
  };
}
