import type { JsonObject, JsonValue } from '../../model/json.js';
import { strictJson } from '../core/output.js';
import { readAnswer, type SaidObject } from './answer.js';
import { isNegated, type OwnLine, statements } from './own-words.js';

export interface Verdict {
  readonly pass: boolean;
  readonly reason: string;
  /** The JSON that gave it. */
  readonly fields?: JsonObject;
}

type Unclear = { readonly unclear: string };

/**
 * `VERDICT: PASS|BLOCK` on a line of its own, or JSON that says it. What is quoted, fenced or negated passes nothing;
 * both words, wherever they are, block, and so does whatever is unclear.
 */
export function readVerdict(text: string): Verdict {
  const { objects, lines } = readAnswer(text);
  const given = [...verdictsInProse(lines), ...objects.flatMap((object) => verdictInJson(object) ?? [])];
  const unclear = given.find((found) => 'unclear' in found);
  if (unclear) return blocked(unclear.unclear);
  const verdicts = given as readonly Verdict[];
  const first = verdicts.find(({ reason }) => reason !== '') ?? verdicts[0];
  if (!first) return blocked('the answer holds no verdict of its own');
  if (verdicts.some(({ pass }) => pass !== first.pass)) return blocked('the answer holds two verdicts');
  return first;
}

function blocked(why: string): Verdict {
  return { pass: false, reason: `${why}: it counts as BLOCK` };
}

/** A BLOCK counts wherever it is written. */
const BLOCK_ANYWHERE = /\bVERDICT\s{0,8}["'”]?\s{0,8}[:=：]\s{0,8}["'“‘`]?BLOCK\b(.*)/i;
/** Words that withdraw the verdict before them, or put it off. */
const TAKEN_BACK =
  /^(?:but )?(?:or|if|unless|provided|once|only (?:if|when|after)|not(?: yet|[.! ]*$))\b|\bVERDICT\b|\bBLOCK\b/;

function verdictsInProse(lines: readonly OwnLine[]): (Verdict | Unclear)[] {
  const before = reasonBefore(lines);
  const blocks = lines.flatMap(({ text }) => {
    const behind = BLOCK_ANYWHERE.exec(text)?.[1];
    return behind === undefined ? [] : [{ pass: false, reason: trimmed(behind) || before }];
  });
  const passes = statements(lines, 'VERDICT').flatMap(({ said, negated }): (Verdict | Unclear)[] => {
    const [, word = '', behind = ''] = /^["'“‘`]?(\p{L}*)(.*)$/u.exec(said) ?? [];
    if (/^block$/i.test(word)) return [];
    if (!/^pass$/i.test(word)) return [{ unclear: `unclear verdict ${JSON.stringify(said.slice(0, 40))}` }];
    const reason = trimmed(behind);
    if (negated || /^\s*[\p{L}\p{N}|/?"'”’`]/u.test(behind) || TAKEN_BACK.test(reason)) {
      return [{ unclear: `unclear verdict ${JSON.stringify(said.slice(0, 80))}` }];
    }
    return [{ pass: true, reason: reason || before }];
  });
  if (passes.length > 0 && isBlockedAfter(lines)) passes.push({ unclear: 'the answer says both words' });
  const negated = isNegated(lines, 'VERDICT') ? [{ unclear: 'the answer negates a verdict' }] : [];
  return [...blocks, ...passes, ...negated];
}

/** After a verdict, the bare word withdraws it: `VERDICT: PASS … no, BLOCK`. */
function isBlockedAfter(lines: readonly OwnLine[]): boolean {
  const own = lines.filter(({ quoted }) => !quoted).map(({ text }) => text);
  const at = own.findIndex((text) => /\bVERDICT\s*[:=：]/i.test(text));
  return own.slice(at + 1).some((text) => /\bBLOCK(?:ED)?\b/.test(text));
}

/** Without the punctuation between a verdict and its reason. */
function trimmed(text: string): string {
  return text.replace(/^[^\p{L}\p{N}]+/u, '').trim();
}

const TWICE_IN_JSON = /"verdict"\s*:\s*"\s*block|"pass"\s*:\s*false/i;

function verdictInJson({ fields, text, isOwn }: SaidObject): Verdict | Unclear | undefined {
  const { verdict, pass, reason, summary } = fields;
  if (verdict === undefined && pass === undefined) return undefined;
  const word = typeof verdict === 'string' ? verdict.trim().toUpperCase() : verdict;
  const meant = word === 'PASS' ? true : word === 'BLOCK' ? false : undefined;
  if (verdict !== undefined && meant === undefined) return { unclear: `unclear verdict ${JSON.stringify(verdict)}` };
  if (pass !== undefined && typeof pass !== 'boolean') return { unclear: `unclear verdict ${JSON.stringify(pass)}` };
  if (meant !== undefined && pass !== undefined && meant !== pass) return { unclear: 'the answer holds two verdicts' };
  const passes = (meant ?? pass) === true;
  // A parser takes the last of two members with one name.
  if (passes && TWICE_IN_JSON.test(text)) return { unclear: 'the answer holds two verdicts' };
  if (passes && !isOwn) return undefined;
  const given = reason ?? summary;
  return { pass: passes, reason: typeof given === 'string' ? given : '', fields };
}

/** The last line that says something, without the verdict itself. */
function reasonBefore(lines: readonly OwnLine[]): string {
  const said = lines.filter(({ text }) => text !== '' && !/\bVERDICT\b|^(?:PASS|BLOCK)\W*$/i.test(text));
  return said.at(-1)?.text.slice(0, 200) ?? '';
}

/** A number from 0 to 1: `SCORE: 0.8`, `{"score": 0.8}`, or nothing but the number; undefined when it is unclear. */
export function readScore(text: string): number | undefined {
  const whole = strictJson(text.trim());
  const score = onlyNumber([
    ...(typeof whole === 'number' ? [whole] : []),
    ...saidNumbers(text, 'SCORE', /^(-?\d+(?:\.\d+)?)(?![\d|])/),
  ]);
  return score !== undefined && score >= 0 && score <= 1 ? score : undefined;
}

/** Which of `count` candidates `WINNER: n`, or JSON, names; undefined when that is unclear. */
export function readWinner(text: string, count: number): number | undefined {
  const number = onlyNumber(saidNumbers(text, 'WINNER', /^(?:candidate\s*)?(\d+)(?!\s*(?:[|/\d]|,?\s*or\b))/i));
  return number !== undefined && Number.isInteger(number) && number >= 1 && number <= count ? number : undefined;
}

/** All that the judge itself says under that name; NaN for what is no clear number. */
function saidNumbers(text: string, name: string, pattern: RegExp): JsonValue[] {
  const { objects, lines } = readAnswer(text);
  const again = new RegExp(`\\b${name}\\s*[:=]`, 'i');
  const inProse = statements(lines, name).map(({ said, negated }) =>
    negated || again.test(said) ? Number.NaN : Number(pattern.exec(said)?.[1] ?? Number.NaN),
  );
  const member = name.toLowerCase();
  return [
    ...inProse,
    ...objects.flatMap(({ fields, isOwn }) => (isOwn && Object.hasOwn(fields, member) ? [fields[member]!] : [])),
  ];
}

/** What all that say one say; undefined when none does, or two differ. */
function onlyNumber(said: readonly JsonValue[]): number | undefined {
  const numbers = new Set(
    said.map((one) => (typeof one === 'string' || typeof one === 'number' ? Number(one) : Number.NaN)),
  );
  const [number] = numbers;
  return numbers.size === 1 ? number : undefined;
}
