import { fieldName } from '../../memo/explain.js';
import { sealedElsewhere, withoutSeals } from '../../memo/sealed.js';
import { isJsonObject, type JsonObject, type JsonValue, objectsIn } from '../../model/json.js';
import type { SeenInputs } from '../../model/observation.js';
import { canonicalEncode } from '../../util/canonical.js';
import { sha256Hex } from '../../util/digest.js';
import { plural } from '../../util/format.js';
import type { StoredInputs } from './made-from.js';
import type { TextBudget } from './text.js';
import type { InputPart, InputsView } from './types.js';

const MOST_PARTS = 300;
const PRINT = 8;
const SHORT = 60;

interface Beside {
  readonly runId: string;
  readonly made: StoredInputs;
}

/** With the digests of its files, so that a difference can name them. */
interface Part extends InputPart {
  readonly contents?: ReadonlyMap<string, string>;
}

/** The inputs of a result, part by part, each with its value in the other run where that differs. */
export function inputsOf(made: StoredInputs, beside: Beside | undefined, texts: TextBudget): InputsView {
  const earlier = beside?.made;
  const apart = earlier !== undefined && sealedElsewhere(made.identity, earlier.identity);
  const comparable = (each: StoredInputs) => (apart ? { ...each, identity: withoutSeals(each.identity) } : each);
  const now = partsOf(comparable(made));
  const parts = earlier ? compared(now, partsOf(comparable(earlier))) : now;
  return {
    parts: parts.slice(0, MOST_PARTS).map((each) => shortened(each, texts)),
    ...(parts.length > MOST_PARTS && { more: parts.length - MOST_PARTS }),
    ...(made.key !== undefined && { key: made.key }),
    ...(beside && { beside: beside.runId }),
  };
}

function shortened({ contents: _, name, value, files, ...part }: Part, texts: TextBudget): InputPart {
  return {
    ...{ ...part, name: texts.short(name, 200), print: texts.short(part.print, SHORT) },
    ...(part.was !== undefined && { was: texts.short(part.was, SHORT) }),
    ...(value !== undefined && { value: texts.short(value, SHORT) }),
    ...(files && { files: files.map((file) => texts.short(file, 300)) }),
  };
}

/** Differing parts first. */
function compared(now: readonly Part[], before: readonly Part[]): Part[] {
  const earlier = new Map(before.map((each) => [each.name, each]));
  const names = new Set(now.map(({ name }) => name));
  const marked = now.map((each) => {
    const then = earlier.get(each.name);
    if (then?.print === each.print) return each;
    const files = then ? changedFiles(each.contents, then.contents) : [];
    return { ...each, was: then?.print ?? '', ...(files.length > 0 && { files }) };
  });
  const gone = before
    .filter(({ name }) => !names.has(name))
    .map(({ name, print }) => ({ name, print: '', was: print }));
  const isChanged = ({ was }: Part) => was !== undefined;
  return [...marked.filter(isChanged), ...gone, ...marked.filter((each) => !isChanged(each))];
}

const NAMED = 3;

function changedFiles(now: Part['contents'] = new Map(), before: Part['contents'] = new Map()): string[] {
  const paths = [...new Set([...now.keys(), ...before.keys()])].filter((path) => now.get(path) !== before.get(path));
  const more = paths.length - NAMED;
  return more > 0 ? [...paths.slice(0, NAMED), `and ${more} more`] : paths;
}

/** Describes which undeclared paths that it looked at have changed. */
export function undeclaredChange(now: StoredInputs, before: StoredInputs): string | undefined {
  const [[current], [earlier]] = [undeclared(now.seen), undeclared(before.seen)];
  if (current?.print === earlier?.print) return undefined;
  const files = changedFiles(current?.contents, earlier?.contents);
  return files.length === 0 ? LOOKED_AT : `read last time and changed since: ${files.join(', ')}`;
}

