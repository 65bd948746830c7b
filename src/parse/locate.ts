import { offsetInText } from './text-offsets.js';
import type { TreeNode } from './tree.js';

export type Path = readonly (string | number)[];

/** A place in a file, given by its path: the name of a field, its value, or a part of its text. */
interface Place {
  readonly path: Path;
  /** `key`: the name that the path ends with. */
  readonly target: 'key' | 'value';
  /** Part of a text value. */
  readonly span?: { readonly offset: number; readonly length: number };
}

interface SourceRange {
  readonly offset: number;
  readonly length: number;
}

/** Range of a place; for a value that is not written (a default), the nearest one above it that is. */
export function locate(source: string, root: TreeNode, place: Place): SourceRange {
  let node = root;
  let key: { start: number; end: number } | undefined;
  for (const step of place.path) {
    const next = child(node, step);
    if (!next) {
      if (place.span === undefined || node.type !== 'scalar') return rangeOf(source, node, key);
      break;
    }
    node = next.value;
    key = next.key;
  }
  if (place.target === 'key' && key) return { offset: key.start, length: Math.max(1, key.end - key.start) };
  if (place.span && node.type === 'scalar' && node.style !== undefined) {
    const start = offsetInText(source, node, place.span.offset);
    const last = offsetInText(source, node, place.span.offset + Math.max(0, place.span.length - 1));
    return { offset: start, length: Math.max(1, last - start + 1) };
  }
  return rangeOf(source, node, undefined);
}

function child(node: TreeNode, step: string | number) {
  if (node.type === 'list' && typeof step === 'number') {
    const value = node.items[step];
    return value && { value, key: undefined };
  }
  if (node.type === 'map' && typeof step === 'string') {
    // If a name is given twice, the last one counts, as in the value.
    const entry = node.entries.findLast(({ key }) => key === step);
    return entry && { value: entry.value, key: { start: entry.keyStart, end: entry.keyEnd } };
  }
  return undefined;
}

/** Only the first line: a whole object or block is too large a place. */
function rangeOf(source: string, node: TreeNode, key: { start: number; end: number } | undefined): SourceRange {
  if (key && node.type !== 'scalar') return { offset: key.start, length: Math.max(1, key.end - key.start) };
  const end = Math.min(Math.max(node.end, node.start + 1), source.length);
  const written = source.slice(node.start, end).split('\n', 1)[0]!.trimEnd();
  return { offset: node.start, length: Math.max(1, written.length) };
}
