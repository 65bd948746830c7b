import { HOOK_EVENTS, type HookEvent, readHook } from '../model/hooks.js';
import { isTextList, type JsonValue } from '../model/json.js';
import { LARGEST_OUTPUT_BYTES } from '../model/limits.js';
import { OBSERVE_MODES } from '../model/observation.js';
import { remoteAddress } from '../remote/address.js';
import { isPublicKey } from '../remote/public-key.js';
import { parseDuration } from '../util/duration.js';
import { parseSize } from '../util/size.js';

/** One setting. `read` returns the value that the program uses, or says what it expects. */
export interface Setting {
  readonly key: string;
  readonly help: string;
  readonly read: Read;
}

/** `schema`: the same in JSON Schema, for editors. It may allow what `read` refuses, never the other way round. */
type Read = ReadValue & { readonly schema: JsonSchema };
type ReadValue = (value: JsonValue) => { readonly value: JsonValue } | { readonly expected: string };
export type JsonSchema = Readonly<Record<string, unknown>>;

function kindOf(schema: JsonSchema, read: ReadValue): Read {
  return Object.assign(read, { schema });
}

const text = kindOf({ type: 'string', minLength: 1 }, (value) =>
  typeof value === 'string' && value !== '' ? { value } : { expected: 'some text' },
);

function oneOrMore(items: JsonSchema): JsonSchema {
  return { anyOf: [items, { type: 'array', items }] };
}

/** `version: 3` means the same as `version: "3"`. */
const label = kindOf({ type: ['string', 'number'] }, (value) =>
  typeof value === 'number' ? { value: String(value) } : text(value),
);

const flag = kindOf({ enum: [true, false, 'on', 'off', 'yes', 'no'] }, (value) => {
  if (typeof value === 'boolean') return { value };
  if (value === 'on' || value === 'yes') return { value: true };
  if (value === 'off' || value === 'no') return { value: false };
  return { expected: 'true or false' };
});

const duration = kindOf(
  { type: ['string', 'number'], pattern: '^\\s*\\d+(\\.\\d+)? ?(ms|s|m|h|d|w)?\\s*$', minimum: 0 },
  (value) => {
    const ms = typeof value === 'string' || typeof value === 'number' ? parseDuration(value) : undefined;
    return ms === undefined ? { expected: 'a duration such as 90s, 24h or 30d' } : { value: ms };
  },
);

const size = kindOf(
  { type: ['string', 'number'], pattern: '^\\s*\\d+(\\.\\d+)? ?([kKmMgGtT][iI]?[bB]?|[bB])?\\s*$', minimum: 0 },
  (value) => {
    const bytes = typeof value === 'string' || typeof value === 'number' ? parseSize(value) : undefined;
    return bytes === undefined ? { expected: 'a size such as 500MB or 1GB' } : { value: bytes };
  },
);

const outputSize = kindOf(size.schema, (value) => {
  const read = size(value);
  return 'value' in read && ((read.value as number) < 1 || (read.value as number) > LARGEST_OUTPUT_BYTES)
    ? { expected: 'a size from 1 byte to 64GB' }
    : read;
});

const positive = kindOf({ type: 'integer', minimum: 1, maximum: 1e9 }, (value) =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 1e9
    ? { value }
    : { expected: 'a whole number from 1 on' },
);

const words = kindOf({ type: 'array', items: { type: 'string' } }, (value) =>
  isTextList(value) ? { value } : { expected: 'a list of words, such as [node, agent.mjs]' },
);

const globs = kindOf(oneOrMore({ type: 'string', minLength: 1 }), (value) => {
  const list = Array.isArray(value) ? value : [value];
  return list.every((glob) => typeof glob === 'string' && glob !== '')
    ? { value: list }
    : { expected: 'globs, such as [.cache/**, "**/*.log"]' };
});

const command = kindOf({ type: 'array', items: { type: 'string' }, minItems: 1 }, (value) => {
  const read = words(value);
  return 'value' in read && (read.value as string[]).length === 0 ? { expected: 'a program and its arguments' } : read;
});

