import { type Static, Type } from '@sinclair/typebox';
import { FLOW_NAME_PATTERN, MAX_NAME_LENGTH } from '../names.js';
import { Arg, Budget, CacheOrOff, Duration, NonEmptyText, Retry, Text } from './common.js';
import { field, ignored } from './describe.js';
import { AGENT_FIELDS, COMMON_FIELDS, TASK } from './fields.js';
import { Hooks } from './hooks.js';

export const MOST_PHASES = 10_000;

export const Defaults = Type.Object(
  {
    retry: Type.Optional(field(Retry, 'Retry', 'For phases that say nothing about it.', { max: 1 })),
    timeout: Type.Optional(field(Duration, 'Time limit', 'For phases that say nothing about it.', '30m')),
    cache: Type.Optional(
      field(CacheOrOff, 'Reuse', 'For phases that say nothing about it and may be reused that way; false: none is.', {
        scope: 'cross-run',
      }),
    ),
    cwd: Type.Optional(field(NonEmptyText, 'Working folder', 'For phases that say nothing about it.', 'packages/api')),
  },
  { additionalProperties: false },
);

/** One step of the short forms `tasks` and `chain`: a text, or a task with its agent. */
export const Step = Type.Union([
  NonEmptyText,
  Type.Object(
    {
      task: TASK,
      context: COMMON_FIELDS.context,
      contextLimit: COMMON_FIELDS.contextLimit,
      ...AGENT_FIELDS,
    },
    { additionalProperties: false },
  ),
]);

/** Fields of pi-taskflow that nothing here acts on. */
export const IGNORED_FLOW_FIELDS = {
  contextSharing: ignored('Shared context'),
  shareContext: ignored('Shared context'),
  effects: ignored('Effects'),
};

export const FLOW_FIELDS = {
  $schema: Type.Optional(field(Text, 'Schema', 'Where editors find this schema.', './taskflow.schema.json')),
  name: Type.Optional(
    field(
      Type.String({ pattern: FLOW_NAME_PATTERN, maxLength: MAX_NAME_LENGTH }),
      'Name',
      'Letters, digits, dots, hyphens and underscores. Part of every key, so renaming a flow makes it run again. Default: the name of the file.',
      'code-review',
    ),
  ),
  description: Type.Optional(field(Text, 'Description', 'For people.', 'Reviews the working tree')),
  version: Type.Optional(field(Type.Union([Type.String(), Type.Number()]), 'Version', 'For people.', 1, '2.1')),
  args: Type.Optional(
    field(
      Type.Record(Type.String(), Arg),
      'Arguments',
      'What can be given with --arg NAME=VALUE and is read as {args.NAME}.',
      { topic: { required: true, description: 'What to research' }, depth: { type: 'number', default: 2 } },
    ),
  ),
  concurrency: Type.Optional(
    field(
      Type.Integer({ minimum: 1, maximum: 1000 }),
      'Concurrency',
      'How many agents, scripts, items and branches run at once in the whole run. Default: 8.',
      4,
    ),
  ),
  budget: Type.Optional(field(Budget, 'Budget', 'Bounds what is spent; what is reused costs nothing.', { maxUSD: 2 })),
  runner: AGENT_FIELDS.runner,
  model: AGENT_FIELDS.model,
  thinking: AGENT_FIELDS.thinking,
  agentScope: Type.Optional(
    field(
      Type.Union([Type.Literal('user'), Type.Literal('project'), Type.Literal('both')]),
      'Agent scope',
      "Where agent files are looked for: the user's, the project's, or both (the default).",
      'project',
    ),
  ),
  idleTimeout: COMMON_FIELDS.idleTimeout,
  incremental: Type.Optional(
    field(
      Type.Boolean(),
      'Incremental',
      'Every phase that may be reused across runs is, unless it says otherwise. Without a fingerprint of its own it depends on everything in the git work tree.',
      true,
    ),
  ),
  strictInterpolation: Type.Optional(
    field(Type.Boolean(), 'Strict placeholders', 'Warnings about placeholders become errors.', true),
  ),
  defaults: Type.Optional(
    field(Defaults, 'Defaults', 'Settings for all phases that do not say otherwise.', {
      timeout: '10m',
      retry: { max: 1 },
    }),
  ),
  hooks: Type.Optional(
    field(Hooks, 'Hooks', 'What is told of the run while it goes and when it ends. Not run yet.', {
      onFail: ['notify-send', 'The flow failed'],
    }),
  ),
  ...IGNORED_FLOW_FIELDS,
  task: Type.Optional(field(TASK, 'Task', 'Short form of a flow with one agent phase.', 'Summarize README.md')),
  agent: AGENT_FIELDS.agent,
  tools: AGENT_FIELDS.tools,
  systemPrompt: AGENT_FIELDS.systemPrompt,
  context: COMMON_FIELDS.context,
  contextLimit: COMMON_FIELDS.contextLimit,
  tasks: Type.Optional(
    field(Type.Array(Step, { minItems: 1, maxItems: 1000 }), 'Tasks', 'Short form of a flow with one parallel phase.', [
      'Look for bugs',
      { task: 'Look for missing tests', agent: 'test-engineer' },
    ]),
  ),
  chain: Type.Optional(
    field(
      Type.Array(Step, { minItems: 1, maxItems: 1000 }),
      'Chain',
      'Short form of a flow whose phases follow each other; each sees {previous.output}.',
      ['Outline an article about {args.topic}', 'Write it: {previous.output}'],
    ),
  ),
  phases: Type.Optional(
    field(
      Type.Array(Type.Record(Type.String(), Type.Unknown()), { minItems: 1, maxItems: MOST_PHASES }),
      'Phases',
      'What the flow does. Phases run as soon as what they depend on is done.',
      [{ id: 'scan', type: 'script', run: ['git', 'ls-files'] }],
    ),
  ),
};

/** Fields that belong to the short forms alone. */
export const SHORTHAND_FIELDS = ['task', 'agent', 'tools', 'systemPrompt', 'context', 'contextLimit'] as const;

/** Everything around the phases; each phase is held against the schema of its kind. */
export const FlowObject = Type.Object(FLOW_FIELDS, { additionalProperties: false });

export type RawFlow = Static<typeof FlowObject>;
export type RawStep = Static<typeof Step>;
