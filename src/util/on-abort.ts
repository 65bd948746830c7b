const listeners = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls back when the signal aborts; returns how to stop listening. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (!signal) return () => {};
  const all = listeners.get(signal) ?? listen(signal);
  // Two callers may have the same function.
  const own = () => listener();
  all.add(own);
  return () => all.delete(own);
}

/** A whole run waits for one signal: one listener for all is cheaper, and does not look like a leak to Node. */
function listen(signal: AbortSignal): Set<() => void> {
  const all = new Set<() => void>();
  listeners.set(signal, all);
  signal.addEventListener('abort', () => {
    for (const listener of all) listener();
  });
  return all;
}
