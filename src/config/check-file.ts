import { BUILT_IN_RUNNERS } from '../model/config.js';
import type { Diagnostic } from '../model/diagnostic.js';
import type { JsonValue } from '../model/json.js';
import { parseText } from '../parse/parse.js';
import { Source } from '../parse/source.js';
import { type MapEntry, type MapNode, plainValue, type TreeNode } from '../parse/tree.js';
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
  /** What the file says. */
  readonly written: JsonValue;
  readonly line: number;
  readonly column: number;
  readonly length: number;
}

/** Finds every problem, not just the first. `file` is the name that messages use. */
export async function checkConfigText(text: string, file: string): Promise<CheckedFile> {
  const checker = new FileChecker(new Source(file, text));
  const parsed = await parseText(file, text);
  if ('problems' in parsed) {
    for (const { offset, length, code, message, hint } of parsed.problems) {
      checker.report({ start: offset, end: offset + length }, { code, message, ...(hint ? { hint } : {}) });
    }
  } else {
    await checker.checkRoot(await parsed.tree());
  }
  return { values: checker.values, problems: checker.problems };
}

interface Place {
  readonly start: number;
  readonly end: number;
}

class FileChecker {
  readonly values: Record<string, WrittenValue> = Object.create(null);
  readonly problems: Diagnostic[] = [];

  constructor(private readonly source: Source) {}

  async checkRoot(root: TreeNode): Promise<void> {
    if (root.type === 'map') await this.checkMap(root, '');
    else if (root.type === 'list' || root.value !== null) {
      this.report(root, { code: 'not-a-map', message: 'settings are written as `name: value`', hint: 'runner: pi' });
    }
  }

  private async checkMap(map: MapNode, prefix: string): Promise<void> {
    for (const entry of map.entries) await this.checkEntry(entry, prefix);
  }

  private async checkEntry(entry: MapEntry, prefix: string): Promise<void> {
    const { key: name, value: node } = entry;
    const key = prefix + name;
    if (prefix === 'runners.' && !RUNNER_NAME.test(name)) {
      const hint = 'letters, digits, - and _, at most 64 of them';
      this.report(keyPlace(entry), {
        code: 'bad-name',
        message: `${JSON.stringify(name)} is no name for a runner`,
        hint,
      });
    } else if (!isKnown(key)) {
      await this.reportUnknown(entry, prefix);
    } else if (node.type === 'map' && isGroup(key)) {
      await this.checkMap(node, `${key}.`);
    } else if (node.type === 'scalar' && node.value === null) {
      // `cache:` with nothing under it sets nothing.
    } else if (isGroup(key) && !SHORT_KEYS.has(key)) {
      const hint = `write the settings under it, such as ${key}: {${knownUnder(`${key}.`)[0] ?? 'name'}: …}`;
      this.report(node, { code: 'bad-value', message: `${key} holds further settings, not a value`, hint });
    } else {
      this.readValue(SHORT_KEYS.get(key) ?? key, node);
    }
  }

  private readValue(key: string, node: TreeNode): void {
    const written = plainValue(node);
    const read = findSetting(key)!.read(written);
    if ('expected' in read) {
      const message = `${key} must be ${read.expected}, not ${JSON.stringify(written).slice(0, 100)}`;
      this.report(node, { code: 'bad-value', message });
      return;
    }
    this.values[key] = { value: read.value, written, ...this.place(node) };
  }

  private async reportUnknown(entry: MapEntry, prefix: string): Promise<void> {
    const known = knownUnder(prefix);
    const nearest = await nearestName(entry.key, known);
    const hint = nearest ? `did you mean ${nearest}?` : `known here: ${known.join(', ')}`;
    const message = `unknown setting ${prefix}${entry.key.slice(0, 100)}`;
    this.report(keyPlace(entry), { code: 'unknown-setting', message, hint });
  }

  report(at: Place, problem: Pick<Diagnostic, 'code' | 'message' | 'hint'>): void {
    this.problems.push({ file: this.source.file, ...this.place(at), severity: 'error', ...problem });
  }

  private place({ start, end }: Place): { line: number; column: number; length: number } {
    return { ...this.source.position(start), length: Math.max(1, end - start) };
  }
}

function keyPlace({ keyStart, keyEnd }: MapEntry): Place {
  return { start: keyStart, end: keyEnd };
}

/** A key that holds settings but is not a setting: `cache`, `cache.signingKey`, `runners`, `runners.pi`. */
function isGroup(key: string): boolean {
  if (key === 'runners') return true;
  if (key.startsWith('runners.')) return key.split('.').length === 2;
  return SETTINGS.some((setting) => setting.key.startsWith(`${key}.`));
}

function isKnown(key: string): boolean {
  return isGroup(key) || findSetting(key) !== undefined || SHORT_KEYS.has(key);
}

/** Names that are allowed directly under a prefix such as `` or `cache.`. */
function knownUnder(prefix: string): string[] {
  if (prefix === 'runners.') return [...BUILT_IN_RUNNERS];
  if (prefix.startsWith('runners.')) return RUNNER_SETTINGS.map((setting) => setting.key);
  const names = SETTINGS.filter((setting) => setting.key.startsWith(prefix)).map(
    (setting) => setting.key.slice(prefix.length).split('.')[0]!,
  );
  return [...new Set(prefix === '' ? [...names, 'runners'] : names)];
}
