/** Work that nobody waits for, such as keeping for another run what was worked out: done when there is nothing else to do. */
const waiting: (() => void)[] = [];

export function later(work: () => void): void {
  waiting.push(work);
  if (waiting.length === 1) setImmediate(doWhatWaits);
}

/** For a process that is about to end. */
export function doWhatWaits(): void {
  for (const work of waiting.splice(0)) work();
}
