import { OptionalKind, type TProperties, type TSchema } from '@sinclair/typebox';
import { KINDS, type Kind } from '../model/kind.js';
import { isForbiddenName } from '../model/names.js';
import { AGENT_FIELDS, COMMON_FIELDS, TASK } from '../model/schema/fields.js';
import { BRANCH_FIELDS, IGNORED_BRANCH_FIELDS } from '../model/schema/parts.js';
import { foreignFields, IGNORED_PHASE_FIELDS, PHASE_FIELDS } from '../model/schema/phase.js';
import type { Path } from '../parse/locate.js';
import { remembered } from '../util/remembered.js';
import type { PhaseSource } from './context.js';
import { forbiddenName } from './forbidden.js';
import { kindOfField, type Untyped, untypedKind } from './implied-kind.js';
import type { Place, Problems } from './problem.js';
import { salvage } from './salvage.js';
import { fieldPath, type WrittenPhase } from './shorthand.js';
import { checkStructure, show } from './structure.js';
import { suggestField, synonymOf } from './synonyms.js';

type Fields = Record<string, unknown>;

/**
 * Checks every phase against the schema of its kind; reports wrong fields and leaves them out, so that the rest can be
 * checked.
 */
export function readPhases(written: readonly WrittenPhase[], problems: Problems): readonly PhaseSource[] {
  const seen = new Map<string, PhaseSource>();
  const sources: PhaseSource[] = [];
  for (const [index, phase] of written.entries()) {
    const { raw, path, renamed } = phase;
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
      problems.error(path, 'wrong-type', 'a phase has to be an object');
      continue;
    }
    const id = readId({ raw: raw as Fields, path, index }, problems);
    const kind = readKind({ raw: raw as Fields, path, id }, problems);
    const source: PhaseSource = {
      id,
      kind: kind ?? 'agent',
      ...(kind ? {} : { unknownKind: true }),
      path,
      ...(renamed ? { renamed } : {}),
      written: new Set(Object.keys(raw)),
      raw: kind
        ? readFields(raw as Fields, { ...phase, kind, id }, problems)
        : readShared(raw as Fields, phase, problems),
    };
    if (seen.has(id)) problems.error([...path, 'id'], 'duplicate-id', `the phase ${show(id)} is there twice`);
    else seen.set(id, source);
    sources.push(source);
  }
  return sources;
}

function readKind(phase: Untyped, problems: Problems): Kind | undefined {
  const { raw, path } = phase;
  const type = raw['type'];
  if (type === undefined) return untypedKind(phase, problems);
  if (KINDS.includes(type as Kind)) return type as Kind;
  if (typeof type === 'string') {
    problems.error([...path, 'type'], 'unknown-kind', {
      message: `there is no kind ${show(type)}`,
      hint: `one of ${KINDS.join(', ')}`,
      suggest: { name: type, known: KINDS },
    });
  } else checkStructure(type, COMMON_FIELDS.type, { path: [...path, 'type'], problems });
  return undefined;
}

function readId({ raw, path, index }: { raw: Fields; path: Path; index: number }, problems: Problems): string {
  const id = raw['id'];
  const at = [...path, 'id'];
  if (id === undefined) {
    problems.error(path, 'missing-field', { message: 'this phase needs "id"', hint: 'for example: id: scan' });
    return `phase-${index + 1}`;
  }
  if (isForbiddenName(id)) {
    forbiddenName(at, id, problems);
    return `phase-${index + 1}`;
  }
  if (typeof id === 'string' && id.length <= 100 && !/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(id)) {
    problems.error(at, 'bad-id', {
      message: `${show(id)} cannot be an id`,
      hint: 'ids are made of letters, digits, hyphens and underscores, and start with a letter or digit',
    });
    return id;
  }
  return checkStructure(id, COMMON_FIELDS.id, { path: at, problems }) ? (id as string) : `phase-${index + 1}`;
}

type TypedPhase = WrittenPhase & { readonly kind: Kind; readonly id: string };

/** One level of a phase: checks its own fields, warns of fields of other kinds, refuses unknown ones. */
function readFields(raw: Fields, phase: TypedPhase, problems: Problems): Fields {
  const { kind } = phase;
  const own = PHASE_FIELDS[kind];
  const foreign = foreignFields(kind);
  const good: Fields = {};
  for (const [name, value] of Object.entries(raw)) {
    if (name === 'id' || name === 'type') continue;
    const at = fieldPath(phase, name);
    const schema = Object.hasOwn(own, name) ? own[name] : undefined;
    if (schema) {
      if (name === 'branches') {
        const branches = readBranches(value, schema, { path: at, problems });
        if (branches) good[name] = branches;
      } else if (checkStructure(value, schema, { path: at, problems })) good[name] = expanded(name, value);
      else keepSound(good, name, salvage(value, schema, { path: at, problems }));
    } else if (Object.hasOwn(foreign, name)) {
      const message = `"${name}" means nothing on ${article(kind)} ${kind} phase`;
      if (checkStructure(value, foreign[name]!, { path: at, problems })) {
        const meant = raw['type'] === undefined ? kindOfField(name) : undefined;
        problems.noEffect(at, message, meant && `add type: ${meant}?`);
      }
    } else if (Object.hasOwn(IGNORED_PHASE_FIELDS, name)) {
      problems.noEffect(at, `"${name}" is accepted but does nothing here`);
    } else {
      problems.error(at, 'unknown-field', {
        message: `there is no field ${show(name)} on ${article(kind)} ${kind} phase`,
        target: 'key',
        ...suggestField(name, [...Object.keys(own), ...Object.keys(foreign)]),
        ...(raw['type'] === undefined && untypedHint(name)),
      });
    }
  }
  requireFields(raw, phase, problems);
  return good;
}

