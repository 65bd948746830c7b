import { Type } from '@sinclair/typebox';
import { FLOW_NAME_PATTERN, MAX_NAME_LENGTH } from '../names.js';
import { Arg, Budget, CacheOrOff, Duration, NonEmptyText, Retry, Text } from './common.js';
import { closed, ignored, oneOf, optional } from './describe.js';
import { AGENT_FIELDS, COMMON_FIELDS, TASK } from './fields.js';
import { HooksSchema } from './hooks.js';

export const MOST_PHASES = 50_000;

const Defaults = closed({
  retry: optional(Retry, {
    title: 'Retry',
    description: 'For phases that say nothing about it.',
    examples: [{ max: 1 }],
  }),
  timeout: optional(Duration, {
    title: 'Time limit',
    description: 'For phases that say nothing about it.',
    examples: ['30m'],
  }),
  cache: optional(CacheOrOff, {
    title: 'Reuse',
    description: 'For phases that say nothing about it and may be reused that way; false: none is.',
    examples: [{ scope: 'cross-run' }],
  }),
  cwd: optional(NonEmptyText, {
    title: 'Working folder',
    description: 'For phases that say nothing about it.',
    examples: ['packages/api'],
  }),
});

/** One step of the short forms `tasks` and `chain`: a text, or a task with its agent. */
export const Step = Type.Union([
  NonEmptyText,
  closed({
    task: TASK,
    context: COMMON_FIELDS.context,
    contextLimit: COMMON_FIELDS.contextLimit,
    ...AGENT_FIELDS,
  }),
]);

/** Fields of pi-taskflow that nothing here acts on. */
export const IGNORED_FLOW_FIELDS = {
  contextSharing: ignored('Shared context'),
  shareContext: ignored('Shared context'),
  effects: ignored('Effects'),
};

export const FLOW_FIELDS = {
  $schema: optional(Text, {
    title: 'Schema',
    description: 'Where editors find this schema.',
    examples: ['./taskflow.schema.json'],
  }),
  name: optional(Type.String({ pattern: FLOW_NAME_PATTERN, maxLength: MAX_NAME_LENGTH }), {
    title: 'Name',
    description:
      'Letters, digits, dots, hyphens and underscores. Part of every key, so renaming a flow makes it run ' +
      'again. Default: the name of the file.',
    examples: ['code-review'],
  }),
  description: optional(Text, {
    title: 'Description',
    description: 'For people.',
    examples: ['Reviews the working tree'],
  }),
  version: optional(Type.Union([Type.String(), Type.Number()]), {
    title: 'Version',
    description: 'For people.',
    examples: [1, '2.1'],
  }),
  args: optional(Type.Record(Type.String(), Arg), {
    title: 'Arguments',
    description: 'What can be given with --arg NAME=VALUE and is read as {args.NAME}.',
    examples: [{ topic: { required: true, description: 'What to research' }, depth: { type: 'number', default: 2 } }],
  }),
  concurrency: optional(Type.Integer({ minimum: 1, maximum: 1000 }), {
    title: 'Concurrency',
    description: 'How many agents, scripts, items and branches run at once in the whole run. Default: 8.',
    examples: [4],
  }),
  budget: optional(Budget, {
    title: 'Budget',
    description: 'Bounds what is spent; what is reused costs nothing.',
    examples: [{ maxUSD: 2 }],
  }),
  runner: AGENT_FIELDS.runner,
  model: AGENT_FIELDS.model,
  thinking: AGENT_FIELDS.thinking,
  agentScope: optional(oneOf(['user', 'project', 'both']), {
    title: 'Agent scope',
    description: "Where agent files are looked for: the user's, the project's, or both (the default).",
    examples: ['project'],
  }),
  idleTimeout: COMMON_FIELDS.idleTimeout,
  incremental: optional(Type.Boolean(), {
    title: 'Incremental',
    description:
      'Every phase that may be reused across runs is, unless it says otherwise. ' +
      'Without a fingerprint of its own it depends on everything in the git work tree.',
    examples: [true],
  }),
  strictInterpolation: optional(Type.Boolean(), {
    title: 'Strict placeholders',
    description: 'Warnings about placeholders become errors.',
    examples: [true],
  }),
  defaults: optional(Defaults, {
    title: 'Defaults',
    description: 'Settings for all phases that do not say otherwise.',
    examples: [{ timeout: '10m', retry: { max: 1 } }],
  }),
  hooks: optional(HooksSchema, {
    title: 'Hooks',
    description: 'Who is told when the run begins and how it ended: a command, a webhook or a file.',
    examples: [{ onFail: ['notify-send', 'The flow failed'] }],
  }),
  ...IGNORED_FLOW_FIELDS,
  task: optional(TASK, {
    title: 'Task',
    description: 'Short form of a flow with one agent phase.',
    examples: ['Summarize README.md'],
  }),
  agent: AGENT_FIELDS.agent,
  tools: AGENT_FIELDS.tools,
  systemPrompt: AGENT_FIELDS.systemPrompt,
  context: COMMON_FIELDS.context,
  contextLimit: COMMON_FIELDS.contextLimit,
  tasks: optional(Type.Array(Step, { minItems: 1, maxItems: 1000 }), {
    title: 'Tasks',
    description: 'Short form of a flow with one parallel phase.',
    examples: [['Look for bugs', { task: 'Look for missing tests', agent: 'test-engineer' }]],
  }),
  chain: optional(Type.Array(Step, { minItems: 1, maxItems: 1000 }), {
    title: 'Chain',
    description: 'Short form of a flow whose phases follow each other; each sees {previous.output}.',
    examples: [['Outline an article about {args.topic}', 'Write it: {previous.output}']],
  }),
  phases: optional(Type.Array(Type.Record(Type.String(), Type.Unknown()), { minItems: 1, maxItems: MOST_PHASES }), {
    title: 'Phases',
    description: 'What the flow does. Phases run as soon as what they depend on is done.',
    examples: [[{ id: 'scan', type: 'script', run: ['git', 'ls-files'] }]],
  }),
};

/** Fields that belong to the short forms alone. */
export const SHORTHAND_FIELDS = ['task', 'agent', 'tools', 'systemPrompt', 'context', 'contextLimit'] as const;

/** Everything around the phases; each phase is held against the schema of its kind. */
export const FlowObject = closed(FLOW_FIELDS);
