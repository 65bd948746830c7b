import { isPlaceholder, LOOP_FIELDS } from '../plan/placeholder.js';
import { isSlip } from '../util/slip.js';

/** Text in braces that was most likely meant as a placeholder. */
export interface NearPlaceholder {
  readonly offset: number;
  readonly length: number;
  /** As written, braces included. */
  readonly written: string;
  /** The placeholder that was meant, with its braces. */
  readonly meant: string;
  /** The map whose item has this name, where it has no value here. */
  readonly onlyIn?: string;
}

/** The names that placeholders can use in the text. */
export interface Names {
  readonly args: ReadonlySet<string>;
  readonly phases: { has(id: string): boolean; keys(): Iterable<string> };
  /** Maps by the name of their item. */
  readonly itemNames: ReadonlyMap<string, string>;
  /** The item's name, in the body of a map. */
  readonly item?: string;
  readonly inLoop: boolean;
  /** Code has braces of its own, so only certain mistakes count. */
  readonly isCode: boolean;
}

export interface NearMisses {
  readonly near: readonly NearPlaceholder[];
  /**
   * Single words in braces without a near name. In a map that never mentions its item, one of them was meant as the
   * item.
   */
  readonly words: readonly Omit<NearPlaceholder, 'meant'>[];
}

const WORD = '[\\p{L}\\p{N}_$@-]+';
const BRACES = new RegExp(`(\\{\\{?)([ \\t]*)(${WORD}(?:\\.${WORD})*)([ \\t]*)(\\}\\}?)`, 'gu');
/** A placeholder that goes on with something else than its closing brace. */
const UNCLOSED = /\{((?:steps\.[\w-]+\.(?:output|json)|args\.[\w-]+)(?:\.[\w-]+)*)(?![\w.}-])/g;
/** `${name}` is the shell's or JavaScript's, `\cite{name}` is TeX. */
const OTHER_LANGUAGE = /(?:\$|\\[A-Za-z]+)$/;

/**
 * Finds misspelt placeholders. JSON, CSS and code in a prompt do not count: a misspelt placeholder is near a known
 * name.
 */
export function nearMisses(text: string, names: Names): NearMisses {
  const near: NearPlaceholder[] = [];
  const words: Omit<NearPlaceholder, 'meant'>[] = [];
  for (const found of text.matchAll(BRACES)) {
    const [whole, open, before, inner, after, close] = found as unknown as string[];
    const isDouble = open === '{{' && close === '}}';
    const skipped = open === '{{' && !isDouble ? 1 : 0;
    const offset = found.index + skipped;
    const written = whole!.slice(
      skipped,
      isDouble ? undefined : whole!.lastIndexOf(inner!) + inner!.length + after!.length + 1,
    );
    const isSpaced = before !== '' || after !== '';
    if (OTHER_LANGUAGE.test(text.slice(Math.max(0, offset - 40), offset))) continue;
    // A correct placeholder, or one in double braces, which stands for its text.
    if (!isSpaced && isPlaceholder(inner!, names.item)) continue;
    // `{ name }` is JavaScript; a placeholder with spaces has a dot, or double braces.
    if (isSpaced && !isDouble && !inner!.includes('.')) continue;
    const place = { offset, length: written.length, written };
    const meant = isSpaced && isUsable(inner!, names) ? { meant: `{${inner}}` } : meantBy(inner!, names);
    if (meant) near.push({ ...place, ...meant });
    else if (!isDouble && !isSpaced && !names.isCode) words.push(place);
  }
  if (!names.isCode) addUnclosed(text, names, near);
  return { near, words };
}

/** `{steps.a.output, …`, `{args.topic || 'x'}`: of a phase or an argument that is there. */
function addUnclosed(text: string, { phases, args }: Names, near: NearPlaceholder[]): void {
  for (const found of text.matchAll(UNCLOSED)) {
    const [written, inner] = found as unknown as [string, string];
    const [root, name] = inner.split('.') as [string, string];
    const offset = found.index;
    if (
      !(root === 'steps' ? phases : args).has(name) ||
      OTHER_LANGUAGE.test(text.slice(Math.max(0, offset - 40), offset))
    )
      continue;
    if (near.some((other) => other.offset <= offset && offset < other.offset + other.length)) continue;
    near.push({ offset, length: written.length, written, meant: `{${inner}}` });
  }
}

