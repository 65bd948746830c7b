import type { TProperties } from '@sinclair/typebox';
import type { Kind } from '../model/kind.js';
import { AGENT_FIELDS, COMMON_FIELDS } from '../model/schema/fields.js';
import { KIND_FIELDS } from '../model/schema/phase.js';

/** Kinds that a planner may use. No approval: an assembled flow runs without a person. */
const PLANNER_KINDS: readonly Kind[] = [
  'agent',
  'map',
  'reduce',
  'parallel',
  'gate',
  'loop',
  'tournament',
  'race',
  'flow',
];
const COMMON_TOLD = [
  'id',
  'type',
  'dependsOn',
  'when',
  'optional',
  'final',
  'retry',
  'timeout',
  'output',
  'expect',
  'context',
];
const NOT_TOLD = new Set(['def', 'assemble', 'runner']);

/** The part of the flow language that a planner needs, made from the definitions that the checker uses. */
export function languageGuide({ allowScripts }: { readonly allowScripts: boolean }): string {
  const kinds = allowScripts ? [...PLANNER_KINDS, 'script' as const] : PLANNER_KINDS;
  const common = Object.fromEntries(
    COMMON_TOLD.map((name) => [name, COMMON_FIELDS[name as keyof typeof COMMON_FIELDS]]),
  );
  const commands = new Set(allowScripts ? [] : ['run', 'input', 'env']);
  const agentNames = new Set(Object.keys(AGENT_FIELDS));
  const own = (kind: Kind) =>
    Object.fromEntries(
      Object.entries(KIND_FIELDS[kind] as TProperties).filter(
        ([name]) => !NOT_TOLD.has(name) && !commands.has(name) && !agentNames.has(name),
      ),
    );
  return [
    'A flow is {"description": "…", "phases": [phase, …]}. Phases run as soon as what they depend on is done.',
    'In texts, {args.NAME} is an argument, {steps.ID.output} the text of another phase, {steps.ID.json.PATH} a value',
    'inside its JSON, and {item} the item of a map. Mentioning a phase makes it a dependency.',
    "The flow's result is the output of the phase with final: true, else of the last phase.",
    '',
    'Fields of every phase:',
    ...fieldLines(common),
    '',
    'Fields of phases that call an agent:',
    ...fieldLines(Object.fromEntries(Object.entries(AGENT_FIELDS).filter(([name]) => !NOT_TOLD.has(name)))),
    ...kinds.flatMap((kind) => ['', `type: ${kind}`, ...fieldLines(own(kind))]),
  ].join('\n');
}

function fieldLines(fields: TProperties): string[] {
  return Object.entries(fields).map(([name, { description, examples }]) => {
    const [example] = (examples ?? []) as readonly unknown[];
    return `- ${name}: ${description ?? ''}${example === undefined ? '' : ` Such as: ${JSON.stringify(example)}`}`;
  });
}
