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
    const found = distance(wanted, candidate.toLowerCase());
    if (found < bestDistance) {
      best = candidate;
      bestDistance = found;
    }
  }
  if (best === undefined) return undefined;
  const allowed = Math.max(1, Math.floor(Math.max(wanted.length, best.length) * 0.4));
  return bestDistance <= allowed ? best : undefined;
}
