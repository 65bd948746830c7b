import type { JsonValue } from '../model/json.js';

/** How a text is written: it decides where its characters stand in the file. */
export type TextStyle = 'json' | 'plain' | 'single' | 'double' | 'literal' | 'folded';

/** The value of a file, YAML or JSON, with the place of each part. Offsets are UTF-16 units of the file's text. */
export type TreeNode = ScalarNode | ListNode | MapNode;

interface Placed {
  readonly start: number;
  readonly end: number;
}

export interface ScalarNode extends Placed {
  readonly type: 'scalar';
  readonly value: string | number | boolean | null;
  /** Set for texts. */
  readonly style?: TextStyle;
}

export interface ListNode extends Placed {
  readonly type: 'list';
  readonly items: readonly TreeNode[];
}

export interface MapNode extends Placed {
  readonly type: 'map';
  readonly entries: readonly MapEntry[];
}

export interface MapEntry {
  readonly key: string;
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly value: TreeNode;
}

/** Why a file cannot be read as a tree. */
export interface SyntaxProblem {
  readonly offset: number;
  readonly length: number;
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

/** Deeper than any flow that a person writes, and far below the limit of recursion. */
export const DEEPEST_NESTING = 100;

export function nestingProblem(offset: number): SyntaxProblem {
  return {
    offset,
    length: 1,
    code: 'too-deep',
    message: `lists and objects are nested more than ${DEEPEST_NESTING} levels deep`,
  };
}

export function duplicateKey(key: string, offset: number, length: number): SyntaxProblem {
  return {
    offset,
    length: Math.max(1, length),
    code: 'duplicate-key',
    message: `"${key.slice(0, 100)}" is given twice here`,
    hint: 'remove one of them',
  };
}

/** A node in several places (a YAML alias) becomes one shared value. */
export function plainValue(root: TreeNode): JsonValue {
  const done = new Map<TreeNode, JsonValue>();
  const convert = (node: TreeNode): JsonValue => {
    if (node.type === 'scalar') return node.value;
    const known = done.get(node);
    if (known !== undefined) return known;
    const value =
      node.type === 'list'
        ? node.items.map(convert)
        : Object.fromEntries(node.entries.map(({ key, value }) => [key, convert(value)]));
    done.set(node, value);
    return value;
  };
  return convert(root);
}
