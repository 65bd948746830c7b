const listeners = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls back when the signal aborts; returns how to stop listening. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (!signal) return () => {};
  const all = listeners.get(signal) ?? listen(signal);
  // A function of its own, because two callers may pass the same one.
  const own = () => listener();
  all.add(own);
  return () => all.delete(own);
}

/** One listener per signal: a run has many callers for one signal, which Node would report as a leak. */
function listen(signal: AbortSignal): Set<() => void> {
  const all = new Set<() => void>();
  listeners.set(signal, all);
  signal.addEventListener('abort', () => {
    for (const listener of all) listener();
  });
  return all;
}
