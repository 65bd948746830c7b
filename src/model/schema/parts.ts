import { type Static, Type } from '@sinclair/typebox';
import { EnvMap, Identifier, Json, NonEmptyText, Run, Text } from './common.js';
import { field } from './describe.js';

const OWN_SYSTEM_PROMPT =
  'Another one than that of the phase; added after that of the agent file, if there is one. ' +
  'Placeholders work as in a task.';

/** One of the calls of `parallel`, `race` and `tournament`. What it does not say, its phase says. */
export const BRANCH_FIELDS = {
  id: Type.Optional(
    field(Identifier, {
      title: 'Id',
      description: 'Name of the branch in reports. Default: branch-1, branch-2 …',
      examples: ['security'],
    }),
  ),
  task: Type.Optional(
    field(NonEmptyText, {
      title: 'Task',
      description: 'What the agent is asked to do.',
      examples: ['Look for security problems.'],
    }),
  ),
  run: Type.Optional(
    field(Run, {
      title: 'Command',
      description: 'A command instead of an agent, as in a `script` phase.',
      examples: [['npm', 'test']],
    }),
  ),
  input: Type.Optional(
    field(Text, { title: 'Standard input', description: 'What the command reads.', examples: ['{steps.plan.output}'] }),
  ),
  env: Type.Optional(
    field(EnvMap, { title: 'Environment', description: 'Variables for the command.', examples: [{ CI: '1' }] }),
  ),
  agent: Type.Optional(
    field(NonEmptyText, {
      title: 'Agent',
      description: 'Another agent than that of the phase.',
      examples: ['security-reviewer'],
    }),
  ),
  runner: Type.Optional(
    field(NonEmptyText, {
      title: 'Runner',
      description: 'Another runner than that of the phase.',
      examples: ['local'],
    }),
  ),
  model: Type.Optional(
    field(NonEmptyText, { title: 'Model', description: 'Another model than that of the phase.', examples: ['haiku'] }),
  ),
  thinking: Type.Optional(
    field(NonEmptyText, { title: 'Thinking', description: 'How much the model may think.', examples: ['low'] }),
  ),
  tools: Type.Optional(
    field(Type.Array(NonEmptyText), {
      title: 'Tools',
      description: 'The only tools that the agent may use.',
      examples: [['read']],
    }),
  ),
  systemPrompt: Type.Optional(
    field(Text, { title: 'System prompt', description: OWN_SYSTEM_PROMPT, examples: ['Be brief.'] }),
  ),
  cwd: Type.Optional(
    field(NonEmptyText, {
      title: 'Working folder',
      description: 'Another folder than that of the phase.',
      examples: ['packages/web'],
    }),
  ),
};

/** Fields that mean nothing on a branch. Flows have them there, so the checker only warns. */
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
  name: Type.Optional(field(Text, { title: 'Name', description: 'Shown in the figures.', examples: ['has-verdict'] })),
  negate: Type.Optional(
    field(Type.Boolean(), { title: 'Negate', description: 'Passes when it would have failed.', examples: [true] }),
  ),
};

const CLOSED = { additionalProperties: false } as const;

const SCORERS = {
  'exact-match': Type.Object(
    {
      type: field(Type.Literal('exact-match'), {
        title: 'Type',
        description: 'The target is exactly this.',
        examples: ['exact-match'],
      }),
      value: field(Json, {
        title: 'Value',
        description: 'What the target has to be. Placeholders work as in a task.',
        examples: ['yes'],
      }),
      ...SCORER_COMMON,
    },
    CLOSED,
  ),
  contains: Type.Object(
    {
      type: field(Type.Literal('contains'), {
        title: 'Type',
        description: 'The target contains this.',
        examples: ['contains'],
      }),
      value: field(Text, {
        title: 'Value',
        description: 'What the target has to contain. Placeholders work as in a task.',
        examples: ['MERGE_READY'],
      }),
      caseSensitive: Type.Optional(
        field(Type.Boolean(), {
          title: 'Case',
          description: '`false`: upper and lower case are the same. Default: true.',
          examples: [false],
        }),
      ),
      ...SCORER_COMMON,
    },
    CLOSED,
  ),
  regex: Type.Object(
    {
      type: field(Type.Literal('regex'), {
        title: 'Type',
        description: 'The pattern is found in the target.',
        examples: ['regex'],
      }),
      pattern: field(NonEmptyText, {
        title: 'Pattern',
        description: 'What has to be found in the target; bounded in time.',
        examples: ['TODO|TBD'],
      }),
      flags: Type.Optional(
        field(Text, { title: 'Flags', description: 'Of the pattern: i, m, s, u.', examples: ['i'] }),
      ),
      ...SCORER_COMMON,
    },
    CLOSED,
  ),
  'json-schema': Type.Object(
    {
      type: field(Type.Literal('json-schema'), {
        title: 'Type',
        description: 'The target is JSON of this shape.',
        examples: ['json-schema'],
      }),
      schema: field(Type.Record(Type.String(), Json), {
        title: 'Schema',
        description: 'JSON Schema of the target.',
        examples: [{ type: 'object' }],
      }),
      ...SCORER_COMMON,
    },
    CLOSED,
  ),
  'length-range': Type.Object(
    {
      type: field(Type.Literal('length-range'), {
        title: 'Type',
        description: 'The target is that long.',
        examples: ['length-range'],
      }),
      min: Type.Optional(
        field(Type.Number({ minimum: 0 }), { title: 'At least', description: 'Characters.', examples: [300] }),
      ),
      max: Type.Optional(
        field(Type.Number({ minimum: 0 }), { title: 'At most', description: 'Characters.', examples: [20_000] }),
      ),
      ...SCORER_COMMON,
    },
    CLOSED,
  ),
  'code-compiles': Type.Object(
    {
      type: field(Type.Literal('code-compiles'), {
        title: 'Type',
        description: 'The target is a program that compiles.',
        examples: ['code-compiles'],
      }),
      language: field(Type.Union([Type.Literal('javascript'), Type.Literal('typescript')]), {
        title: 'Language',
        description:
          '`javascript`: node reads it. `typescript`: the tsc of the project checks it. Nothing of it is executed.',
        examples: ['javascript'],
      }),
      ...SCORER_COMMON,
    },
    CLOSED,
  ),
};

