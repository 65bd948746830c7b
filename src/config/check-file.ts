import type { Document, Node, Pair, Scalar, YAMLMap } from 'yaml';
import type { Diagnostic } from '../model/diagnostic.js';
import type { JsonValue } from '../model/json.js';
import { nearestName } from '../util/nearest.js';
import { findSetting, RUNNER_NAME, RUNNER_SETTINGS, SETTINGS, SHORT_KEYS } from './settings.js';

/** One settings file, checked: what it says by full key (`cache.maxAge`), and every problem with its place. */
export interface CheckedFile {
  readonly values: Readonly<Record<string, WrittenValue>>;
  readonly problems: readonly Diagnostic[];
}

export interface WrittenValue {
  /** What the program uses: bytes, milliseconds … */
  readonly value: JsonValue;
  /** What stands in the file. */
  readonly written: JsonValue;
  readonly line: number;
  readonly column: number;
  readonly length: number;
}

const MAX_BYTES = 1024 * 1024;

/** Finds every problem, not just the first. `file` is the name that messages use. */
export async function checkConfigText(text: string, file: string): Promise<CheckedFile> {
  if (text.length > MAX_BYTES) {
    const problem = { file, line: 1, column: 1, length: 1, severity: 'error', code: 'too-large' } as const;
    return { values: {}, problems: [{ ...problem, message: 'a settings file has at most 1 MiB' }] };
  }
  const yaml = await import('yaml');
  const lineCounter = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { lineCounter, prettyErrors: false });
  const checker = new FileChecker(document, file, (offset) => lineCounter.linePos(offset), yaml);
  if (document.errors.length > 0) {
    for (const { message, pos } of document.errors) {
      checker.report([pos[0], Math.max(pos[1], pos[0] + 1)], { code: 'syntax', message: `not valid YAML: ${message}` });
    }
  } else {
    await checker.checkRoot();
  }
  return { values: checker.values, problems: checker.problems };
}

type Range = readonly [number, number, ...number[]];

class FileChecker {
  readonly values: Record<string, WrittenValue> = Object.create(null);
  readonly problems: Diagnostic[] = [];

  constructor(
    private readonly document: Document,
    private readonly file: string,
    private readonly position: (offset: number) => { line: number; col: number },
    private readonly yaml: typeof import('yaml'),
  ) {}

  async checkRoot(): Promise<void> {
    const root = this.document.contents;
    if (root === null || (this.yaml.isScalar(root) && root.value === null)) return;
    if (this.yaml.isMap(root)) return this.checkMap(root, '');
    this.report(root.range, {
      code: 'not-a-map',
      message: 'settings are written as `name: value`',
      hint: 'such as runner: pi',
    });
  }

  private async checkMap(map: YAMLMap, prefix: string): Promise<void> {
    for (const pair of map.items as Pair<Scalar, Node | null>[]) {
      const name = this.yaml.isScalar(pair.key) ? String(pair.key.value) : '';
      await this.checkPair(pair, prefix, name);
    }
  }

  private async checkPair(pair: Pair<Scalar, Node | null>, prefix: string, name: string): Promise<void> {
    const key = prefix + name;
    const node = this.yaml.isAlias(pair.value) ? pair.value.resolve(this.document) : pair.value;
    if (node === null || node === undefined || (this.yaml.isScalar(node) && node.value === null)) {
      if (!isKnown(key)) await this.reportUnknown(pair, prefix, name);
      return;
    }
    if (prefix === 'runners.' && !RUNNER_NAME.test(name)) {
      const hint = 'letters, digits, - and _, at most 64 of them';
      this.report(pair.key.range, {
        code: 'bad-name',
        message: `${JSON.stringify(name)} is no name for a runner`,
        hint,
      });
    } else if (this.yaml.isMap(node) && isGroup(key)) {
      await this.checkMap(node, `${key}.`);
    } else if (isGroup(key) && !SHORT_KEYS.has(key)) {
      const hint = `write the settings under it, such as ${key}: {${knownUnder(`${key}.`)[0] ?? 'name'}: …}`;
      this.report(node.range, { code: 'bad-value', message: `${key} holds further settings, not a value`, hint });
    } else if (isKnown(key)) {
      this.readValue(SHORT_KEYS.get(key) ?? key, node);
    } else {
      await this.reportUnknown(pair, prefix, name);
    }
  }

  private readValue(key: string, node: Node): void {
    const written = node.toJS(this.document) as JsonValue;
    const read = findSetting(key)!.read(written);
    if ('expected' in read) {
      this.report(node.range, {
        code: 'bad-value',
        message: `${key} must be ${read.expected}, not ${JSON.stringify(written)}`,
      });
      return;
    }
    const { line, column, length } = this.place(node.range);
    this.values[key] = { value: read.value, written, line, column, length };
  }

  private async reportUnknown(pair: Pair<Scalar, unknown>, prefix: string, name: string): Promise<void> {
    const known = knownUnder(prefix);
    const nearest = await nearestName(name, known);
    const hint = nearest ? `did you mean ${nearest}?` : `known here: ${known.join(', ')}`;
    this.report(pair.key?.range, { code: 'unknown-setting', message: `unknown setting ${prefix}${name}`, hint });
  }

  report(range: Range | null | undefined, problem: Pick<Diagnostic, 'code' | 'message' | 'hint'>): void {
    this.problems.push({ file: this.file, ...this.place(range), severity: 'error', ...problem });
  }

  private place(range: Range | null | undefined): { line: number; column: number; length: number } {
    const { line, col } = this.position(range?.[0] ?? 0);
    return {
      line: Math.max(1, line),
      column: Math.max(1, col),
      length: Math.max(1, (range?.[1] ?? 1) - (range?.[0] ?? 0)),
    };
  }
}

/** Holds settings, and is none itself: `cache`, `cache.signingKey`, `runners`, `runners.pi`. */
function isGroup(key: string): boolean {
  if (key === 'runners') return true;
  if (key.startsWith('runners.')) return key.split('.').length === 2;
  return SETTINGS.some((setting) => setting.key.startsWith(`${key}.`));
}

function isKnown(key: string): boolean {
  return isGroup(key) || findSetting(key) !== undefined || SHORT_KEYS.has(key);
}

/** Names that may stand directly under a prefix such as `` or `cache.`. */
function knownUnder(prefix: string): string[] {
  if (prefix === 'runners.') return ['pi', 'claude', 'codex'];
  if (prefix.startsWith('runners.')) return RUNNER_SETTINGS.map((setting) => setting.key);
  const names = SETTINGS.filter((setting) => setting.key.startsWith(prefix)).map(
    (setting) => setting.key.slice(prefix.length).split('.')[0]!,
  );
  return [...new Set(prefix === '' ? [...names, 'runners'] : names)];
}