/** In this order: declared inputs, upstream phases, the agent, the prompt or command, the rest. */
function partsOf({ identity, seen }: StoredInputs): Part[] {
  return [
    ...objectsIn(identity['fingerprints']).map(fingerprint),
    ...objectsIn(identity['context']).map(contextFile),
    ...undeclared(seen),
    ...upstream(identity),
    ...fields('agent', identity['agent']).map(([name, value]) => plain(name, value)),
    ...fields('body', identity['body']).map(([name, value]) => part(name, value)),
    ...membersOf(identity['env']).map(([name, value]) => part(`environment ${name}`, value, SEALED)),
    ...REST.flatMap((name) => rest(name, identity[name])),
  ];
}

const LOOKED_AT = 'what it looked at, not declared';

/** Empty where all that it looked at is declared. */
function undeclared(seen: SeenInputs | undefined): Part[] {
  const { reads = [], lists = [], absent = [], present = [], marks = [] } = seen?.set ?? {};
  const paths = [...reads, ...lists.map(({ path }) => `${path}/`)];
  const count = paths.length + absent.length + present.length;
  if (!seen || count === 0) return [];
  const contents = new Map(paths.map((path, at) => [path, marks[at] ?? '']));
  return [{ ...part(LOOKED_AT, seen.value, plural(count, 'path')), contents }];
}

/** For values of variables: journals and entries hold only keyed digests of them. */
const SEALED = 'not shown';

function contextFile(file: JsonObject, at: number): InputPart {
  const { path, entry, sent, whole } = file;
  return part(`context ${path ?? entry ?? at}`, whole !== undefined && sent === whole ? whole : file);
}

function fingerprint({ entry, value = null, parts, count }: JsonObject): Part {
  const contents = new Map(membersOf(parts).map(([path, digest]) => [path, String(digest)]));
  const files = parts === undefined ? undefined : plural(Number(count ?? contents.size), 'file');
  const shown = String(entry).startsWith('env:') ? SEALED : files;
  return { ...part(String(entry), value, value === null ? 'not there' : shown), contents };
}

/** The phases that it quotes, those whose files it sees, and those that it only follows. */
function upstream({ upstream: above, references }: JsonObject): InputPart[] {
  const quoted = membersOf(references).map(([id, value]) => part(`output of ${id}`, value));
  return [
    ...quoted,
    ...objectsIn(above).map((each) => part(`${'files' in each ? 'files of' : 'after'} ${each['id']}`, each)),
  ];
}

const REST = ['output', 'expect', 'cwd', 'outputs', 'ordinal'];
/** Values that a phase has by default, which are not shown. */
const DEFAULTS: ReadonlySet<string> = new Set(['"text"', 'null', '"."', '[]', '0', 'u']);

function rest(name: string, value: JsonValue | undefined): InputPart[] {
  return DEFAULTS.has(canonicalEncode(value)) ? [] : [plain(name, value ?? null)];
}

/** Names rather than contents: a report without contents still shows these. */
const PLAIN: ReadonlySet<string> = new Set([
  ...['runner', 'type', 'model', 'thinking', 'agent', 'output', 'cwd', 'ordinal'],
]);

function fields(of: string, value: JsonValue | undefined): [string, JsonValue][] {
  return membersOf(value)
    .filter(([, member]) => member !== null)
    .map(([name, member]) => [COMMANDS.has(name) ? 'command' : fieldName(`${of}.${name}`), member]);
}

/** Two spellings of one field. */
const COMMANDS: ReadonlySet<string> = new Set(['argv', 'shell']);

function part(name: string, value: JsonValue, shown?: string): InputPart {
  return { name, print: printOf(value), ...(shown !== undefined && { value: shown }) };
}

/** Shortens a digest or a commit, as other programs do. */
function printOf(value: JsonValue): string {
  const isDigest = typeof value === 'string' && /^[0-9a-f]{16,64}$/.test(value);
  return (isDigest ? value : sha256Hex(canonicalEncode(value))).slice(0, PRINT);
}

function plain(name: string, value: JsonValue): Part {
  const isName = PLAIN.has(name) && (typeof value === 'string' || typeof value === 'number');
  return isName ? { name, print: String(value) } : part(name, value);
}

function membersOf(value: JsonValue | undefined): [string, JsonValue][] {
  return isJsonObject(value ?? null) ? Object.entries(value as JsonObject) : [];
}