export const Judge = Type.Object(
  {
    agent: Type.Optional(field(NonEmptyText, { title: 'Agent', description: 'Who judges.', examples: ['reviewer'] })),
    task: Type.Optional(
      field(NonEmptyText, {
        title: 'Task',
        description: 'What the judge is asked.',
        examples: ['Score this from 0.0 to 1.0.'],
      }),
    ),
    runner: Type.Optional(
      field(NonEmptyText, {
        title: 'Runner',
        description: 'Another runner than that of the phase.',
        examples: ['local'],
      }),
    ),
    model: Type.Optional(
      field(NonEmptyText, {
        title: 'Model',
        description: 'Another model than that of the phase.',
        examples: ['haiku'],
      }),
    ),
    thinking: Type.Optional(
      field(NonEmptyText, { title: 'Thinking', description: 'How much the model may think.', examples: ['high'] }),
    ),
    tools: Type.Optional(
      field(Type.Array(NonEmptyText), {
        title: 'Tools',
        description: 'The only tools that the judge may use.',
        examples: [['read']],
      }),
    ),
    systemPrompt: Type.Optional(
      field(Text, { title: 'System prompt', description: OWN_SYSTEM_PROMPT, examples: ['Be strict.'] }),
    ),
  },
  { additionalProperties: false },
);

const COMBINES = ['all', 'any', 'weighted'] as const;

export const Score = Type.Object(
  {
    target: Type.Optional(
      field(NonEmptyText, {
        title: 'Target',
        description: 'The text that is scored. Default: {previous.output}.',
        examples: ['{steps.write.output}'],
      }),
    ),
    scorers: field(
      Type.Array(
        Type.Union([
          SCORERS['exact-match'],
          SCORERS.contains,
          SCORERS.regex,
          SCORERS['json-schema'],
          SCORERS['length-range'],
          SCORERS['code-compiles'],
        ]),
        { minItems: 1, maxItems: 100 },
      ),
      {
        title: 'Scorers',
        description: 'Tests of the target, without a model.',
        examples: [[{ type: 'contains', value: 'VERIFIED' }]],
      },
    ),
    combine: Type.Optional(
      field(Type.Union(COMBINES.map((combine) => Type.Literal(combine))), {
        title: 'Combination',
        description:
          '`all` (the default): every scorer passes. `any`: one is enough. ' +
          '`weighted`: the weighted share reaches the threshold.',
        examples: ['weighted'],
      }),
    ),
    weights: Type.Optional(
      field(Type.Array(Type.Number({ minimum: 0 }), { minItems: 1 }), {
        title: 'Weights',
        description: 'For `weighted`: one per scorer, and one more for the judge if there is one.',
        examples: [[3, 2, 1]],
      }),
    ),
    threshold: Type.Optional(
      field(Type.Number({ minimum: 0, maximum: 1 }), {
        title: 'Threshold',
        description: 'The share from which it passes. Default: 1, and 0.7 for `weighted`.',
        examples: [0.8],
      }),
    ),
    judge: Type.Optional(
      field(Judge, {
        title: 'Judge',
        description:
          'An agent that is asked too: under `all` and `any` it may veto what passed, under `weighted` its score ' +
          'counts.',
        examples: [
          {
            agent: 'reviewer',
            task: 'Score it.',
          },
        ],
      }),
    ),
  },
  { additionalProperties: false },
);

export type RawScore = Static<typeof Score>;