/** A root alone is an ordinary word: `{{ item }}` counts only where there is an item. */
function isUsable(inner: string, { item }: Names): boolean {
  if (!isPlaceholder(inner, item)) return false;
  return item !== undefined || !/^item(?:\.|$)/.test(inner);
}

type Meant = Pick<NearPlaceholder, 'meant' | 'onlyIn'> | undefined;

function meantBy(inner: string, names: Names): Meant {
  const [head, ...rest] = inner.split('.') as [string, ...string[]];
  const text =
    stepMeant(head, rest, names) ??
    argMeant(head, rest, names) ??
    runValueMeant(head, rest, names) ??
    itemMeant(head, rest, names);
  if (text !== undefined) return { meant: `{${text}}` };
  const map = names.isCode ? undefined : names.itemNames.get(head);
  if (map === undefined) return undefined;
  return { meant: `{${[names.item ?? head, ...rest].join('.')}}`, ...(names.item === undefined && { onlyIn: map }) };
}

const STEP_WORDS = /^(step|steps|phase|phases|task|tasks)$/i;
const READINGS: readonly string[] = ['output', 'json'];

/** `{stpes.a.output}`, `{step.a}`, `{a.output}`. */
function stepMeant(head: string, rest: readonly string[], { phases }: Names): string | undefined {
  const [id, reading, ...path] = rest;
  if (id !== undefined && (STEP_WORDS.test(head) || isSlip(head, 'steps'))) {
    const read = reading === undefined || READINGS.includes(reading);
    const phase = phases.has(id) ? id : [...phases.keys()].find((known) => isSlip(id, known));
    if (phase === undefined && (reading === undefined || !read)) return undefined;
    return ['steps', phase ?? id, ...(read ? [reading ?? 'output', ...path] : ['json', reading, ...path])].join('.');
  }
  return phases.has(head) && id !== undefined && READINGS.includes(id) ? ['steps', head, ...rest].join('.') : undefined;
}

const ARG_WORDS = /^(arg|args|argument|arguments|param|params|parameters|input|inputs)$/i;

/** `{arg.topic}`, `{topic}`. */
function argMeant(head: string, rest: readonly string[], { args, isCode }: Names): string | undefined {
  const [name] = rest;
  const isKnown = name !== undefined && args.has(name);
  // `{arms.x}` may be anything; `{arg.x}` and `{agrs.x}` may not.
  const isRoot = isSlip(head, 'args') && (head.length !== 4 || sameLetters(head, 'args'));
  if (isKnown ? ARG_WORDS.test(head) || isSlip(head, 'args') : isRoot && name !== undefined && !isCode) {
    return ['args', ...rest].join('.');
  }
  return args.has(head) && !isCode ? ['args', head, ...rest].join('.') : undefined;
}

function sameLetters(a: string, b: string): boolean {
  return [...a.toLowerCase()].sort().join('') === [...b].sort().join('');
}

/** `{prev.output}`, `{lopp.iteration}`, `{reflection}`. */
function runValueMeant(head: string, rest: readonly string[], { inLoop }: Names): string | undefined {
  const [name] = rest;
  if ((head === 'prev' || isSlip(head, 'previous')) && (name === undefined || name === 'output')) {
    return 'previous.output';
  }
  if (isSlip(head, 'loop') && name !== undefined && LOOP_FIELDS.has(name)) return `loop.${name}`;
  if (inLoop && name === undefined && (head === 'reflection' || isSlip(head, 'reflexion'))) return 'reflexion';
  return undefined;
}

/** In the body of a map: a slip in `item`, or in the name that `as` gives it. */
function itemMeant(head: string, rest: readonly string[], { item, isCode }: Names): string | undefined {
  if (item === undefined || isCode) return undefined;
  const known = [item, 'item'].find((name) => name.length > 2 && isSlip(head, name) && startsAlike(head, name));
  return known === undefined ? undefined : [known, ...rest].join('.');
}

/** People rarely mistype the first letter, except by swapping it with the second. */
function startsAlike(a: string, b: string): boolean {
  return a[0]!.toLowerCase() === b[0]!.toLowerCase() || (a[0] === b[1] && a[1] === b[0]);
}
