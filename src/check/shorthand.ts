import { isJsonObject } from '../model/json.js';
import { SHORTHAND_FIELDS } from '../model/schema/flow.js';
import type { Path } from '../parse/locate.js';
import type { Place } from './problem.js';

/** A phase as written, with its place. */
export interface WrittenPhase {
  readonly raw: unknown;
  readonly path: Path;
  /** Fields with another name in the file. */
  readonly renamed?: Readonly<Record<string, string>>;
}

/** The path to a field of a phase, with the name it has in the file. */
export function fieldPath({ path, renamed }: Omit<WrittenPhase, 'raw'>, field: string): Path {
  return [...path, renamed && Object.hasOwn(renamed, field) ? renamed[field]! : field];
}

type Fields = Readonly<Record<string, unknown>>;

const FORMS = ['phases', 'task', 'tasks', 'chain'] as const;

/**
 * The phases of a flow, short forms expanded: `task` is one agent phase, `tasks` one parallel phase, `chain` agent
 * phases one after the other. Each keeps the path to where it was written. A bare list is a list of phases.
 */
export function writtenPhases(
  flow: Fields,
  { path, problems, bareList = false }: Place & { readonly bareList?: boolean },
): readonly WrittenPhase[] {
  const forms = FORMS.filter((form) => flow[form] !== undefined);
  if (forms.length === 0) {
    problems.error(path, 'missing-field', {
      message: 'a flow needs "phases"',
      hint: 'or one of the short forms "task", "tasks" and "chain"',
    });
    return [];
  }
  if (forms.length > 1) {
    const names = forms.map((form) => `"${form}"`).join(' and ');
    problems.error([...path, forms[1]!], 'bad-value', {
      message: `a flow has one of ${names}, not several`,
      target: 'key',
    });
  }
  const form = forms[0]!;
  if (form !== 'task') {
    for (const field of SHORTHAND_FIELDS) {
      if (flow[field] === undefined || field === 'task' || (form === 'tasks' && field.startsWith('context'))) continue;
      problems.noEffect([...path, field], `"${field}" means nothing beside "${form}"`);
    }
  }
  const written = flow[form];
  if (form === 'task') return [{ raw: pick(flow, ['task', ...SHORTHAND_FIELDS], { id: 'main' }), path }];
  if (!Array.isArray(written) || written.length === 0) return [];
  const list = bareList ? path : [...path, 'phases'];
  if (form === 'phases') return written.map((raw, index) => ({ raw, path: [...list, index] }));
  return form === 'chain' ? chain(written, path) : [tasks(flow, written, path)];
}

function pick(from: Fields, names: readonly string[], start: Fields): Fields {
  const picked: Record<string, unknown> = { ...start };
  for (const name of names) if (from[name] !== undefined) picked[name] = from[name];
  return picked;
}

function chain(steps: readonly unknown[], path: Path): readonly WrittenPhase[] {
  return steps.map((step, index) => ({
    raw: {
      id: `step${index + 1}`,
      ...(typeof step === 'string' ? { task: step } : (step as Fields)),
      ...(index > 0 ? { dependsOn: [`step${index}`] } : {}),
    },
    path: [...path, 'chain', index],
  }));
}

/** The steps become branches, which are under `tasks` in the file. */
function tasks(flow: Fields, steps: readonly unknown[], path: Path): WrittenPhase {
  const branches = steps.map((step) => {
    if (typeof step === 'string') return { task: step };
    const { context: _context, contextLimit: _limit, ...branch } = step as Record<string, unknown>;
    return branch;
  });
  const contexts = [flow, ...steps].flatMap((step) => listOf(step, 'context'));
  const limits = [flow, ...steps]
    .flatMap((step) => (isJsonObject(step) ? [step['contextLimit']] : []))
    .filter(isNumber);
  return {
    raw: {
      id: 'parallel',
      type: 'parallel',
      branches,
      ...(contexts.length > 0 ? { context: [...new Set(contexts)] } : {}),
      ...(limits.length > 0 ? { contextLimit: Math.max(...limits) } : {}),
    },
    path,
    renamed: { branches: 'tasks' },
  };
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function listOf(value: unknown, name: string): readonly unknown[] {
  const list = isJsonObject(value) ? value[name] : undefined;
  return Array.isArray(list) ? list : [];
}
