import { createInterface } from 'node:readline';
import type { Writer } from '../boot/command.js';

interface PersonQuestion<T> {
  /** The text to show first; its last line has a line end. */
  readonly text: string;
  readonly prompt: string;
  /** Printed after an unclear answer. */
  readonly again?: string;
  /** Undefined: not an answer, so the person is asked again. */
  readonly read: (line: string) => T | undefined;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

/** How often a question is put before it is left open. */
const TIMES = 3;

/** Asks on the terminal. Undefined without a clear answer: an end of input, an abort, no time left. */
export async function askPerson<T>(
  { text, prompt, again, read, signal, timeoutMs }: PersonQuestion<T>,
  err: Writer,
  suspendView: () => () => void,
): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  const resumeView = suspendView();
  err.write(text);
  const lines = createInterface({ input: process.stdin, terminal: false });
  // An answer ends the line; without one we end it, before anything else is printed.
  let isLineOpen = false;
  const ask = () => {
    err.write(prompt);
    isLineOpen = true;
  };
  const stop = () => {
    if (isLineOpen) err.write('\n');
    isLineOpen = false;
    lines.close();
  };
  signal.addEventListener('abort', stop, { once: true });
  const timer = timeoutMs === undefined ? undefined : setTimeout(stop, timeoutMs);
  try {
    ask();
    let asked = 1;
    for await (const line of lines) {
      isLineOpen = false;
      const answer = read(line);
      if (answer !== undefined) return answer;
      if (asked === TIMES) {
        err.write('no clear answer: the question is left open\n');
        break;
      }
      asked += 1;
      if (again !== undefined) err.write(`${again}\n`);
      ask();
    }
    stop();
    return undefined;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    lines.close();
    // Otherwise the open terminal keeps the process alive.
    process.stdin.pause();
    resumeView();
  }
}