const variable = kindOf({ type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }, (value) =>
  typeof value === 'string' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(value)
    ? { value }
    : { expected: 'the name of an environment variable' },
);

const variables = kindOf({ type: 'array', items: variable.schema }, (value) =>
  Array.isArray(value) && value.every((name) => 'value' in variable(name))
    ? { value }
    : { expected: 'a list of names of environment variables' },
);

const paths = kindOf(oneOrMore({ type: 'string', pattern: '^(\\*$|~?/)' }), (value) => {
  const list = typeof value === 'string' ? [value] : value;
  return Array.isArray(list) && list.every((path) => typeof path === 'string' && /^(\*$|~?\/)/.test(path))
    ? { value: list }
    : { expected: 'whole paths, such as /srv/project or [/srv/a, /srv/b/*]' };
});

const url = kindOf({ type: 'string', pattern: '^https?://\\S+$' }, (value) =>
  typeof value === 'string' && /^https?:\/\/[^\s]+$/.test(value) && URL.canParse(value)
    ? { value }
    : { expected: 'an address such as http://127.0.0.1:11434/v1' },
);

const urls = kindOf(oneOrMore(url.schema), (value) => {
  const list = Array.isArray(value) ? value : [value];
  return list.length > 0 && list.every((each) => 'value' in url(each))
    ? { value: list }
    : { expected: 'an address, or a list of them' };
});

function oneOf(...choices: readonly string[]): Read {
  return kindOf({ enum: choices }, (value) =>
    typeof value === 'string' && choices.includes(value) ? { value } : { expected: `one of ${choices.join(', ')}` },
  );
}

/** YAML reads `on` and `off` as booleans. */
const iterationMode = kindOf({ enum: ['always', 'auto', 'off', 'on', true, false] }, (value) => {
  const mode = value === true || value === 'on' ? 'auto' : value === false ? 'off' : value;
  return mode === 'always' || mode === 'auto' || mode === 'off'
    ? { value: mode }
    : { expected: 'one of always, auto, off' };
});

/** Credentials in an address would be shown wherever the address is. */
const remoteUrl = kindOf({ type: 'string', pattern: '^(https?|turbo\\+https?|s3)://[^@\\s]+$' }, (value) =>
  typeof value === 'string' && remoteAddress(value, undefined) !== undefined
    ? { value }
    : { expected: 'https://…, s3://bucket/prefix or turbo+https://…, without a password in it' },
);

const queueUrl = kindOf({ type: 'string', pattern: '^rediss?://[^@\\s]+$' }, (value) =>
  typeof value === 'string' && /^rediss?:\/\/[^@\s]+$/.test(value) && URL.canParse(value)
    ? { value }
    : { expected: 'redis://HOST:PORT or rediss://HOST:PORT; with a password, {env: NAME}' },
);

const lockTime = kindOf(duration.schema, (value) => {
  const read = duration(value);
  return 'value' in read && (read.value as number) < 1_000 ? { expected: 'a duration from 1s on' } : read;
});

const whetherToWrite = kindOf({ enum: [...(flag.schema['enum'] as unknown[]), 'auto'] }, (value) =>
  value === 'auto' ? { value } : 'value' in flag(value) ? flag(value) : { expected: 'true, false or auto' },
);

const publicKey = kindOf({ type: 'string', minLength: 1 }, (value) =>
  typeof value === 'string' && isPublicKey(value)
    ? { value }
    : { expected: 'an Ed25519 public key in base64, as taskflow cache keygen prints it' },
);

const hook = kindOf({ type: ['array', 'string', 'object'] }, (value) =>
  readHook(value) ? { value } : { expected: 'a command ([./notify.sh]), {url: …, secret: {env: NAME}} or {file: …}' },
);

/** NAME is any variable. */
const ALLOWED_KEY = 'allow.keys.NAME';

/** Any role may stand in the place of NAME. */
const MODEL_ROLE = 'models.NAME';

/** NAME is the name of a public key. */
const TRUSTED_KEY = 'cache.trust.keys.NAME';

/** Settings that weaken a protection of the user: a project's file must not hold them. */
export function isUserOnly(key: string): boolean {
  return /^(safe|allow)\./.test(key);
}

