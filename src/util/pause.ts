/** Waits, unless the signal ends the wait first; says which. */
export function pause(ms: number, signal: AbortSignal): Promise<'waited' | 'aborted'> {
  if (signal.aborted) return Promise.resolve('aborted');
  return new Promise((resolve) => {
    const onAbort = () => {
      clearTimeout(timer);
      resolve('aborted');
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve('waited');
    }, ms);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
