import type { ArgSpec } from '../model/flow.js';
import type { JsonValue } from '../model/json.js';
import { isForbiddenName } from '../model/names.js';
import type { RawArg } from '../model/schema/common.js';
import type { Path } from '../parse/locate.js';
import { convertArg } from '../plan/args.js';
import type { Problems } from './problem.js';
import { show } from './structure.js';

export const UNDECLARED: ArgSpec = { type: 'string', required: false, secret: false, untyped: true };

interface ArgCheck {
  /** Root of the project, which paths must not leave. */
  readonly root: string;
  readonly problems: Problems;
}

/** Declared arguments, with types inferred where none is written. */
export function checkArgSpecs(
  raw: Readonly<Record<string, RawArg>>,
  path: Path,
  check: ArgCheck,
): Record<string, ArgSpec> {
  const { problems } = check;
  const specs: Record<string, ArgSpec> = {};
  for (const [name, arg] of Object.entries(raw)) {
    const at = [...path, name];
    if (isForbiddenName(name)) continue;
    if (!/^[\p{L}\p{N}_$@-]{1,100}$/u.test(name)) {
      problems.error(at, 'bad-id', {
        message: `${show(name)} cannot be the name of an argument`,
        target: 'key',
        hint: 'names are made of letters, digits, hyphens and underscores',
      });
      continue;
    }
    specs[name] = checkArgSpec(arg, at, check);
  }
  return specs;
}

function checkArgSpec(raw: RawArg, path: Path, { root, problems }: ArgCheck): ArgSpec {
  const type = typeOf(raw);
  const spec: ArgSpec = {
    type: type ?? 'string',
    default: raw.default as JsonValue,
    description: raw.description,
    required: raw.required ?? false,
    secret: raw.secret ?? false,
    values: raw.values as readonly JsonValue[],
    minimum: raw.minimum,
    maximum: raw.maximum,
    ...(type === undefined ? { untyped: true } : {}),
  };
  if (type === 'enum' && raw.values === undefined) {
    problems.error(path, 'missing-field', {
      message: 'an enum needs "values"',
      hint: 'for example: values: [low, high]',
    });
  }
  if (type !== 'enum' && raw.values !== undefined) meaningless([...path, 'values'], 'enum', problems);
  for (const bound of ['minimum', 'maximum'] as const) {
    if (type !== 'number' && raw[bound] !== undefined) meaningless([...path, bound], 'number', problems);
  }
  if (raw.minimum !== undefined && raw.maximum !== undefined && raw.minimum > raw.maximum) {
    problems.error([...path, 'minimum'], 'out-of-range', 'the minimum is larger than the maximum');
  }
  if (spec.default === undefined || (type === 'enum' && raw.values === undefined)) return spec;
  const converted = convertArg(spec, spec.default, { root, source: 'json' });
  if ('value' in converted) return { ...spec, default: converted.value };
  problems.error([...path, 'default'], 'bad-arg', `the default ${converted.problem}`);
  return spec;
}

function meaningless(path: Path, type: string, problems: Problems): void {
  problems.noEffect(path, `"${path.at(-1)}" means nothing without type: ${type}`);
}

/** Undefined: any value. A default that is a number, a boolean or a structure gives the type. */
function typeOf(raw: RawArg): ArgSpec['type'] | undefined {
  if (raw.type === 'relative-path') return 'path';
  if (raw.type !== undefined) return raw.type as ArgSpec['type'];
  if (raw.values !== undefined) return 'enum';
  if (typeof raw.default === 'number' || raw.minimum !== undefined || raw.maximum !== undefined) return 'number';
  if (typeof raw.default === 'boolean') return 'boolean';
  return typeof raw.default === 'object' && raw.default !== null ? 'json' : undefined;
}
