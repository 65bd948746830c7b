import type { JsonValue } from '../model/json.js';
import { scanJson } from './json-scan.js';
import { plainValue, type SyntaxProblem, type TreeNode } from './tree.js';

export interface Readable {
  readonly value: JsonValue;
  /** Offsets of the entries of the top-level list `phases`. */
  readonly phases: readonly number[];
  readonly tree: () => Promise<TreeNode>;
}

/**
 * `readable`: the value in spite of the problems, where they leave no doubt about the rest. Only for finding further
 * problems.
 */
export type Parsed = Readable | { readonly problems: readonly SyntaxProblem[]; readonly readable?: Readable };

/** Strict JSON goes through the engine's own parser; places are computed only on demand. */
export async function parseJson(text: string): Promise<Parsed> {
  const { problems, phases } = scanJson(text);
  if (problems.length === 0) return readJson(text, phases);
  if (problems.some(({ code }) => code !== 'duplicate-key')) return { problems };
  const readable = await readJson(text, phases);
  return 'problems' in readable ? { problems } : { problems, readable };
}

async function readJson(
  text: string,
  phases: readonly number[],
): Promise<Readable | { readonly problems: readonly SyntaxProblem[] }> {
  const strict = parseStrict(text);
  if (strict) return { value: strict.value, phases, tree: async () => (await parseTree(text)) as TreeNode };
  const tree = await parseTree(text);
  if ('problems' in tree) return tree;
  return { value: plainValue(tree), phases, tree: async () => tree };
}

function parseStrict(text: string): { readonly value: JsonValue } | undefined {
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch {
    // Comments, trailing commas or mistakes: the tolerant parser tells them apart.
    return undefined;
  }
}

async function parseTree(text: string): Promise<TreeNode | { readonly problems: readonly SyntaxProblem[] }> {
  const jsonc = await import('jsonc-parser');
  const errors: { error: number; offset: number; length: number }[] = [];
  const root = jsonc.parseTree(text, errors, { allowTrailingComma: true, disallowComments: false });
  if (errors.length > 0 || root === undefined) {
    const first = errors[0] ?? { error: -1, offset: 0, length: 1 };
    return { problems: [syntaxProblem(text, first)] };
  }
  return convert(root);
}

interface JsoncNode {
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  readonly value?: unknown;
  readonly children?: readonly JsoncNode[];
}

function convert(node: JsoncNode): TreeNode {
  const place = { start: node.offset, end: node.offset + node.length };
  const children = node.children ?? [];
  if (node.type === 'array') return { type: 'list', ...place, items: children.map(convert) };
  if (node.type === 'object') {
    return {
      type: 'map',
      ...place,
      entries: children.map(({ children: [key, value] = [] }) => ({
        key: key!.value as string,
        keyStart: key!.offset,
        keyEnd: key!.offset + key!.length,
        value: convert(value!),
      })),
    };
  }
  const value = node.value as string | number | boolean | null;
  return { type: 'scalar', ...place, value, ...(typeof value === 'string' ? { style: 'json' as const } : {}) };
}

/** One line each; jsonc-parser numbers its errors and leaves the words to us. */
const MESSAGES: Readonly<Record<number, string>> = {
  1: 'this is no JSON value',
  2: 'this is no number',
  3: 'a name in double quotes should stand here',
  4: 'a value should stand here',
  5: 'a colon should stand here',
  6: 'a comma should stand here',
  7: 'a closing brace is missing',
  8: 'a closing bracket is missing',
  9: 'the file should end here',
  11: 'this comment is not closed',
  12: 'this text has no closing quote',
  13: 'this number is not finished',
  14: 'this \\u escape is not finished',
  15: 'this escape does not exist',
  16: 'this character is not allowed here',
};

function syntaxProblem(text: string, { error, offset, length }: { error: number; offset: number; length: number }) {
  const at = Math.min(offset, Math.max(0, text.length - 1));
  return {
    offset: at,
    length: Math.max(1, Math.min(length, 40)),
    code: 'syntax',
    message: text.trim() === '' ? 'the file is empty' : (MESSAGES[error] ?? 'this is no JSON'),
  };
}
