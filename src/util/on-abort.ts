import { setMaxListeners } from 'node:events';

/** Calls back when the signal aborts; returns how to stop listening. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (!signal) return () => {};
  // A whole run waits for one signal: Node takes more than ten listeners for a leak and says so on stderr.
  setMaxListeners(0, signal);
  signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}
