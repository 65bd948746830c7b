import { Interrupted, type Progress, type Watcher } from '../../store/pace.js';
import { systemClock } from '../../util/clock.js';
import type { Invocation, Writer } from '../boot/command.js';
import { EXIT } from '../errors/exit-status.js';
import { listenForInterrupts } from './interrupt.js';

/**
 * Does long work on the store: with a bar on a terminal, nothing elsewhere, and an interrupt that ends it in order.
 * Resolves to the exit status if it was interrupted.
 */
export async function watched<T>(
  { err }: Invocation,
  work: (watcher: Watcher) => Promise<T>,
): Promise<T | { readonly status: number }> {
  const bar = err.isLive ? new ProgressBar(err) : undefined;
  const interrupt = listenForInterrupts(() => {
    bar?.clear();
    err.write('interrupted: the store is left in order; once more ends at once\n');
  });
  const watcher: Watcher = { signal: interrupt.signal, onProgress: (progress) => bar?.show(progress) };
  try {
    return await work(watcher);
  } catch (error) {
    if (error instanceof Interrupted) return { status: EXIT.interrupted };
    throw error;
  } finally {
    bar?.clear();
    interrupt.dispose();
  }
}

const WIDTH = 24;
/** Shorter work shows no bar. */
const FIRST_MS = 300;
const EVERY_MS = 100;

class ProgressBar {
  readonly #err: Writer;
  #next = systemClock.elapsed() + FIRST_MS;
  #isDrawn = false;

  constructor(err: Writer) {
    this.#err = err;
  }

  show(progress: Progress): void {
    const now = systemClock.elapsed();
    if (now < this.#next) return;
    this.#next = now + EVERY_MS;
    this.#isDrawn = true;
    this.#err.draw(`\r${barText(progress).slice(0, this.#err.columns - 1)}\u001b[K`);
  }

  clear(): void {
    if (this.#isDrawn) this.#err.draw('\r\u001b[K');
    this.#isDrawn = false;
  }
}

function barText({ what, done, total }: Progress): string {
  const count = done.toLocaleString('en-US');
  if (total === undefined || total === 0) return `${what} ${count}`;
  const part = Math.min(1, done / total);
  const full = Math.round(part * WIDTH);
  const bar = '█'.repeat(full) + '░'.repeat(WIDTH - full);
  return `${what} ${bar} ${Math.floor(part * 100)}% of ${total.toLocaleString('en-US')}`;
}