const HOOK_HELP: Readonly<Record<HookEvent, string>> = {
  onStart: 'called when any run begins',
  onSuccess: 'called when a run succeeded',
  onFail: 'called when a run failed',
  onBlocked: 'called when a gate or a person stopped a run',
  onPaused: 'called when a run waits for a person',
  onEnd: 'called when a run ended, however',
};

const OBSERVE_HELP = 'what phases really read counts too: auto, strict (kept only if all was seen) or off';

/** Settings that every project has. `runners.NAME.*` are in RUNNER_SETTINGS. */
export const SETTINGS: readonly Setting[] = [
  { key: 'runner', help: 'the runner of every flow that names none', read: text },
  { key: 'model', help: 'the model of every flow that names none', read: text },
  { key: MODEL_ROLE, help: 'the model that `{{NAME}}` stands for in flows and agent files', read: text },
  { key: 'thinking', help: 'how hard agents think where nothing else says it', read: text },
  { key: 'concurrency', help: 'phase executions at once, where a flow does not say', read: positive },
  { key: 'cache.maxBytes', help: 'size of the store', read: size },
  { key: 'cache.maxEntries', help: 'entries in the store', read: positive },
  { key: 'cache.maxAge', help: 'entries that are older are dropped', read: duration },
  { key: 'cache.dir', help: 'where the store is, relative to the project', read: text },
  { key: 'cache.signingKey.env', help: 'environment variable with the key that signs entries', read: variable },
  { key: 'cache.signingKey.file', help: 'file with the key that signs entries', read: text },
  { key: 'cache.observe.mode', help: OBSERVE_HELP, read: oneOf(...OBSERVE_MODES) },
  { key: 'cache.observe.exclude', help: 'files that phases may read and write without any effect', read: globs },
  { key: 'cache.observe.include', help: 'files that count although they are left out by default', read: globs },
  { key: 'cache.remote.url', help: 'a store that machines share (https://, s3://, turbo+https://)', read: remoteUrl },
  { key: 'cache.remote.read', help: 'look there for what the local store has not (default: true)', read: flag },
  {
    key: 'cache.remote.write',
    help: 'upload results: true, false, or auto: only where a signing key is at hand',
    read: whetherToWrite,
  },
  { key: 'cache.remote.token.env', help: 'environment variable with the token of the shared store', read: variable },
  { key: 'cache.remote.token.file', help: 'file with the token of the shared store', read: text },
  { key: 'cache.remote.endpoint', help: 'address of a server that speaks S3, where it is not AWS', read: url },
  { key: 'cache.remote.connectTimeout', help: 'time to connect to the shared store (500ms)', read: duration },
  { key: 'cache.remote.timeout', help: 'time to wait for an answer of the shared store (3s)', read: duration },
  { key: 'cache.remote.uploadWait', help: 'how long the end of a run waits for uploads (10s)', read: duration },
  {
    key: 'cache.remote.claimWait',
    help: 'how long to wait for another machine that computes the same (10m; 0s: not at all)',
    read: duration,
  },
  { key: 'cache.trust.mode', help: 'none: accept any shared entry', read: oneOf('none') },
  { key: 'cache.trust.sign.env', help: 'environment variable with the private key that signs uploads', read: variable },
  { key: 'cache.trust.sign.file', help: 'file with the private key that signs uploads', read: text },
  { key: TRUSTED_KEY, help: 'public key whose shared entries are accepted; NAME is for you', read: publicKey },
  {
    key: ALLOWED_KEY,
    help: 'addresses that the key in the variable NAME may go to; only in your own settings',
    read: urls,
  },
  { key: 'safe.projects', help: 'folders of other users that are trusted; only in your own settings', read: paths },
  {
    key: 'iteration.mode',
    help: 'auto: continue a run of the same file that is unfinished or whose flow was edited; always: any; off: none',
    read: iterationMode,
  },
  { key: 'iteration.enabled', help: 'the same in one word: true is auto, false is off', read: flag },
  { key: 'iteration.ttl', help: 'how long a result can be continued after it was made', read: duration },
  { key: 'limits.outputBytes', help: 'what one phase or item may print or answer', read: outputSize },
  { key: 'limits.items', help: 'items of one map', read: positive },
  { key: 'limits.resetWait', help: "how long a run waits for a provider's usage limit to reset", read: duration },
  { key: 'workers.url.address', help: 'the queue that workers wait at (redis://, rediss://)', read: queueUrl },
  { key: 'workers.url.env', help: 'environment variable with that address, a password in it', read: variable },
  { key: 'workers.concurrency', help: 'units that workers have at once (256)', read: positive },
  { key: 'workers.lock', help: 'a worker that is silent for this long loses its units (15s)', read: lockTime },
  { key: 'workers.wait', help: 'how long to wait for a queue that does not answer (30s)', read: duration },
  ...HOOK_EVENTS.map((event) => ({ key: `hooks.${event}`, help: HOOK_HELP[event], read: hook })),
];

