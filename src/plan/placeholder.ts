import { isForbiddenName } from '../model/names.js';

/** What a placeholder points at. `item` is the map variable, whatever name the phase gave it. */
type PlaceholderRoot = 'args' | 'steps' | 'item' | 'previous' | 'loop' | 'reflexion';

export interface PlaceholderRef {
  /** As written, without the braces: `steps.scan.json.files.0`. */
  readonly text: string;
  readonly root: PlaceholderRoot;
  /** The argument (`args`), the phase (`steps`) or the field (`loop`); empty for the others. */
  readonly name: string;
  /** For `steps`: the output as text or as JSON. */
  readonly part?: 'output' | 'json';
  /** What follows: properties and list positions. */
  readonly path: readonly string[];
  /** Place of the whole placeholder, braces included, in the template's text. */
  readonly offset: number;
  readonly length: number;
}

/** Text that looks like a placeholder but is none. It stays text, and the checker warns. */
export interface Suspect {
  readonly offset: number;
  readonly length: number;
  readonly text: string;
  readonly message: string;
  /** Certainly meant as a placeholder: an error. Otherwise a warning. */
  readonly certain: boolean;
}

export const LOOP_FIELDS: ReadonlySet<string> = new Set(['iteration', 'lastOutput', 'maxIterations']);
/** Reserved first words of placeholders: a map cannot give one of them to its item. */
export const ROOT_NAMES: readonly string[] = ['args', 'steps', 'previous', 'loop', 'reflexion'];
const NAMES_A_ROOT = /^(args|steps|item|previous|loop|reflexion)(?![\w-])/;
/** One element of a path. Anything that needs quoting in JavaScript is left to `json` and a later phase. */
const PATH = /^[^\s{}.,:;"'`()[\]]+(?:\.[^\s{}.,:;"'`()[\]]+)*$/;
const LONGEST_PLACEHOLDER = 1000;

/** The placeholder at this brace, a suspect, or undefined for a brace that is plainly text. */
export function readPlaceholder(text: string, offset: number, itemName = 'item'): PlaceholderRef | Suspect | undefined {
  const head = text.slice(offset + 1, offset + 2 + Math.max(itemName.length, 16));
  const named = NAMES_A_ROOT.exec(head)?.[1] ?? (startsWithName(head, itemName) ? 'item' : undefined);
  if (named === undefined) return undefined;
  const window = text.slice(offset, offset + LONGEST_PLACEHOLDER);
  const end = window.indexOf('}');
  if (end === -1) return undefined;
  const inner = window.slice(1, end);
  const length = end + 1;
  // `{item+1}` and `{item\}` start like a placeholder but are text, which must stay complete.
  const isNamed = inner.startsWith(`${named}.`) || inner === named || startsWithName(head, itemName);
  if (!PATH.test(inner) || !isNamed) return oddPlaceholder(inner, offset, length);
  return interpret(inner, named as PlaceholderRoot, { offset, length });
}

function startsWithName(text: string, name: string): boolean {
  if (name === 'item' || !text.startsWith(name)) return false;
  const next = text[name.length];
  return next === '.' || next === '}';
}

function interpret(
  inner: string,
  root: PlaceholderRoot,
  place: { readonly offset: number; readonly length: number },
): PlaceholderRef | Suspect {
  const [, ...rest] = inner.split('.');
  const suspect = (message: string, certain: boolean): Suspect => ({ ...place, text: inner, message, certain });
  const ref = (name: string, path: readonly string[], part?: 'output' | 'json'): PlaceholderRef => ({
    text: inner,
    root,
    name,
    ...(part === undefined ? {} : { part }),
    path,
    ...place,
  });
  const forbidden = rest.find(isForbiddenName);
  if (forbidden !== undefined) return suspect(`"${forbidden}" is not allowed as a name`, true);
  const [first, second, ...path] = rest;
  switch (root) {
    case 'args':
      return first === undefined
        ? suspect('{args} is text: name an argument, {args.NAME}', false)
        : ref(first, rest.slice(1));
    case 'steps':
      if (first === undefined) return suspect('{steps} is text: name a phase, {steps.ID.output}', false);
      if (second === undefined) return suspect(`write {steps.${first}.output} or {steps.${first}.json}`, true);
      if (second === 'output' && path.length > 0) {
        return suspect(`the output is text; {steps.${first}.json.${path.join('.')}} reads inside it`, true);
      }
      if (second !== 'output' && second !== 'json') {
        return suspect(`a phase has "output" and "json", not "${second}"`, true);
      }
      return ref(first, path, second);
    case 'previous':
      if (first === undefined) return suspect('{previous} is text: write {previous.output}', false);
      if (first !== 'output' || second !== undefined) return suspect('there is only {previous.output}', true);
      return ref('', []);
    case 'loop':
      if (first === undefined) return suspect('{loop} is text: write {loop.iteration} or {loop.lastOutput}', false);
      if (!LOOP_FIELDS.has(first) || second !== undefined) {
        return suspect('there are {loop.iteration}, {loop.lastOutput} and {loop.maxIterations}', true);
      }
      return ref(first, []);
    case 'reflexion':
      return first === undefined ? ref('', []) : suspect('there is only {reflexion}', true);
    case 'item':
      return ref('', rest);
  }
}

/** `{steps.x.json[0]}`, `{item['a b']}`, `{item|upper}` are near misses. Everything else is prose or code. */
function oddPlaceholder(inner: string, offset: number, length: number): Suspect | undefined {
  if (!/^(args|steps|previous|loop|item)[.[|+*/?!][^\s{}`;]{1,200}$/.test(inner)) return undefined;
  const dotted = inner.replaceAll(/\[['"]?([\w-]+)['"]?\]/g, '.$1');
  const advice = PATH.test(dotted) ? `; write {${dotted}}` : '';
  return {
    offset,
    length,
    text: inner,
    message: `{${inner}} is no placeholder and stays text${advice}`,
    certain: false,
  };
}

/** Whether this text in braces is a placeholder. */
export function isPlaceholder(inner: string, itemName?: string): boolean {
  const found = readPlaceholder(`{${inner}}`, 0, itemName);
  return found !== undefined && 'root' in found;
}
