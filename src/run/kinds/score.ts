import type { Score, Scorer } from '../../model/flow.js';
import type { JsonObject } from '../../model/json.js';
import { testPattern } from '../../plan/pattern.js';
import { canonicalEncode } from '../../util/canonical.js';
import { jsonWithin, schemaProblems } from '../output.js';

export interface ScoreResult {
  readonly combined: number;
  readonly pass: boolean;
  readonly results: readonly { readonly name: string; readonly score: number; readonly why?: string }[];
}

/** Scores a text without a model. A judge's own score, where there is one, counts as one more scorer. */
export async function scoreOf(score: Score, target: string, judged?: number): Promise<ScoreResult> {
  const results: { name: string; score: number; why?: string }[] = [];
  for (const [index, scorer] of score.scorers.entries()) {
    const why = await objection(scorer, target);
    const good = (why === undefined) !== (scorer.negate ?? false);
    const name = scorer.name ?? `${scorer.type} ${index + 1}`;
    results.push(good ? { name, score: 1 } : { name, score: 0, why: why ?? 'it matched, and must not' });
  }
  if (judged !== undefined) results.push({ name: 'judge', score: judged });
  const combined = combine(
    score,
    results.map((result) => result.score),
  );
  return { combined, pass: combined >= score.threshold, results };
}

function combine({ combine: how, weights }: Score, scores: readonly number[]): number {
  if (scores.length === 0) return 0;
  if (how === 'all') return Math.min(...scores);
  if (how === 'any') return Math.max(...scores);
  const weight = (index: number) => weights?.[index] ?? 1;
  const total = scores.reduce((sum, _score, index) => sum + weight(index), 0);
  if (total === 0) return 0;
  const sum = scores.reduce((sofar, score, index) => sofar + score * weight(index), 0);
  return Math.round((sum / total) * 10_000) / 10_000;
}

/** What a scorer has against the text, in words; undefined when nothing. */
async function objection(scorer: Scorer, text: string): Promise<string | undefined> {
  switch (scorer.type) {
    case 'exact-match': {
      const wanted = scorer.value;
      const same =
        typeof wanted === 'string'
          ? text.trim() === wanted.trim()
          : canonicalEncode(jsonWithin(text)) === canonicalEncode(wanted);
      return same ? undefined : 'it is something else';
    }
    case 'contains': {
      const fold = (value: string) => (scorer.caseSensitive ? value : value.toLowerCase());
      return fold(text).includes(fold(scorer.value))
        ? undefined
        : `it does not contain ${JSON.stringify(scorer.value)}`;
    }
    case 'regex': {
      const found = testPattern(scorer.pattern, scorer.flags ?? '', text);
      if ('error' in found) return found.error;
      return found.value ? undefined : `it does not match ${scorer.pattern}`;
    }
    case 'json-schema': {
      const value = jsonWithin(text);
      if (value === undefined) return 'it is not JSON';
      return (await schemaProblems(value, scorer.schema))[0];
    }
    case 'length-range': {
      const { min = 0, max = Number.POSITIVE_INFINITY } = scorer;
      return text.length >= min && text.length <= max ? undefined : `its length is ${text.length}`;
    }
  }
}

export function scoreJson({ combined, results }: ScoreResult): JsonObject {
  return { combined, results: results.map((result) => ({ ...result })) };
}
