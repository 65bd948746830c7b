/**
 * The known name that someone who wrote `name` most likely meant, or undefined when none is close. Loads its distance
 * function only when asked: a run without mistakes never needs it.
 */
export async function nearestName(name: string, known: Iterable<string>): Promise<string | undefined> {
  const { distance } = await import('fastest-levenshtein');
  const wanted = name.slice(0, 200).toLowerCase();
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const found = swappedLetters(wanted, candidate.toLowerCase()) ? 1 : distance(wanted, candidate.toLowerCase());
    if (found < bestDistance) {
      best = candidate;
      bestDistance = found;
    }
  }
  if (best === undefined) return undefined;
  const allowed = Math.max(1, Math.floor(Math.max(wanted.length, best.length) * 0.4));
  return bestDistance <= allowed ? best : undefined;
}

/** The commonest slip (`scna` for `scan`) is one mistake, not the two edits that it takes to mend. */
function swappedLetters(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  const at = [...a].findIndex((letter, index) => letter !== b[index]);
  return at !== -1 && a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}
