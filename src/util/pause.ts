import { onAbort } from './on-abort.js';

/** Waits, unless the signal aborts. A hundred may wait for one signal, so they share its listener. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<'waited' | 'aborted'> {
  if (signal?.aborted) return Promise.resolve('aborted');
  return new Promise((resolve) => {
    const forget = onAbort(signal, () => {
      clearTimeout(timer);
      forget();
      resolve('aborted');
    });
    const timer = setTimeout(() => {
      forget();
      resolve('waited');
    }, ms);
  });
}
