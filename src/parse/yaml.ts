import type { Alias, Document, Node, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import type { Parsed } from './json.js';
import {
  DEEPEST_NESTING,
  duplicateKey,
  type ListNode,
  type MapEntry,
  type MapNode,
  nestingProblem,
  plainValue,
  type ScalarNode,
  type SyntaxProblem,
  type TextStyle,
  type TreeNode,
} from './tree.js';
import { readYamlTokens, unclosedQuote, type Yaml } from './yaml-tokens.js';
import { yamlProblems } from './yaml-words.js';

/** How many nodes aliases may add up to: plenty for shared settings, nothing for a bomb. */
const MOST_ALIASED_NODES = 20_000;
const MOST_PROBLEMS = 5;
const MOST_BLEMISHES = 500;

/**
 * YAML 1.2 without its pitfalls: no tags, one document, names that are texts, bounded aliases. `<<` merges maps,
 * because people share settings that way.
 */
export async function parseYaml(text: string): Promise<Parsed> {
  const yaml = await import('yaml');
  const tokens = readYamlTokens(yaml, text);
  if ('problem' in tokens) return { problems: [tokens.problem] };
  const composer = new yaml.Composer({ uniqueKeys: false, merge: false, prettyErrors: false, logLevel: 'silent' });
  const documents = [...composer.compose(tokens.tokens, true, text.length)];
  const problems = documentProblems(documents, text, () => unclosedQuote(tokens.tokens));
  if (problems.length > 0) return { problems };
  const builder = new TreeBuilder(yaml, text);
  const tree = builder.build(documents[0]!.contents as Node | null);
  const { blemishes } = builder;
  if (builder.problems.length > 0) return { problems: [...blemishes, ...builder.problems].slice(0, MOST_PROBLEMS) };
  const readable = { value: plainValue(tree), phases: phaseOffsets(tree), tree: async () => tree };
  return blemishes.length > 0 ? { problems: blemishes, readable } : readable;
}

function phaseOffsets(tree: TreeNode): readonly number[] {
  const phases = tree.type === 'map' ? tree.entries.find(({ key }) => key === 'phases')?.value : undefined;
  return phases?.type === 'list' ? phases.items.map(({ start }) => start) : [];
}

function documentProblems(
  documents: readonly { errors: Document['errors'] }[],
  text: string,
  findUnclosed: () => SyntaxProblem | undefined,
): readonly SyntaxProblem[] {
  const errors = documents.flatMap((document) => document.errors);
  const unclosed = errors.some(({ message }) => message.startsWith('Missing closing')) ? findUnclosed() : undefined;
  if (unclosed) return [unclosed];
  if (errors.length > 0) return yamlProblems(errors, text, MOST_PROBLEMS);
  if (documents.length <= 1) return [];
  const second = documents[1] as Document;
  const offset = Math.min(second.range?.[0] ?? 0, Math.max(0, text.length - 1));
  const message = 'a file holds one flow, and here a second document starts';
  return [{ offset, length: 1, code: 'syntax', message }];
}

/** Where a node stands, and how deep. */
interface Spot {
  readonly start: number;
  readonly end: number;
  readonly level: number;
}

interface Built {
  readonly node: TreeNode;
  readonly size: number;
  readonly depth: number;
}

const STYLES: Readonly<Record<string, TextStyle>> = {
  PLAIN: 'plain',
  QUOTE_SINGLE: 'single',
  QUOTE_DOUBLE: 'double',
  BLOCK_LITERAL: 'literal',
  BLOCK_FOLDED: 'folded',
};

class TreeBuilder {
  /** Problems that make the file unreadable. */
  readonly problems: SyntaxProblem[] = [];
  /** Problems that leave no doubt about the rest. */
  readonly blemishes: SyntaxProblem[] = [];
  readonly #anchors = new Map<string, Built | 'open'>();
  #aliased = 0;

  constructor(
    private readonly yaml: Yaml,
    private readonly text: string,
  ) {}

  build(root: Node | null): TreeNode {
    return this.#build(root, 0, 0).node;
  }

  #build(node: Node | null, fallback: number, level: number): Built {
    const start = node?.range?.[0] ?? fallback;
    const end = Math.max(start, node?.range?.[1] ?? start);
    if (node === null || this.problems.length >= MOST_PROBLEMS)
      return leaf({ type: 'scalar', value: null, start, end });
    if (this.yaml.isAlias(node)) return this.#alias(node, { start, end, level });
    const tagged = (node as Scalar).tag;
    if (tagged !== undefined) this.#tag(tagged, start);
    const anchor = (node as Scalar).anchor;
    if (anchor !== undefined) this.#anchors.set(anchor, 'open');
    const built = this.yaml.isMap(node)
      ? this.#map(node, { start, end, level })
      : this.yaml.isSeq(node)
        ? this.#list(node, { start, end, level })
        : leaf(this.#scalar(node as Scalar, start, end));
    if (anchor !== undefined) this.#anchors.set(anchor, built);
    return built;
  }

  #alias(node: Alias, { start, end, level }: Spot): Built {
    const target = this.#anchors.get(node.source);
    const place = { offset: start, length: Math.max(1, end - start) };
    const nothing = leaf({ type: 'scalar', value: null, start, end });
    if (target === undefined) {
      this.problems.push({ ...place, code: 'syntax', message: `there is no anchor &${node.source} before this alias` });
      return nothing;
    }
    if (target === 'open') {
      this.problems.push({
        ...place,
        code: 'alias',
        message: `the alias *${node.source} stands inside its own anchor`,
      });
      return nothing;
    }
    this.#aliased += target.size;
    if (this.#aliased > MOST_ALIASED_NODES) {
      if (!this.problems.some(({ code }) => code === 'alias')) {
        this.problems.push({
          ...place,
          code: 'alias',
          message: 'aliases repeat too much: this file would become huge',
        });
      }
      return nothing;
    }
    if (level + target.depth > DEEPEST_NESTING) this.problems.push(nestingProblem(start));
    return target;
  }

  #tag(tag: string, start: number): void {
    const before = /![^\s]*\s*(?:&\S+\s*)?$/.exec(this.text.slice(Math.max(0, start - 300), start));
    const offset = before ? start - before[0].length : start;
    this.#blemish({
      offset,
      length: before ? before[0].trimEnd().length : 1,
      code: 'yaml-tag',
      message: `YAML tags (${tag.slice(0, 60)}) are not allowed`,
      hint: 'leave the tag out; put the value in quotes if it has to be a text',
    });
  }

  #blemish(problem: SyntaxProblem): void {
    if (this.blemishes.length < MOST_BLEMISHES) this.blemishes.push(problem);
  }

  #scalar(node: Scalar, start: number, end: number): ScalarNode {
    const { value } = node;
    if (typeof value === 'string')
      return { type: 'scalar', value, start, end, style: STYLES[node.type ?? 'PLAIN'] ?? 'plain' };
    if (typeof value === 'boolean' || value === null) return { type: 'scalar', value, start, end };
    if (typeof value === 'number' && Number.isFinite(value)) return { type: 'scalar', value, start, end };
    // Uses the source text, not what a tag made of it (a date, bytes).
    if (node.tag !== undefined) return { type: 'scalar', value: node.source ?? '', start, end, style: 'plain' };
    this.#blemish({
      offset: start,
      length: Math.max(1, end - start),
      code: 'bad-number',
      message: `${(node.source ?? String(value)).slice(0, 40)} is no number that can be used`,
      hint: 'put it in quotes if it is meant as a text',
    });
    // Already reported: any number will do for the rest of the check.
    return { type: 'scalar', value: 1, start, end };
  }

  #list(node: YAMLSeq, { start, end, level }: Spot): Built {
    let size = 1;
    let depth = 0;
    const items: TreeNode[] = [];
    for (const item of node.items) {
      const built = this.#build(item as Node | null, start, level + 1);
      size += built.size;
      depth = Math.max(depth, built.depth);
      items.push(built.node);
    }
    return { node: { type: 'list', items, start, end } satisfies ListNode, size, depth: depth + 1 };
  }

  #map(node: YAMLMap, { start, end, level }: Spot): Built {
    let size = 1;
    let depth = 0;
    const own: MapEntry[] = [];
    const merged: MapEntry[] = [];
    const seen = new Set<string>();
    for (const pair of node.items as Pair<Node | null, Node | null>[]) {
      const key = this.#key(pair.key, start);
      if (!key) continue;
      const built = this.#build(pair.value, key.keyEnd, level + 1);
      size += built.size;
      depth = Math.max(depth, built.depth);
      if (key.key === '<<' && key.plain) {
        merged.push(...this.#mergeSources(built.node, key.keyStart));
        continue;
      }
      if (seen.has(key.key)) this.#blemish(duplicateKey(key.key, key.keyStart, key.keyEnd - key.keyStart));
      seen.add(key.key);
      own.push({ key: key.key, keyStart: key.keyStart, keyEnd: key.keyEnd, value: built.node });
    }
    const entries = [...own];
    for (const entry of merged) {
      if (seen.has(entry.key)) continue;
      seen.add(entry.key);
      entries.push(entry);
    }
    return { node: { type: 'map', entries, start, end } satisfies MapNode, size, depth: depth + 1 };
  }

  #key(node: Node | null, fallback: number) {
    const keyStart = node?.range?.[0] ?? fallback;
    const keyEnd = Math.max(keyStart, node?.range?.[1] ?? keyStart);
    if (node !== null && this.yaml.isScalar(node)) {
      if (node.tag !== undefined) this.#tag(node.tag, keyStart);
      const plain = node.type === 'PLAIN';
      // `1:` and `true:` are names: the source text counts.
      const key = typeof node.value === 'string' ? node.value : (node.source ?? String(node.value));
      return { key, keyStart, keyEnd, plain };
    }
    const message = 'a name has to be a plain text';
    this.problems.push({ offset: keyStart, length: Math.max(1, keyEnd - keyStart), code: 'syntax', message });
    return undefined;
  }

  #mergeSources(node: TreeNode, offset: number): readonly MapEntry[] {
    const sources = node.type === 'list' ? node.items : [node];
    const entries: MapEntry[] = [];
    for (const source of sources) {
      if (source.type === 'map') entries.push(...source.entries);
      else this.problems.push({ offset, length: 2, code: 'syntax', message: '<< merges a map, or a list of maps' });
    }
    return entries;
  }
}

function leaf(node: ScalarNode): Built {
  return { node, size: 1, depth: 0 };
}
