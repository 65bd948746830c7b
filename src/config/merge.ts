import {
  CONFIG_DEFAULTS,
  type Config,
  type ConfigValue,
  type RunnerConfig,
  type WorkersConfig,
} from '../model/config.js';
import type { Diagnostic } from '../model/diagnostic.js';
import { HOOK_EVENTS, type Hooks, readHook } from '../model/hooks.js';
import type { JsonValue } from '../model/json.js';
import type { Observing } from '../model/observation.js';
import type { WrittenValue } from './check-file.js';
import { DEFAULT_VALUES } from './defaults.js';
import { type Layer, type Placed, type PlacedValue, valuesUnder } from './layer.js';
import { remoteOf, secretSource, trustOf } from './remote.js';
import { checkRunners } from './runners.js';
import { isUserOnly } from './settings.js';

/** Lays the files over each other, the last one on top, and checks the merged settings. */
export async function mergeLayers(layers: readonly Layer[]): Promise<{
  readonly config: Config;
  readonly problems: readonly Diagnostic[];
  readonly values: readonly ConfigValue[];
}> {
  const placed = new Map<string, PlacedValue>();
  const problems: Diagnostic[] = [];
  for (const layer of layers) {
    forgetReplaced(placed, layer);
    for (const [key, value] of Object.entries(layer.checked.values)) {
      if (layer.source === 'project' && isUserOnly(key)) problems.push(notTheProjects(key, { ...value, layer }));
      else if (layer.source !== 'project' || !weakens(key, value, placed)) placed.set(key, { ...value, layer });
    }
  }
  const runners = await checkRunners(placed);
  return {
    config: toConfig(placed, runners.runners),
    problems: [...layers.flatMap((layer) => layer.checked.problems), ...problems, ...runners.problems],
    values: listValues(placed),
  };
}

/**
 * A project does not replace these settings of the user. Shared entries are kept under the user's own signing key, so
 * with one of these a project's choice of whom to trust does not count either.
 */
const GUARDED = [
  { keys: /^cache\.signingKey\./, by: /^cache\.signingKey\./ },
  { keys: /^cache\.trust\.sign\./, by: /^cache\.trust\.sign\./ },
  { keys: /^cache\.trust\.(?:mode$|keys\.)/, by: /^cache\.(?:trust\.(?:mode$|keys\.)|signingKey\.)/ },
];

/** Where the user has a key or a limit, a project brings no key of its own and no higher limit. */
function weakens(key: string, { value }: WrittenValue, placed: Placed): boolean {
  const ofUser = (name: string) => (placed.get(name)?.layer.source === 'user' ? placed.get(name)?.value : undefined);
  const guard = GUARDED.find(({ keys }) => keys.test(key));
  if (guard) return [...placed.keys()].some((name) => guard.by.test(name) && ofUser(name) !== undefined);
  if (key === 'cache.remote.read' || key === 'cache.remote.write') return ofUser(key) === false;
  const limit = key.startsWith('limits.') ? ofUser(key) : undefined;
  return limit !== undefined && (value as number) > (limit as number);
}

function notTheProjects(key: string, { line, column, length, layer }: PlacedValue): Diagnostic {
  const message = `${key} is for the user to say: a project cannot allow itself anything`;
  const hint = `take it out here; for yourself: taskflow config set --user ${key} VALUE`;
  return { file: layer.name, line, column, length, severity: 'error', code: 'user-only', message, hint };
}

/**
 * A runner is refined field by field, unless the upper file says what it is (`type`, `command`): then it is another
 * runner under the same name, and nothing of the lower one may leak into it.
 */
function forgetReplaced(placed: Map<string, PlacedValue>, layer: Layer): void {
  for (const key of Object.keys(layer.checked.values)) {
    const [, prefix] = /^(runners\.[^.]+\.)(?:type|command)$/.exec(key) ?? [];
    if (prefix === undefined) continue;
    for (const lower of [...placed.keys()]) if (lower.startsWith(prefix)) placed.delete(lower);
  }
}

function toConfig(placed: Placed, runners: Readonly<Record<string, RunnerConfig>>): Config {
  const get = <T extends JsonValue>(key: string) => placed.get(key)?.value as T | undefined;
  const defaults = CONFIG_DEFAULTS;
  return {
    ...optional('runner', get<string>('runner')),
    ...optional('model', get<string>('model')),
    ...optional('thinking', get<string>('thinking')),
    ...optional('concurrency', get<number>('concurrency')),
    models: valuesUnder('models.', placed),
    runners,
    cache: {
      maxBytes: get('cache.maxBytes') ?? defaults.cache.maxBytes,
      maxEntries: get('cache.maxEntries') ?? defaults.cache.maxEntries,
      maxAgeMs: get('cache.maxAge') ?? defaults.cache.maxAgeMs,
      dir: get('cache.dir') ?? defaults.cache.dir,
      ...optional('dirFrom', placed.get('cache.dir')?.layer.source === 'user' ? ('user' as const) : undefined),
      ...optional('signingKey', secretSource(placed, 'cache.signingKey')),
      ...optional('remote', remoteOf(placed)),
      ...optional('trust', trustOf(placed)),
      observe: {
        mode: get<Observing['mode']>('cache.observe.mode') ?? defaults.cache.observe.mode,
        exclude: get<string[]>('cache.observe.exclude') ?? defaults.cache.observe.exclude,
        include: get<string[]>('cache.observe.include') ?? defaults.cache.observe.include,
      },
    },
    iteration: {
      mode: get('iteration.mode') ?? (get('iteration.enabled') === false ? 'off' : defaults.iteration.mode),
      ttlMs: get('iteration.ttl') ?? defaults.iteration.ttlMs,
    },
    ...optional('hooks', hooksOf(placed)),
    ...optional('workers', workersOf(placed)),
    limits: {
      outputBytes: get('limits.outputBytes') ?? defaults.limits.outputBytes,
      items: get('limits.items') ?? defaults.limits.items,
      resetWaitMs: get('limits.resetWait') ?? defaults.limits.resetWaitMs,
    },
  };
}

function hooksOf(placed: Placed): Hooks | undefined {
  const hooks = HOOK_EVENTS.flatMap((event) => {
    const written = placed.get(`hooks.${event}`);
    return written ? [[event, readHook(written.value)!]] : [];
  });
  return hooks.length === 0 ? undefined : Object.fromEntries(hooks);
}

function workersOf(placed: Placed): WorkersConfig | undefined {
  const get = <T extends JsonValue>(key: string) => placed.get(`workers.${key}`)?.value as T | undefined;
  const env = get<string>('url.env');
  const workers: WorkersConfig = {
    ...optional('url', env === undefined ? get<string>('url.address') : `env:${env}`),
    ...optional('lockMs', get<number>('lock')),
    ...optional('waitMs', get<number>('wait')),
    ...optional('concurrency', get<number>('concurrency')),
  };
  return Object.keys(workers).length === 0 ? undefined : workers;
}

function optional<K extends string, V>(key: K, value: V | undefined): { readonly [name in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [name in K]: V });
}

function listValues(placed: Placed): readonly ConfigValue[] {
  const values = new Map(DEFAULT_VALUES.map((value) => [value.key, value]));
  for (const [key, { written, layer }] of placed) {
    values.set(key, { key, value: written, source: layer.source, file: layer.name });
  }
  return [...values.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}
