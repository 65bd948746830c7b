import type { JsonObject, JsonValue } from '../../model/json.js';
import { strictJson } from '../core/output.js';
import { readAnswer } from './answer.js';

export interface Verdict {
  readonly pass: boolean;
  readonly reason: string;
  /** The JSON that gave it. */
  readonly fields?: JsonObject;
}

type Unclear = { readonly unclear: string };

/** The last `VERDICT: PASS|BLOCK`, or JSON that says it. Whatever is unclear, or says both, blocks. */
export function readVerdict(text: string): Verdict {
  const { objects, prose } = readAnswer(text);
  const given = [verdictInProse(prose), ...objects.map(verdictInJson)].filter((found) => found !== undefined);
  const unclear = given.find((found) => 'unclear' in found);
  if (unclear) return blocked(unclear.unclear);
  const verdicts = given as readonly Verdict[];
  if (verdicts.length === 0) return blocked('the answer holds no verdict');
  if (verdicts.some(({ pass }) => pass !== verdicts[0]!.pass)) return blocked('the answer holds two verdicts');
  return verdicts.find(({ reason }) => reason !== '') ?? verdicts[0]!;
}

function blocked(why: string): Verdict {
  return { pass: false, reason: `${why}: it counts as BLOCK` };
}

/** On the next line only a verdict is one; what else stands there is what comes next. */
const SAID = /\bVERDICT[ \t]*[:=](?:[ \t]*["'“]?([A-Za-z]+)|\s*(PASS|BLOCK)\b)/gi;
/** `PASS or BLOCK`, `PASS|BLOCK`: what was asked for, repeated. */
const CHOICE_AFTER = /^["'”]?[ \t]*(?:[|/]|,?[ \t]*or\b)[ \t]*(?:VERDICT[ \t]*[:=])?[ \t]*(?:PASS|BLOCK)\b/i;
const CHOICE_BEFORE = /\b(?:PASS|BLOCK)["'”]?[ \t]*(?:[|/]|,?[ \t]*\bor)[ \t]*$/i;

function verdictInProse(prose: string): Verdict | Unclear | undefined {
  const said = [...prose.matchAll(SAID)].at(-1);
  if (!said) return undefined;
  const word = said[1] ?? said[2]!;
  const after = prose.slice(said.index + said[0].length);
  if (!/^(PASS|BLOCK)$/i.test(word)) return { unclear: `unclear verdict ${JSON.stringify(word)}` };
  if (CHOICE_AFTER.test(after) || CHOICE_BEFORE.test(prose.slice(0, said.index))) {
    return { unclear: 'the answer repeats the question instead of giving a verdict' };
  }
  const reason = after
    .split('\n', 1)[0]!
    .replace(/^[\s"'”.,:;–—-]+/, '')
    .trim();
  return { pass: word.toUpperCase() === 'PASS', reason: reason || reasonBefore(prose) };
}

function verdictInJson(object: JsonObject): Verdict | Unclear | undefined {
  const { verdict, pass, reason, summary } = object;
  if (verdict === undefined && pass === undefined) return undefined;
  const word = typeof verdict === 'string' ? verdict.trim().toUpperCase() : verdict;
  const meant = word === 'PASS' ? true : word === 'BLOCK' ? false : undefined;
  if (verdict !== undefined && meant === undefined) return { unclear: `unclear verdict ${JSON.stringify(verdict)}` };
  if (pass !== undefined && typeof pass !== 'boolean') return { unclear: `unclear verdict ${JSON.stringify(pass)}` };
  if (meant !== undefined && pass !== undefined && meant !== pass) return { unclear: 'the answer holds two verdicts' };
  const told = reason ?? summary;
  return { pass: (meant ?? pass) === true, reason: typeof told === 'string' ? told : '', fields: object };
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

/** A number from 0 to 1: the last `SCORE: 0.8`, `{"score": 0.8}`, or nothing but the number; undefined when it is unclear. */
export function readScore(text: string): number | undefined {
  const whole = strictJson(text.trim());
  const { objects, prose } = readAnswer(text);
  const said = [...prose.matchAll(/\bSCORE\s*[:=]\s*(-?\d+(?:\.\d+)?)/gi)].at(-1)?.[1];
  const score = onlyNumber([typeof whole === 'number' ? whole : said, ...objects.map((object) => object['score'])]);
  return score !== undefined && score >= 0 && score <= 1 ? score : undefined;
}

/** What all that say one say; undefined when none does, or two differ. */
function onlyNumber(said: readonly (JsonValue | undefined)[]): number | undefined {
  const given = said.filter((one) => one !== undefined);
  const numbers = new Set(
    given.map((one) => (typeof one === 'string' || typeof one === 'number' ? Number(one) : Number.NaN)),
  );
  const [number] = numbers;
  return numbers.size === 1 ? number : undefined;
}

/** Which of `count` candidates the last `WINNER: n`, or JSON, names; undefined when that is unclear. */
export function readWinner(text: string, count: number): number | undefined {
  const { objects, prose } = readAnswer(text);
  const said = [...prose.matchAll(/\bWINNER[ \t]*[:=]\s*(?:candidate\s*)?(\d+)(\s*(?:[|/]|,?\s*or\b)\s*\d)?/gi)].at(-1);
  if (said?.[2] !== undefined) return undefined;
  const number = onlyNumber([said?.[1], ...objects.map(({ winner }) => winner)]);
  return number !== undefined && Number.isInteger(number) && number >= 1 && number <= count ? number : undefined;
}
