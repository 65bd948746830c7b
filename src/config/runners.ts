import { BUILT_IN_RUNNERS, knownRunners, noSuchRunner, type RunnerConfig } from '../model/config.js';
import type { Diagnostic } from '../model/diagnostic.js';
import { nearestName } from '../util/nearest.js';
import { type AllowedKeys, isKeyAllowed } from './allowed-keys.js';
import { type Placed, type PlacedValue, valuesUnder } from './layer.js';
import { RUNNER_FIELD_TYPES } from './settings.js';

const BUILT_IN: readonly string[] = BUILT_IN_RUNNERS;

interface CheckedRunners {
  readonly runners: Readonly<Record<string, RunnerConfig>>;
  readonly problems: readonly Diagnostic[];
}

/** Checks the merged settings: each runner's type, fields it cannot use, and whether `runner` exists. */
export async function checkRunners(placed: Placed): Promise<CheckedRunners> {
  const fields = new Map<string, Map<string, PlacedValue>>();
  for (const [key, value] of placed) {
    const [group, name, field] = key.split('.');
    if (group !== 'runners') continue;
    if (!fields.has(name!)) fields.set(name!, new Map());
    fields.get(name!)!.set(field!, value);
  }
  const allowed = allowedKeys(placed);
  const problems: Diagnostic[] = [];
  const runners: Record<string, RunnerConfig> = Object.create(null);
  for (const [name, runner] of fields) {
    const checked = checkRunner(name, runner, allowed);
    problems.push(...checked.problems);
    if (checked.runner) runners[name] = checked.runner;
  }
  const chosen = placed.get('runner');
  if (chosen) problems.push(...(await checkChosen(chosen, fields.keys())));
  return { runners, problems };
}

function checkRunner(
  name: string,
  fields: ReadonlyMap<string, PlacedValue>,
  allowed: AllowedKeys,
): { runner?: RunnerConfig; problems: Diagnostic[] } {
  const first = [...fields.values()][0]!;
  const type = runnerType(name, (field) => fields.get(field)?.value);
  if (type === undefined) {
    const message = `runner ${name} does not say what it is`;
    const hint = 'give it a command: [program, argument], or type: openai with a baseUrl';
    return { problems: [problemAt(first, { severity: 'error', code: 'runner-type', message, hint })] };
  }
  const problems: Diagnostic[] = [];
  for (const [field, value] of fields) {
    const types = RUNNER_FIELD_TYPES[field];
    if (types && !types.includes(type)) {
      const message = `${field} means nothing for a runner of type ${type}`;
      const hint = `it is for ${types.join(', ')}`;
      problems.push(problemAt(value, { severity: 'warning', code: 'unused-field', message, hint }));
    }
  }
  for (const [needs, forType] of [
    ['command', 'command'],
    ['baseUrl', 'openai'],
  ] as const) {
    if (type !== forType || fields.has(needs)) continue;
    const message = `runner ${name} of type ${type} needs ${needs}`;
    problems.push(problemAt(first, { severity: 'error', code: 'missing-field', message }));
    return { problems };
  }
  const values = Object.fromEntries([...fields].map(([field, { value }]) => [field, value]));
  const runner = { ...values, type } as RunnerConfig;
  const isRefused = isProjectsChoice(fields) && !isKeyAllowed(runner, allowed);
  return { runner: isRefused ? { ...runner, keyNeedsLeave: true } : runner, problems };
}

/** Whether the project decides where a user's key goes: it named the key or the address. */
function isProjectsChoice(fields: ReadonlyMap<string, PlacedValue>): boolean {
  return (
    fields.has('apiKeyEnv') && ['apiKeyEnv', 'baseUrl'].some((name) => fields.get(name)?.layer.source === 'project')
  );
}

export function allowedKeys(placed: Placed): AllowedKeys {
  return valuesUnder('allow.keys.', placed);
}

/** The declared type, else the one that its name or its fields imply. */
export function runnerType(
  name: string,
  field: (name: keyof RunnerConfig) => unknown,
): RunnerConfig['type'] | undefined {
  const declared = field('type') as RunnerConfig['type'] | undefined;
  if (declared) return declared;
  if (BUILT_IN.includes(name)) return name as RunnerConfig['type'];
  if (field('command') !== undefined) return 'command';
  return field('baseUrl') === undefined ? undefined : 'openai';
}

async function checkChosen(chosen: PlacedValue, defined: Iterable<string>): Promise<Diagnostic[]> {
  const unknown = await unknownRunner(String(chosen.value), defined);
  return unknown ? [problemAt(chosen, { severity: 'error', code: 'unknown-runner', ...unknown })] : [];
}

/** The problem with a runner's name that is neither defined nor built in; undefined if it is. */
export async function unknownRunner(
  name: string,
  defined: Iterable<string>,
): Promise<{ readonly message: string; readonly hint: string } | undefined> {
  const known = knownRunners(defined);
  if (known.includes(name)) return undefined;
  const { message, hint } = noSuchRunner(name, known);
  const nearest = await nearestName(name, known);
  return { message, hint: nearest ? `did you mean ${nearest}?` : hint };
}

function problemAt(
  { line, column, length, layer }: PlacedValue,
  problem: Pick<Diagnostic, 'severity' | 'code' | 'message' | 'hint'>,
): Diagnostic {
  return { file: layer.name, line, column, length, ...problem };
}
