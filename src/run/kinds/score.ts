import type { Score, Scorer } from '../../model/flow.js';
import type { JsonObject, JsonValue } from '../../model/json.js';
import { testPattern } from '../../plan/pattern.js';
import { canonicalEncode } from '../../util/canonical.js';
import { nextTurn } from '../../util/timer.js';
import { isLongTurn } from '../../util/turn.js';
import { heldTo, jsonWithin } from '../core/output.js';
import { render, renderValue, type Site } from '../render/render.js';
import type { Compile } from './compiles.js';

export interface ScoreResult {
  readonly combined: number;
  readonly pass: boolean;
  readonly results: readonly { readonly name: string; readonly score: number; readonly why?: string }[];
}

/** A score with its placeholders filled in. */
export interface FilledScore extends Score {
  readonly target: string;
  /** Placeholders without a value: in the target, and in what each scorer compares it with. */
  readonly unresolved: { readonly target: readonly string[]; readonly scorers: readonly (readonly string[])[] };
}

export function fillScore(site: Site, score: Score): FilledScore {
  const target = render(site, score.target);
  const scorers = score.scorers.map((scorer) => fillScorer(site, scorer));
  return {
    ...score,
    target: target.text,
    scorers: scorers.map(({ filled }) => filled),
    unresolved: { target: target.unresolved, scorers: scorers.map(({ unresolved }) => unresolved) },
  };
}

function fillScorer(site: Site, scorer: Scorer): { readonly filled: Scorer; readonly unresolved: readonly string[] } {
  if (scorer.type === 'exact-match') {
    const { value, unresolved } = renderValue(site, scorer.value);
    return { filled: { ...scorer, value }, unresolved };
  }
  if (scorer.type !== 'contains') return { filled: scorer, unresolved: [] };
  const { text, unresolved } = render(site, scorer.value);
  return { filled: { ...scorer, value: text }, unresolved };
}

/** Scores a text without a model. */
export async function scoreOf(score: FilledScore, compile: Compile): Promise<ScoreResult> {
  const { target, unresolved } = score;
  const results: { name: string; score: number; why?: string }[] = [];
  for (const [index, scorer] of score.scorers.entries()) {
    const name = scorer.name ?? `${scorer.type} ${index + 1}`;
    // What cannot be compared has not passed, negated or not.
    const missing = [...unresolved.target, ...unresolved.scorers[index]!][0];
    if (missing !== undefined) {
      results.push({ name, score: 0, why: `no value for {${missing}}` });
      continue;
    }
    // A pattern may take its whole time, and the next one too.
    if (isLongTurn()) await nextTurn();
    const why = await objection(scorer, target, compile);
    if (why instanceof Unanswered) {
      results.push({ name, score: 0, why: why.because });
      continue;
    }
    const good = (why === undefined) !== (scorer.negate ?? false);
    results.push(good ? { name, score: 1 } : { name, score: 0, why: why ?? 'it matched, and must not' });
  }
  return combined(score, results);
}

/** A judge's own score counts as one more scorer. */
export function scoreWith(score: Score, { results }: ScoreResult, judged: number): ScoreResult {
  return combined(score, [...results, { name: 'judge', score: judged }]);
}

/**
 * Whether it passes if the judge gives it all, and if it gives nothing. Under `all` and `any` a judge can only veto:
 * what the scorers failed stays failed.
 */
export function couldPass(score: Score, result: ScoreResult): { readonly atBest: boolean; readonly atWorst: boolean } {
  if (score.combine !== 'weighted') return { atBest: result.pass, atWorst: false };
  return { atBest: scoreWith(score, result, 1).pass, atWorst: scoreWith(score, result, 0).pass };
}

function combined(score: Score, results: ScoreResult['results']): ScoreResult {
  const total = combine(
    score,
    results.map((result) => result.score),
  );
  return { combined: total, pass: total >= score.threshold, results };
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

/** A pattern or a schema that ran out of time: neither a match nor none. */
class Unanswered {
  constructor(readonly because: string) {}
}

/** What a scorer has against the text, in words; undefined when nothing. */
async function objection(scorer: Scorer, text: string, compile: Compile): Promise<string | Unanswered | undefined> {
  switch (scorer.type) {
    case 'exact-match': {
      return isExactly(text, scorer.value) ? undefined : 'it is something else';
    }
    case 'contains': {
      const fold = (value: string) => (scorer.caseSensitive === false ? value.toLowerCase() : value);
      return fold(text).includes(fold(scorer.value))
        ? undefined
        : `it does not contain ${JSON.stringify(shortened(scorer.value))}`;
    }
    case 'regex': {
      const found = testPattern({ source: scorer.pattern, flags: scorer.flags ?? '' }, text);
      if ('error' in found) return new Unanswered(found.error);
      return found.value ? undefined : `it does not match ${scorer.pattern}`;
    }
    case 'json-schema': {
      const value = jsonWithin(text);
      if (value === undefined) return 'it is not JSON';
      const judged = await heldTo(scorer.schema, value, text.length);
      return 'unanswered' in judged ? new Unanswered(judged.unanswered) : judged.problems[0];
    }
    case 'code-compiles':
      return compile(scorer.language, text);
    case 'length-range': {
      const { min = 0, max = Number.POSITIVE_INFINITY } = scorer;
      return text.length >= min && text.length <= max ? undefined : `its length is ${text.length}`;
    }
  }
}

function isExactly(text: string, wanted: JsonValue): boolean {
  if (typeof wanted === 'string') return text.trim() === wanted.trim();
  return canonicalEncode(jsonWithin(text)) === canonicalEncode(wanted);
}

/** Names what it did not pass, so that nobody has to look for it among the scores. */
export function tooLow({ threshold }: Score, { combined, results }: ScoreResult): string {
  const failed = results.flatMap(({ name, why }) => (why === undefined ? [] : [`${name}: ${why}`]));
  const more = failed.length > 3 ? [`and ${failed.length - 3} more`] : [];
  return `the score is ${combined}, below ${threshold} (${[...failed.slice(0, 3), ...more].join('; ')})`;
}

/** For whoever judges after the scorers. */
export function scoreReport({ combine: how, threshold }: Score, { combined: total, results }: ScoreResult): string {
  const lines = results.map(({ name, score, why }) => `${name}: ${score}${why === undefined ? '' : ` (${why})`}`);
  return [...lines, `combined (${how}): ${total}, the threshold is ${threshold}`].join('\n');
}

/** A value may be a whole output. */
function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

export function scoreJson({ combined, results }: ScoreResult): JsonObject {
  return { combined, results: results.map((result) => ({ ...result })) };
}
