import { type Static, Type } from '@sinclair/typebox';
import { EnvMap, Identifier, Json, NonEmptyText, Run, Text } from './common.js';
import { field } from './describe.js';

const OWN_SYSTEM_PROMPT =
  'Another one than that of the phase; added after that of the agent file, if there is one. Placeholders work as in a task.';

/** One of the calls of `parallel`, `race` and `tournament`. What it does not say, its phase says. */
export const BRANCH_FIELDS = {
  id: Type.Optional(
    field(Identifier, 'Id', 'Name of the branch in reports. Default: branch-1, branch-2 …', 'security'),
  ),
  task: Type.Optional(field(NonEmptyText, 'Task', 'What the agent is asked to do.', 'Look for security problems.')),
  run: Type.Optional(field(Run, 'Command', 'A command instead of an agent, as in a `script` phase.', ['npm', 'test'])),
  input: Type.Optional(field(Text, 'Standard input', 'What the command reads.', '{steps.plan.output}')),
  env: Type.Optional(field(EnvMap, 'Environment', 'Variables for the command.', { CI: '1' })),
  agent: Type.Optional(field(NonEmptyText, 'Agent', 'Another agent than that of the phase.', 'security-reviewer')),
  runner: Type.Optional(field(NonEmptyText, 'Runner', 'Another runner than that of the phase.', 'local')),
  model: Type.Optional(field(NonEmptyText, 'Model', 'Another model than that of the phase.', 'haiku')),
  thinking: Type.Optional(field(NonEmptyText, 'Thinking', 'How much the model may think.', 'low')),
  tools: Type.Optional(field(Type.Array(NonEmptyText), 'Tools', 'The only tools that the agent may use.', ['read'])),
  systemPrompt: Type.Optional(field(Text, 'System prompt', OWN_SYSTEM_PROMPT, 'Be brief.')),
  cwd: Type.Optional(field(NonEmptyText, 'Working folder', 'Another folder than that of the phase.', 'packages/web')),
};

/** Fields of other places that mean nothing on a branch; flows carry them, and the checker says that they do nothing. */
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
  name: Type.Optional(field(Text, 'Name', 'Shown in the figures.', 'has-verdict')),
  negate: Type.Optional(field(Type.Boolean(), 'Negate', 'Passes when it would have failed.', true)),
};

const CLOSED = { additionalProperties: false } as const;

export const SCORERS = {
  'exact-match': Type.Object(
    {
      type: field(Type.Literal('exact-match'), 'Type', 'The target is exactly this.', 'exact-match'),
      value: field(Json, 'Value', 'What the target has to be. Placeholders work as in a task.', 'yes'),
      ...SCORER_COMMON,
    },
    CLOSED,
  ),
  contains: Type.Object(
    {
      type: field(Type.Literal('contains'), 'Type', 'The target contains this.', 'contains'),
      value: field(Text, 'Value', 'What the target has to contain. Placeholders work as in a task.', 'MERGE_READY'),
      caseSensitive: Type.Optional(
        field(Type.Boolean(), 'Case', '`false`: upper and lower case are the same. Default: true.', false),
      ),
      ...SCORER_COMMON,
    },
    CLOSED,
  ),
  regex: Type.Object(
    {
      type: field(Type.Literal('regex'), 'Type', 'The pattern is found in the target.', 'regex'),
      pattern: field(NonEmptyText, 'Pattern', 'What has to be found in the target; bounded in time.', 'TODO|TBD'),
      flags: Type.Optional(field(Text, 'Flags', 'Of the pattern: i, m, s, u.', 'i')),
      ...SCORER_COMMON,
    },
    CLOSED,
  ),
  'json-schema': Type.Object(
    {
      type: field(Type.Literal('json-schema'), 'Type', 'The target is JSON of this shape.', 'json-schema'),
      schema: field(Type.Record(Type.String(), Json), 'Schema', 'JSON Schema of the target.', { type: 'object' }),
      ...SCORER_COMMON,
    },
    CLOSED,
  ),
  'length-range': Type.Object(
    {
      type: field(Type.Literal('length-range'), 'Type', 'The target is that long.', 'length-range'),
      min: Type.Optional(field(Type.Number({ minimum: 0 }), 'At least', 'Characters.', 300)),
      max: Type.Optional(field(Type.Number({ minimum: 0 }), 'At most', 'Characters.', 20_000)),
      ...SCORER_COMMON,
    },
    CLOSED,
  ),
  'code-compiles': Type.Object(
    {
      type: field(Type.Literal('code-compiles'), 'Type', 'The target is a program that compiles.', 'code-compiles'),
      language: field(
        Type.Union([Type.Literal('javascript'), Type.Literal('typescript')]),
        'Language',
        '`javascript`: node reads it. `typescript`: the tsc of the project checks it. Nothing of it is executed.',
        'javascript',
      ),
      ...SCORER_COMMON,
    },
    CLOSED,
  ),
};

export const Judge = Type.Object(
  {
    agent: Type.Optional(field(NonEmptyText, 'Agent', 'Who judges.', 'reviewer')),
    task: Type.Optional(field(NonEmptyText, 'Task', 'What the judge is asked.', 'Score this from 0.0 to 1.0.')),
    runner: Type.Optional(field(NonEmptyText, 'Runner', 'Another runner than that of the phase.', 'local')),
    model: Type.Optional(field(NonEmptyText, 'Model', 'Another model than that of the phase.', 'haiku')),
    thinking: Type.Optional(field(NonEmptyText, 'Thinking', 'How much the model may think.', 'high')),
    tools: Type.Optional(field(Type.Array(NonEmptyText), 'Tools', 'The only tools that the judge may use.', ['read'])),
    systemPrompt: Type.Optional(field(Text, 'System prompt', OWN_SYSTEM_PROMPT, 'Be strict.')),
  },
  { additionalProperties: false },
);

export const COMBINES = ['all', 'any', 'weighted'] as const;

export const Score = Type.Object(
  {
    target: Type.Optional(
      field(NonEmptyText, 'Target', 'The text that is scored. Default: {previous.output}.', '{steps.write.output}'),
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
      'Scorers',
      'Tests of the target, without a model.',
      [{ type: 'contains', value: 'VERIFIED' }],
    ),
    combine: Type.Optional(
      field(
        Type.Union(COMBINES.map((combine) => Type.Literal(combine))),
        'Combination',
        '`all` (the default): every scorer passes. `any`: one is enough. `weighted`: the weighted share reaches the threshold.',
        'weighted',
      ),
    ),
    weights: Type.Optional(
      field(
        Type.Array(Type.Number({ minimum: 0 }), { minItems: 1 }),
        'Weights',
        'For `weighted`: one per scorer, and one more for the judge if there is one.',
        [3, 2, 1],
      ),
    ),
    threshold: Type.Optional(
      field(
        Type.Number({ minimum: 0, maximum: 1 }),
        'Threshold',
        'The share from which it passes. Default: 1, and 0.7 for `weighted`.',
        0.8,
      ),
    ),
    judge: Type.Optional(
      field(
        Judge,
        'Judge',
        'An agent that is asked too: under `all` and `any` it may veto what passed, under `weighted` its score counts.',
        {
          agent: 'reviewer',
          task: 'Score it.',
        },
      ),
    ),
  },
  { additionalProperties: false },
);

export type RawBranch = Static<typeof Branch>;
export type RawScore = Static<typeof Score>;
export type RawJudge = Static<typeof Judge>;
