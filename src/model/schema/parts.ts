import { type Static, type TProperties, Type } from '@sinclair/typebox';
import { EnvMap, Identifier, Json, NonEmptyText, Run, Text } from './common.js';
import { closed, field, oneOf, optional } from './describe.js';

const OWN_SYSTEM_PROMPT =
  'Another one than that of the phase; added after that of the agent file, if there is one. ' +
  'Placeholders work as in a task.';

/** For a call that may use another model than the others of its phase. */
const OTHER_MODEL = {
  runner: optional(NonEmptyText, {
    title: 'Runner',
    description: 'Another runner than that of the phase.',
    examples: ['local'],
  }),
  model: optional(NonEmptyText, {
    title: 'Model',
    description: 'Another model than that of the phase.',
    examples: ['haiku'],
  }),
};

/** One of the calls of `parallel`, `race` and `tournament`. Its defaults come from its phase. */
export const BRANCH_FIELDS = {
  id: optional(Identifier, {
    title: 'Id',
    description: 'Name of the branch in reports. Default: branch-1, branch-2 …',
    examples: ['security'],
  }),
  task: optional(NonEmptyText, {
    title: 'Task',
    description: 'What the agent is asked to do.',
    examples: ['Look for security problems.'],
  }),
  run: optional(Run, {
    title: 'Command',
    description: 'A command instead of an agent, as in a `script` phase.',
    examples: [['npm', 'test']],
  }),
  input: optional(Text, {
    title: 'Standard input',
    description: 'What the command reads.',
    examples: ['{steps.plan.output}'],
  }),
  env: optional(EnvMap, { title: 'Environment', description: 'Variables for the command.', examples: [{ CI: '1' }] }),
  agent: optional(NonEmptyText, {
    title: 'Agent',
    description: 'Another agent than that of the phase.',
    examples: ['security-reviewer'],
  }),
  ...OTHER_MODEL,
  thinking: optional(NonEmptyText, {
    title: 'Thinking',
    description: 'How much the model may think.',
    examples: ['low'],
  }),
  tools: optional(Type.Array(NonEmptyText), {
    title: 'Tools',
    description: 'The only tools that the agent may use.',
    examples: [['read']],
  }),
  systemPrompt: optional(Text, { title: 'System prompt', description: OWN_SYSTEM_PROMPT, examples: ['Be brief.'] }),
  cwd: optional(NonEmptyText, {
    title: 'Working folder',
    description: 'Another folder than that of the phase.',
    examples: ['packages/web'],
  }),
};

/** Fields without effect on a branch. Existing flows have them there, so the checker only warns. */
export const IGNORED_BRANCH_FIELDS = [
  'type',
  'description',
  'retry',
  'output',
  'timeout',
  'idleTimeout',
  'optional',
  'expect',
  'context',
  'contextLimit',
  'cache',
  'outputs',
  'dependsOn',
  'when',
  'join',
  'final',
  'idempotent',
  'concurrency',
  'shareContext',
  'contextSharing',
  'effects',
];

export const Branch = Type.Object(BRANCH_FIELDS, {
  additionalProperties: false,
  patternProperties: { [`^(${IGNORED_BRANCH_FIELDS.join('|')})$`]: {} },
});

const SCORER_COMMON = {
  name: optional(Text, { title: 'Name', description: 'Shown in the figures.', examples: ['has-verdict'] }),
  negate: optional(Type.Boolean(), {
    title: 'Negate',
    description: 'Passes when it would have failed.',
    examples: [true],
  }),
};

/** One kind of test, told from the others by its `type`. */
function scorer<const N extends string, F extends TProperties>(name: N, description: string, fields: F) {
  const type = field(Type.Literal(name), { title: 'Type', description, examples: [name] });
  return closed({ type, ...fields, ...SCORER_COMMON });
}

