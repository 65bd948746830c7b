import { swappedLetters } from './slip.js';

/**
 * The known name that someone who wrote `name` most likely meant, or undefined when none is close. Loads its distance
 * function only when asked: a run without mistakes never needs it.
 */
export async function nearestName(name: string, known: Iterable<string>): Promise<string | undefined> {
  const { distance } = await import('fastest-levenshtein');
  const wanted = name.slice(0, 200).toLowerCase();
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  const candidates = [...known];
  for (const candidate of candidates) {
    const found = swappedLetters(wanted, candidate.toLowerCase()) ? 1 : distance(wanted, candidate.toLowerCase());
    if (found < bestDistance) {
      best = candidate;
      bestDistance = found;
    }
  }
  if (best === undefined) return undefined;
  const longest = Math.max(wanted.length, best.length);
  const allowed = Math.max(1, Math.floor(longest * 0.4));
  // A name in which every letter is different is not near, however short it is.
  return bestDistance <= allowed && bestDistance < longest ? best : onlyPartOf(wanted, candidates);
}

/** `review` for `review-each`, if no other name fits. */
function onlyPartOf(wanted: string, known: readonly string[]): string | undefined {
  const found = known.filter((candidate) => {
    const [short, long] = [wanted, candidate.toLowerCase()].sort((a, b) => a.length - b.length) as [string, string];
    return short.length >= 3 && (long.startsWith(short) || long.endsWith(short));
  });
  return found.length === 1 ? found[0] : undefined;
}
