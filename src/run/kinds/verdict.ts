import type { JsonValue } from '../../model/json.js';
import { isJsonObject } from '../../model/json.js';
import { jsonWithin } from '../output.js';

export interface Verdict {
  readonly pass: boolean;
  readonly reason: string;
}

/** The last `VERDICT: PASS|BLOCK`, else JSON that says it. Whatever is unclear blocks. */
export function readVerdict(text: string): Verdict {
  const plain = text.replaceAll(/[*_`~#>"]/g, '');
  const said = [...plain.matchAll(/\bVERDICT\s*[:=]\s*([A-Za-z]+)([^\n]*)/gi)].at(-1);
  if (said) {
    const word = said[1]!.toUpperCase();
    const rest = said[2]!.replace(/^[\s.,:;–—-]+/, '').trim();
    if (word === 'PASS' || word === 'BLOCK') return { pass: word === 'PASS', reason: rest || reasonBefore(plain) };
    return { pass: false, reason: `unclear verdict ${JSON.stringify(said[1])}: it counts as BLOCK` };
  }
  const json = jsonVerdict(jsonWithin(text));
  return json ?? { pass: false, reason: 'the answer holds no verdict: it counts as BLOCK' };
}

function jsonVerdict(value: JsonValue | undefined): Verdict | undefined {
  if (value === undefined || !isJsonObject(value)) return undefined;
  const told = value['reason'] ?? value['summary'];
  const reason = typeof told === 'string' ? told : '';
  if (typeof value['verdict'] === 'string') {
    const word = value['verdict'].trim().toUpperCase();
    if (word === 'PASS' || word === 'BLOCK') return { pass: word === 'PASS', reason };
    return { pass: false, reason: `unclear verdict ${JSON.stringify(value['verdict'])}: it counts as BLOCK` };
  }
  return typeof value['pass'] === 'boolean' ? { pass: value['pass'], reason } : undefined;
}

/** The last line that says something, without the verdict itself. */
function reasonBefore(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return (
    lines
      .filter((line) => line !== '' && !/\bVERDICT\b/i.test(line))
      .at(-1)
      ?.slice(0, 200) ?? ''
  );
}

/** A number from 0 to 1: `SCORE: 0.8`, `{"score": 0.8}`, or nothing but the number. */
export function readScore(text: string): number | undefined {
  const json = jsonWithin(text);
  const inJson = typeof json === 'number' ? json : json !== undefined && isJsonObject(json) ? json['score'] : undefined;
  const plain = text.replaceAll(/[*_`~#>]/g, '');
  const said = [...plain.matchAll(/\bSCORE\s*[:=]\s*(-?\d+(?:\.\d+)?)/gi)].at(-1)?.[1];
  const score = typeof inJson === 'number' ? inJson : said === undefined ? Number.NaN : Number(said);
  return score >= 0 && score <= 1 ? score : undefined;
}
