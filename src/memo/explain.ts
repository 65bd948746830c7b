import { isJsonObject, isTextList, type JsonObject, type JsonValue, objectsIn } from '../model/json.js';
import { canonicalEncode } from '../util/canonical.js';
import { oneLine } from '../util/terminal-text.js';
import type { Change } from './change.js';
import { explainFingerprints } from './explain-fingerprints.js';
import { perhapsChanged, sealedElsewhere, withoutSeals } from './sealed.js';
import type { StoredIdentity } from './stored-identity.js';
import { shortDiff } from './text-diff.js';

/**
 * The differences between an identity now and an earlier one, the most likely cause first. Values that another store
 * has sealed cannot be compared: they may have changed.
 */
export function explainChange(now: StoredIdentity, before: StoredIdentity): Change[] {
  if (!sealedElsewhere(now, before)) return differences(now, before);
  const certain = differences(withoutSeals(now), withoutSeals(before));
  return certain.length > 0 ? certain : perhapsChanged(now);
}

function differences(now: StoredIdentity, before: StoredIdentity): Change[] {
  const upstream = explainUpstream(now, before);
  return [
    ...explainVersion(now, before),
    ...explainFingerprints(now['fingerprints'], before['fingerprints']),
    ...upstream,
    ...explainObject('agent', now['agent'], before['agent']),
    ...explainObject('body', now['body'], before['body']),
    ...explainEnvironment(now['env'], before['env']),
    ...explainContext(now['context'], before['context']),
    ...explainRest(now, before),
  ];
}

const SHOWN = 2;

/** All changes in one line. */
export function changeSummary(changes: readonly Change[]): string {
  const shown = changes.slice(0, SHOWN).map(({ message }) => message);
  const more = changes.length - shown.length;
  return more > 0 ? `${shown.join('; ')}; and ${more} more` : shown.join('; ');
}

function explainVersion(now: StoredIdentity, before: StoredIdentity): Change[] {
  if (now['version'] === before['version']) return [];
  return [{ field: 'version', message: 'made by another version of taskflow' }];
}

/** Upstream phases by what they quote (`references`), by their files and by their keys. */
function explainUpstream(now: StoredIdentity, before: StoredIdentity): Change[] {
  const ids = new Set<string>();
  const parts = (value: JsonValue | undefined) =>
    new Map(objectsIn(value).map((part) => [String(part['id']), canonicalEncode(part)] as const));
  for (const id of differingNames(parts(now['upstream']), parts(before['upstream']))) ids.add(id);
  for (const id of differingNames(members(now['references']), members(before['references']))) ids.add(id);
  return [...ids].map((id) => ({ field: `upstream.${id}`, message: `upstream ${id} changed` }));
}

/** How messages call a field whose name says too little. */
const NAMES: Readonly<Record<string, string>> = {
  'body.task': 'prompt',
  'body.run': 'command',
  'body.input': 'stdin',
  'body.definition': 'sub-flow',
  'body.args': 'arguments of the sub-flow',
  'agent.agent': 'agent',
  'agent.systemPrompt': 'system prompt',
  'agent.settings': 'settings of the runner',
  'agent.runner': 'runner',
};

/** `body.task` is the prompt, `agent.model` the model. */
export function fieldName(path: string): string {
  return NAMES[path] ?? path.slice(path.indexOf('.') + 1);
}

function explainObject(path: string, now: JsonValue | undefined, before: JsonValue | undefined): Change[] {
  if (canonicalEncode(now) === canonicalEncode(before)) return [];
  if (!isJsonObject(now ?? null) || !isJsonObject(before ?? null)) return [changed(path, now, before)];
  const [current, earlier] = [withCommand(now as JsonObject), withCommand(before as JsonObject)];
  return differingNames(members(current), members(earlier)).map((name) =>
    changed(`${path}.${name}`, current[name], earlier[name]),
  );
}

/** A list of arguments and a text for the shell are compared as one field. */
function withCommand(body: JsonObject): JsonObject {
  const { argv, shell, ...rest } = body;
  const run = argv ?? shell;
  return run === undefined ? body : { ...rest, run };
}

function changed(path: string, now: JsonValue | undefined, before: JsonValue | undefined): Change {
  const narrow = narrowed(now, before);
  // A changed word of a command needs no path: the message shows the words.
  const where = narrow.path.length === 0 || isTextList(now) ? '' : ` (${cut(narrow.path.join('.'))})`;
  return { field: path, message: `${fieldName(path)} changed${where}${difference(narrow.now, narrow.before)}` };
}