const RUNNER_TYPES = ['pi', 'claude', 'codex', 'openai', 'command'] as const;

/** What is allowed under `runners.NAME`. */
export const RUNNER_SETTINGS: readonly Setting[] = [
  { key: 'type', help: 'pi, claude, codex, openai or command', read: oneOf(...RUNNER_TYPES) },
  { key: 'provider', help: 'provider that the client talks to', read: text },
  { key: 'model', help: 'default model of this runner', read: text },
  { key: 'thinking', help: 'default thinking level of this runner', read: text },
  { key: 'args', help: 'further arguments for the client', read: words },
  { key: 'command', help: 'program and arguments to start', read: command },
  { key: 'format', help: 'what the program prints: text or json', read: oneOf('text', 'json') },
  { key: 'version', help: 'part of the key: change it when the program answers differently', read: label },
  { key: 'env', help: 'environment variables that the program is given', read: variables },
  { key: 'baseUrl', help: 'address of an OpenAI-compatible server', read: url },
  { key: 'apiKeyEnv', help: 'environment variable with the API key', read: variable },
  { key: 'pinVersion', help: "make the client's own version part of the key", read: flag },
  { key: 'concurrency', help: 'calls at once', read: positive },
  { key: 'ratePerMinute', help: 'calls per minute', read: positive },
];

/** Which fields mean something for which type; the others are for every type. */
export const RUNNER_FIELD_TYPES: Readonly<Record<string, readonly string[]>> = {
  provider: ['pi'],
  args: ['pi', 'claude', 'codex'],
  command: ['pi', 'claude', 'codex', 'command'],
  format: ['command'],
  version: ['command'],
  baseUrl: ['openai'],
  apiKeyEnv: ['openai'],
};

/** Short spellings, for `config set iteration off` and `iteration: off` in a file. */
export const SHORT_KEYS: ReadonlyMap<string, string> = new Map([
  ['iteration', 'iteration.mode'],
  ['cache.observe', 'cache.observe.mode'],
  ['cache.trust', 'cache.trust.mode'],
  ['workers.url', 'workers.url.address'],
]);

export const RUNNER_NAME = /^(?!(?:constructor|prototype)$)[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** The setting that a full key names; undefined if there is none. */
export function findSetting(key: string): Setting | undefined {
  const wanted = patternOf(key) ?? key;
  const runner = /^runners\.([^.]+)\.([^.]+)$/.exec(key);
  if (!runner) return SETTINGS.find((setting) => setting.key === wanted);
  return RUNNER_NAME.test(runner[1]!) ? RUNNER_SETTINGS.find((setting) => setting.key === runner[2]) : undefined;
}

/** The pattern (`allow.keys.NAME`) of a key that ends with a name of the user's choice. */
function patternOf(key: string): string | undefined {
  if (/^allow\.keys\.[A-Za-z_]\w*$/.test(key)) return ALLOWED_KEY;
  if (/^cache\.trust\.keys\.[A-Za-z0-9][\w-]{0,63}$/.test(key)) return TRUSTED_KEY;
  return /^models\.(?!(?:constructor|prototype)$)[A-Za-z][\w-]{0,63}$/.test(key) ? MODEL_ROLE : undefined;
}
