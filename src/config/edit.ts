import type { Diagnostic } from '../model/diagnostic.js';
import type { JsonValue } from '../model/json.js';
import { nearestName } from '../util/nearest.js';
import { checkConfigText } from './check-file.js';
import { findSetting, RUNNER_SETTINGS, SETTINGS, SHORT_KEYS } from './settings.js';

type EditResult =
  | { readonly text: string; readonly key: string; readonly value: JsonValue }
  /** The setting to remove is not in the file; `nearest` may be what was meant. */
  | { readonly absent: string; readonly nearest?: string }
  | { readonly problem: string; readonly hint?: string };

const HEADER = '# Settings of taskflow. `taskflow config list` shows all of them and where each value comes from.\n';

/** The full key that was meant, or the nearest one. */
export async function resolveKey(
  key: string,
): Promise<{ readonly key: string } | { readonly problem: string; readonly hint?: string }> {
  const full = SHORT_KEYS.get(key) ?? key;
  if (findSetting(full)) return { key: full };
  const runner = /^runners\.([^.]+)\.[^.]+$/.exec(key);
  const known = runner
    ? RUNNER_SETTINGS.map((setting) => `runners.${runner[1]}.${setting.key}`)
    : [...SETTINGS.map((setting) => setting.key), ...SHORT_KEYS.keys()];
  const nearest = await nearestName(key, known);
  return {
    problem: `there is no setting ${key}`,
    hint: nearest ? `did you mean ${nearest}?` : 'taskflow config list --all shows every setting',
  };
}

/** Puts one value into a settings file's text; its comments and its order stay. Undefined takes the setting out. */
export async function editConfigText(text: string, wanted: string, raw: string | undefined): Promise<EditResult> {
  // A runner goes as a whole, too; it is set field by field.
  const isRunner = raw === undefined && /^runners\.[^.]+$/.test(wanted);
  const resolved = isRunner ? { key: wanted } : await resolveKey(wanted);
  if ('problem' in resolved) return resolved;
  const { key } = resolved;
  const yaml = await import('yaml');
  const document: import('yaml').Document = yaml.parseDocument(text.trim() === '' ? HEADER : text);
  if (document.errors.length > 0) {
    const [first] = (await checkConfigText(text, 'config.yaml')).problems;
    return { problem: `the file has to be put right first: ${describe(first)}` };
  }
  const path = key.split('.');
  let value: JsonValue = null;
  if (raw === undefined) {
    if (!takeOut(document, path)) return { absent: key, ...(await nearestRunner(document, path)) };
    dropEmptyRunners(yaml, document, path);
  } else {
    value = readRaw(yaml, raw);
    const read = findSetting(key)!.read(value);
    if ('expected' in read) return { problem: `${key} must be ${read.expected}, not ${JSON.stringify(value)}` };
    if (typeof read.value === 'boolean') value = read.value;
    if (document.contents === null) document.contents = document.createNode({});
    unfold(yaml, document, path);
    document.setIn(path, value);
  }
  const isEmpty = yaml.isMap(document.contents) && document.contents.items.length === 0;
  // A file that holds `{}` would keep the braces around the next setting.
  const edited = isEmpty ? leadingComments(text) : document.toString({ lineWidth: 0 });
  const after = await checkConfigText(edited, 'config.yaml');
  const mine = after.problems.find((problem) => problem.severity === 'error');
  if (mine && (await checkConfigText(text, 'config.yaml')).problems.length === 0) return { problem: describe(mine) };
  return { text: edited, key, value };
}

function leadingComments(text: string): string {
  return /^(?:[ \t]*(?:#.*)?\n)*/.exec(text)?.[0].trimEnd().concat('\n') ?? '';
}

/** False when it is not there. A short form (`iteration: off`) is the setting that it means. */
function takeOut(document: import('yaml').Document, path: readonly string[]): boolean {
  if (document.hasIn(path)) return document.deleteIn(path);
  const above = path.slice(0, -1);
  const isShort = SHORT_KEYS.get(above.join('.')) === path.join('.');
  return isShort && document.hasIn(above) && typeof document.getIn(above) !== 'object' && document.deleteIn(above);
}

/** Removes a runner without fields, and `runners` without a runner. */
function dropEmptyRunners(
  yaml: typeof import('yaml'),
  document: import('yaml').Document,
  path: readonly string[],
): void {
  if (path[0] !== 'runners') return;
  for (let depth = path.length - 1; depth > 0; depth--) {
    const above = path.slice(0, depth);
    const node = document.getIn(above, true);
    if (yaml.isMap(node) && node.items.length === 0) document.deleteIn(above);
  }
}

async function nearestRunner(document: import('yaml').Document, path: readonly string[]) {
  const runners = (document.toJS() as { readonly runners?: JsonValue } | null)?.runners;
  if (path[0] !== 'runners' || typeof runners !== 'object' || runners === null) return {};
  const nearest = await nearestName(path[1]!, Object.keys(runners));
  return nearest === undefined || nearest === path[1]
    ? {}
    : { nearest: ['runners', nearest, ...path.slice(2)].join('.') };
}

/** `[node, agent.mjs]`, `3` and `true` mean the same as in the file; anything that is not YAML is text. */
function readRaw(yaml: typeof import('yaml'), raw: string): JsonValue {
  const parsed = yaml.parseDocument(raw);
  if (parsed.errors.length > 0) return raw;
  const value = parsed.toJS() as JsonValue;
  return value === null ? raw : value;
}

/** Replaces a short form on the path (`iteration: off`) by the group that it stands for. */
function unfold(yaml: typeof import('yaml'), document: import('yaml').Document, path: readonly string[]): void {
  for (let depth = 1; depth < path.length; depth++) {
    const above = path.slice(0, depth);
    const node = document.getIn(above, true);
    if (yaml.isMap(node) || node === undefined) continue;
    const short = SHORT_KEYS.get(above.join('.'));
    const keep = short && yaml.isScalar(node) && node.value !== null ? { [short.split('.').at(-1)!]: node.value } : {};
    document.setIn(above, document.createNode(keep));
  }
}

function describe(problem: Diagnostic | undefined): string {
  return problem ? `line ${problem.line}: ${problem.message}` : 'it is no valid YAML';
}
