import type { Phase } from '../model/flow.js';
import type { Kind } from '../model/kind.js';
import type { Path } from '../parse/locate.js';
import type { PhaseReader } from './phase-reader.js';

/** Fields of an agent call, and of a command. */
export const AGENT_ONLY = ['agent', 'runner', 'model', 'thinking', 'tools', 'systemPrompt'] as const;
export const RUN_ONLY = ['input', 'env'] as const;

const OF_AN_AGENT = [...AGENT_ONLY, 'context', 'contextLimit'];
const OF_A_PROCESS = ['cwd', 'idleTimeout'];
const OF_AN_ANSWER = [...OF_A_PROCESS, 'expect', 'outputs'];
const CONCURRENCY = ['concurrency'];
const RETRY = ['retry'];

const FAN_OUT: ReadonlySet<Kind> = new Set<Kind>(['parallel', 'map', 'reduce', 'tournament']);

/**
 * Warns of fields that are right for the kind but have no effect because of another field. Their author expects one: an
 * ignored working folder is a command in the wrong place.
 */
export function checkIdleFields(reader: PhaseReader, phase: Phase): void {
  const { raw, path, written } = reader.source;
  const warn = (fields: readonly string[], why: string) => warnIdle(reader, fields, { path, holder: raw, why });
  if (!FAN_OUT.has(phase.kind)) warn(CONCURRENCY, `on a single ${phase.kind}`);
  const work = workOf(phase, written);
  if (work !== 'agent') warn(OF_AN_AGENT, 'where no agent is called');
  if (work === 'flow') warn(OF_A_PROCESS, 'where another flow does the work');
  if (work === 'decision') {
    const how = phase.kind === 'approval' ? 'where a person decides' : 'where no agent is asked';
    warn(OF_AN_ANSWER, how);
    if (phase.output === 'json') warn(['output'], how);
    if (phase.kind !== 'approval') warn(['timeout'], how);
    if (phase.kind !== 'gate' || phase.onBlock !== 'retry') warn(RETRY, how);
  } else if (!phase.idempotent && phase.kind !== 'gate' && phase.retry?.max !== 0) {
    warn(RETRY, 'beside idempotent: false, which allows one attempt');
  }
}

/** Keywords of JSON Schema about objects and lists, which do not apply to a text. */
const ABOUT_STRUCTURE = ['properties', 'required', 'patternProperties', 'additionalProperties', 'items', 'prefixItems'];

/** Without `output: json` the contract is held against the output's text. */
export function checkContract(reader: PhaseReader, phase: Phase): void {
  const { expect, output, kind } = phase;
  if (expect === undefined || output === 'json' || kind === 'flow' || kind === 'expand') return;
  if (kind === 'gate' || kind === 'approval' || (kind === 'map' && phase.body.type === 'use')) return;
  const { type } = expect;
  const types = Array.isArray(type) ? type : [type];
  const never = type !== undefined && !types.includes('string');
  const idle = type === undefined && ABOUT_STRUCTURE.some((keyword) => expect[keyword] !== undefined);
  if (!never && !idle) return;
  const what = never ? 'can never hold' : 'says nothing';
  const message = `"expect" ${what}: without output: json, the output of "${phase.id}" is a text`;
  reader.problems.warn(reader.path('expect'), 'not-json', { message, target: 'key', hint: 'add output: json' });
}

/** What a phase executes. `decision`: nothing. */
function workOf(phase: Phase, written: ReadonlySet<string>): 'agent' | 'command' | 'flow' | 'decision' {
  switch (phase.kind) {
    case 'script':
      return 'command';
    case 'flow':
    case 'expand':
      return 'flow';
    case 'approval':
      return 'decision';
    case 'gate':
      // A wrong task or score is already reported.
      return written.has('task') || phase.score?.judge || (written.has('score') && !phase.score) ? 'agent' : 'decision';
    case 'map':
      return ({ task: 'agent', run: 'command', use: 'flow' } as const)[phase.body.type];
    case 'parallel':
    case 'race':
      return phase.branches.some(({ body }) => body.type === 'task') || phase.branches.length === 0
        ? 'agent'
        : 'command';
    default:
      return 'agent';
  }
}

export function noEffect(reader: PhaseReader, field: string, why: string): void {
  warnAt(reader, reader.path(field), why);
}

interface Idle {
  /** The path to the object with the fields. */
  readonly path: Path;
  readonly holder: Readonly<Record<string, unknown>>;
  readonly why: string;
}

/** Warns that these fields, where they are written, have no effect, for one reason. */
export function warnIdle(reader: PhaseReader, fields: readonly string[], { path, holder, why }: Idle): void {
  for (const field of fields) if (holder[field] !== undefined) warnAt(reader, [...path, field], why);
}

function warnAt(reader: PhaseReader, path: Path, why: string): void {
  reader.problems.noEffect(path, `"${path.at(-1)}" means nothing ${why}`);
}