/** `script: ls` on a phase without a type. */
function untypedHint(name: string): { readonly hint: string } | undefined {
  const field = synonymOf(name, ['run', 'over']);
  return field === undefined ? undefined : { hint: `did you mean "${field}", with type: ${kindOfField(field)}?` };
}

/** Fields with one meaning on every kind that has them. For an unknown kind, a field of any kind may be right. */
const SHARED_FIELDS: TProperties = { ...COMMON_FIELDS, ...AGENT_FIELDS, task: TASK };

function readShared(raw: Fields, phase: WrittenPhase, problems: Problems): Fields {
  const good: Fields = {};
  const known = foreignFields('agent');
  for (const [name, value] of Object.entries(raw)) {
    if (name === 'id' || name === 'type') continue;
    const at = fieldPath(phase, name);
    if (Object.hasOwn(SHARED_FIELDS, name)) {
      if (checkStructure(value, SHARED_FIELDS[name]!, { path: at, problems })) good[name] = expanded(name, value);
      else keepSound(good, name, salvage(value, SHARED_FIELDS[name]!, { path: at, problems }));
    } else if (!Object.hasOwn(known, name) && !Object.hasOwn(IGNORED_PHASE_FIELDS, name)) {
      problems.error(at, 'unknown-field', {
        message: `there is no field ${show(name)} on any phase`,
        target: 'key',
        ...suggestField(name, [...Object.keys(SHARED_FIELDS), ...Object.keys(known)]),
      });
    }
  }
  return good;
}

/** A value in its long form: `cache: false` becomes `scope: off`. */
export function expanded(name: string, value: unknown): unknown {
  return name === 'cache' && value === false ? { scope: 'off' } : value;
}

function keepSound(good: Fields, name: string, sound: unknown): void {
  if (sound !== undefined) good[name] = sound;
}

function requireFields(raw: Fields, { kind, id, path }: TypedPhase, problems: Problems): void {
  for (const name of requiredFields(kind)) {
    if (raw[name] !== undefined || Object.keys(raw).some((key) => synonymOf(key, [name]))) continue;
    const example = JSON.stringify((PHASE_FIELDS[kind][name]!['examples'] as readonly unknown[])[0]);
    problems.error(path, 'missing-field', {
      message: `the ${kind} phase "${id}" needs "${name}"`,
      hint: `for example: ${name}: ${example}`,
    });
  }
}

/** Required fields except the id. */
const requiredFields = remembered((kind: Kind): readonly string[] => {
  const fields = Object.entries(PHASE_FIELDS[kind]);
  return fields.flatMap(([name, schema]) => (name === 'id' || OptionalKind in schema ? [] : [name]));
});

/** Existing flows have fields of phases on branches, without effect there: the checker warns. */
function readBranches(value: unknown, schema: TSchema, { path, problems }: Place): readonly Fields[] | undefined {
  if (!Array.isArray(value)) {
    checkStructure(value, schema, { path, problems });
    return undefined;
  }
  if (value.length === 0 || value.length > 1000) {
    checkStructure(value, { ...schema, items: undefined } as unknown as TSchema, { path, problems });
    return undefined;
  }
  return value.map((branch, index) => readBranch(branch, [...path, index], problems));
}

function readBranch(branch: unknown, path: Path, problems: Problems): Fields {
  if (typeof branch !== 'object' || branch === null || Array.isArray(branch)) {
    problems.error(path, 'wrong-type', {
      message: 'a branch has to be an object',
      hint: 'for example: { task: "Look for bugs" }',
    });
    return { task: 'x' };
  }
  const good: Fields = {};
  const fields: TProperties = BRANCH_FIELDS;
  for (const [name, value] of Object.entries(branch)) {
    const at = [...path, name];
    if (name === 'id' && isForbiddenName(value)) forbiddenName(at, value, problems);
    else if (Object.hasOwn(fields, name)) {
      if (checkStructure(value, fields[name]!, { path: at, problems })) good[name] = value;
      else {
        // A wrong field is reported as wrong, not as missing.
        const instead = name === 'task' || name === 'run' ? 'x' : undefined;
        keepSound(good, name, salvage(value, fields[name]!, { path: at, problems }) ?? instead);
      }
    } else if (IGNORED_BRANCH_FIELDS.includes(name)) {
      if (name === 'type' && value === 'agent') continue;
      problems.noEffect(at, `"${name}" means nothing on a branch`);
    } else {
      problems.error(at, 'unknown-field', {
        message: `there is no field ${show(name)} on a branch`,
        target: 'key',
        ...suggestField(name, Object.keys(fields)),
      });
      // Meant as the body, so do not also report a missing body.
      if (synonymOf(name, ['task', 'run'])) good['task'] ??= 'x';
    }
  }
  return good;
}

function article(kind: Kind): string {
  return kind === 'agent' || kind === 'approval' || kind === 'expand' ? 'an' : 'a';
}