const SCORERS = [
  scorer('exact-match', 'The target is exactly this.', {
    value: field(Json, {
      title: 'Value',
      description: 'What the target has to be. Placeholders work as in a task.',
      examples: ['yes'],
    }),
  }),
  scorer('contains', 'The target contains this.', {
    value: field(Text, {
      title: 'Value',
      description: 'What the target has to contain. Placeholders work as in a task.',
      examples: ['MERGE_READY'],
    }),
    caseSensitive: optional(Type.Boolean(), {
      title: 'Case',
      description: '`false`: upper and lower case are the same. Default: true.',
      examples: [false],
    }),
  }),
  scorer('regex', 'The pattern is found in the target.', {
    pattern: field(NonEmptyText, {
      title: 'Pattern',
      description: 'What has to be found in the target; bounded in time.',
      examples: ['TODO|TBD'],
    }),
    flags: optional(Text, { title: 'Flags', description: 'Of the pattern: i, m, s, u.', examples: ['i'] }),
  }),
  scorer('json-schema', 'The target is JSON of this shape.', {
    schema: field(Type.Record(Type.String(), Json), {
      title: 'Schema',
      description: 'JSON Schema of the target.',
      examples: [{ type: 'object' }],
    }),
  }),
  scorer('length-range', 'The target is that long.', {
    min: optional(Type.Number({ minimum: 0 }), { title: 'At least', description: 'Characters.', examples: [300] }),
    max: optional(Type.Number({ minimum: 0 }), { title: 'At most', description: 'Characters.', examples: [20_000] }),
  }),
  scorer('code-compiles', 'The target is a program that compiles.', {
    language: field(oneOf(['javascript', 'typescript']), {
      title: 'Language',
      description:
        '`javascript`: node reads it. `typescript`: the tsc of the project checks it. Nothing of it is executed.',
      examples: ['javascript'],
    }),
  }),
];

export const Judge = closed({
  agent: optional(NonEmptyText, { title: 'Agent', description: 'Who judges.', examples: ['reviewer'] }),
  task: optional(NonEmptyText, {
    title: 'Task',
    description: 'What the judge is asked.',
    examples: ['Score this from 0.0 to 1.0.'],
  }),
  ...OTHER_MODEL,
  thinking: optional(NonEmptyText, {
    title: 'Thinking',
    description: 'How much the model may think.',
    examples: ['high'],
  }),
  tools: optional(Type.Array(NonEmptyText), {
    title: 'Tools',
    description: 'The only tools that the judge may use.',
    examples: [['read']],
  }),
  systemPrompt: optional(Text, { title: 'System prompt', description: OWN_SYSTEM_PROMPT, examples: ['Be strict.'] }),
});

export const Score = closed({
  target: optional(NonEmptyText, {
    title: 'Target',
    description: 'The text that is scored. Default: {previous.output}.',
    examples: ['{steps.write.output}'],
  }),
  scorers: field(Type.Array(Type.Union(SCORERS), { minItems: 1, maxItems: 100 }), {
    title: 'Scorers',
    description: 'Tests of the target, without a model.',
    examples: [[{ type: 'contains', value: 'VERIFIED' }]],
  }),
  combine: optional(oneOf(['all', 'any', 'weighted']), {
    title: 'Combination',
    description:
      '`all` (the default): every scorer passes. `any`: one is enough. ' +
      '`weighted`: the weighted share reaches the threshold.',
    examples: ['weighted'],
  }),
  weights: optional(Type.Array(Type.Number({ minimum: 0 }), { minItems: 1 }), {
    title: 'Weights',
    description: 'For `weighted`: one per scorer, and one more for the judge if there is one.',
    examples: [[3, 2, 1]],
  }),
  threshold: optional(Type.Number({ minimum: 0, maximum: 1 }), {
    title: 'Threshold',
    description: 'The share from which it passes. Default: 1, and 0.7 for `weighted`.',
    examples: [0.8],
  }),
  judge: optional(Judge, {
    title: 'Judge',
    description:
      'An agent that is asked too: under `all` and `any` it may veto what passed, under `weighted` its score ' +
      'counts.',
    examples: [{ agent: 'reviewer', task: 'Score it.' }],
  }),
});

export type RawScore = Static<typeof Score>;