interface Narrow {
  readonly path: readonly string[];
  readonly now: JsonValue | undefined;
  readonly before: JsonValue | undefined;
}

/** Descends to the member that differs, as long as there is only one. */
function narrowed(now: JsonValue | undefined, before: JsonValue | undefined, path: readonly string[] = []): Narrow {
  const here = { path, now, before };
  const lists = Array.isArray(now) && Array.isArray(before) && now.length === before.length;
  const objects = isJsonObject(now ?? null) && isJsonObject(before ?? null);
  if (!lists && !objects) return here;
  const [current, earlier] = [{ ...(now as JsonObject) }, { ...(before as JsonObject) }];
  const [name, ...others] = differingNames(members(current), members(earlier));
  if (name === undefined || others.length > 0) return here;
  if (current[name] === undefined || earlier[name] === undefined) return here;
  return narrowed(current[name], earlier[name], [...path, name]);
}

function difference(now: JsonValue | undefined, before: JsonValue | undefined): string {
  if (typeof now === 'string' && typeof before === 'string') return `: ${stringDifference(now, before)}`;
  if (isSimple(now) && isSimple(before)) return `: ${plain(before)} → ${plain(now)}`;
  if (now === undefined || before === undefined) return '';
  const [current, earlier] = [asText(now), asText(before)];
  if (current !== earlier) return `: ${shortDiff(earlier, current)}`;
  return isTextList(now)
    ? ' (arguments instead of a text for the shell)'
    : ' (a text for the shell instead of arguments)';
}

/** A command as it is typed, anything else as JSON. */
function asText(value: JsonValue): string {
  if (typeof value === 'string') return value;
  return isTextList(value) ? value.map(asTyped).join(' ') : JSON.stringify(value);
}

function asTyped(word: string): string {
  if (word !== '' && !/[\s"'\\]/.test(word)) return word;
  return word.includes("'") && !word.includes('"') ? `"${word}"` : `'${word}'`;
}

function stringDifference(now: string, before: string): string {
  const short = (text: string) => text.length <= 40 && /^[\w./:@+-]+$/.test(text);
  return short(now) && short(before) ? `${before} → ${now}` : shortDiff(before, now);
}

function isSimple(value: JsonValue | undefined): boolean {
  return typeof value !== 'object' || value === null;
}

function plain(value: JsonValue | undefined): string {
  return value === undefined || value === null ? '(none)' : cut(String(value));
}

function cut(text: string): string {
  const line = oneLine(text);
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

/** Values are sealed, so only the names of changed variables are known. */
function explainEnvironment(now: JsonValue | undefined, before: JsonValue | undefined): Change[] {
  return differingNames(members(now), members(before)).map((name) => ({
    field: `env.${name}`,
    message: `environment changed: ${name}`,
  }));
}

function explainContext(now: JsonValue | undefined, before: JsonValue | undefined): Change[] {
  const named = (value: JsonValue | undefined) =>
    new Map(
      objectsIn(value).map((part, i) => [String(part['path'] ?? part['entry'] ?? i), canonicalEncode(part)] as const),
    );
  const names = differingNames(named(now), named(before));
  if (names.length === 0 && canonicalEncode(now) !== canonicalEncode(before)) {
    return [{ field: 'context', message: 'order of the context changed' }];
  }
  return names.map((name) => ({ field: 'context', message: `context changed: ${name}` }));
}

const REST = ['flow', 'phase', 'kind', 'output', 'expect', 'cwd', 'outputs', 'ordinal'];

function explainRest(now: StoredIdentity, before: StoredIdentity): Change[] {
  return REST.filter((name) => canonicalEncode(now[name]) !== canonicalEncode(before[name])).map((name) =>
    changed(name, now[name], before[name]),
  );
}

function members(value: JsonValue | undefined): Map<string, string> {
  return new Map(Object.entries(isJsonObject(value ?? null) ? (value as JsonObject) : {}).map(encoded));
}

function encoded([name, value]: [string, JsonValue]): [string, string] {
  return [name, canonicalEncode(value)];
}

function differingNames(now: ReadonlyMap<string, string>, before: ReadonlyMap<string, string>): string[] {
  const names = new Set([...now.keys(), ...before.keys()]);
  return [...names].filter((name) => now.get(name) !== before.get(name));
}
