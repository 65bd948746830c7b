import { type TProperties, Type } from '@sinclair/typebox';
import { remembered } from '../../util/remembered.js';
import { KINDS, type Kind } from '../kind.js';
import { Duration, Json, NonEmptyText, Text } from './common.js';
import { closed, field, ignored, oneOf, optional } from './describe.js';
import { AGENT_FIELDS, BRANCHES, COMMON_FIELDS, RUN_FIELDS, SCORE, TASK, USE, WITH } from './fields.js';

const DEF = field(Type.Union([Type.Record(Type.String(), Json), Type.Array(Json), NonEmptyText]), {
  title: 'Definition',
  description:
    'A flow, `{phases}` or a bare list of phases, written here; or a placeholder whose value is one, made by an ' +
    'earlier phase. A generated one is untrusted: nothing in it may execute a command.',
  examples: [{ phases: [{ id: 'inner', task: 'Say hello' }] }, '{steps.plan.json}'],
});

const Schema = Type.Record(Type.String(), Json);
const DIFF_INPUT = { type: 'object', properties: { diff: { type: 'string' } }, required: ['diff'] };

const ASSEMBLE = field(
  closed({
    task: field(NonEmptyText, {
      title: 'Task',
      description: 'What the flow is for, in words. No placeholders: what differs between runs is in `with`.',
      examples: ['Sort a change by risk'],
    }),
    input: field(Schema, {
      title: 'Input',
      description: 'JSON Schema of an object: its properties are what `with` gives.',
      examples: [DIFF_INPUT],
    }),
    output: field(Schema, {
      title: 'Output',
      description: "JSON Schema of the flow's result.",
      examples: [{ type: 'object', required: ['risk'] }],
    }),
    examples: optional(Type.Array(Type.Record(Type.String(), Json)), {
      title: 'Examples',
      description: 'What the flow is tried on: {input, output}, with an optional `judge` (words) and `files`.',
      examples: [[{ input: { diff: '+ rm -rf /' }, output: { risk: 'high' } }]],
    }),
    maxRounds: optional(Type.Integer({ minimum: 1, maximum: 100 }), {
      title: 'Rounds',
      description: 'Flows that the planner may write. Default: 6.',
      examples: [3],
    }),
    maxUSD: optional(Type.Number({ exclusiveMinimum: 0 }), {
      title: 'Money',
      description: 'For planning and trying. Default: 2, where the runner says what it costs.',
      examples: [0.5],
    }),
  }),
  {
    title: 'Assemble',
    description:
      'What a flow is wanted for: `task`, `input`, `output`, `examples`, `maxRounds`, `maxUSD`. An agent writes it ' +
      'the first time; from then on it is taken as it is. Held to the limits of generated flows.',
    examples: [{ task: 'Sort a change by risk', input: DIFF_INPUT, output: { type: 'object', required: ['risk'] } }],
  },
);

const optionalTask = Type.Optional(TASK);

/** The fields of each kind, without the common ones. Types, checks and the published schema come from this list. */
export const KIND_FIELDS = {
  agent: { task: TASK, ...AGENT_FIELDS },
  script: { ...RUN_FIELDS },
  parallel: { branches: BRANCHES, ...AGENT_FIELDS },
  map: {
    over: field(Type.Union([NonEmptyText, Type.Array(Json, { maxItems: 100_000 })]), {
      title: 'Over',
      description: 'A placeholder whose value is a list, or the list itself.',
      examples: ['{steps.scan.json.files}', ['north', 'south']],
    }),
    as: optional(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_-]*$', maxLength: 100 }), {
      title: 'Name of the item',
      description: 'A further name for {item}: with `as: file`, {file.path} works too.',
      examples: ['file'],
    }),
    task: optionalTask,
    run: Type.Optional(RUN_FIELDS.run),
    input: RUN_FIELDS.input,
    env: RUN_FIELDS.env,
    use: Type.Optional(USE),
    with: Type.Optional(WITH),
    ...AGENT_FIELDS,
  },
  reduce: {
    task: TASK,
    reduceStrategy: optional(oneOf(['one-shot', 'tree']), {
      title: 'Strategy',
      description:
        '`one-shot` (the default): one call sees everything. `tree`: calls over batches, then over their answers.',
      examples: ['tree'],
    }),
    batchSize: optional(Type.Integer({ minimum: 2, maximum: 1000 }), {
      title: 'Batch size',
      description: 'For `tree`: outputs per call. Default: 10.',
      examples: [8],
    }),
    ...AGENT_FIELDS,
  },
  gate: {
    eval: optional(Type.Array(NonEmptyText, { minItems: 1 }), {
      title: 'Conditions',
      description: 'All hold: the gate passes without a model. One fails: the task decides, or the gate blocks.',
      examples: [['{steps.test.output} contains PASS', '{steps.scan.json.errors} == 0']],
    }),
    task: optionalTask,
    score: Type.Optional(SCORE),
    onBlock: optional(oneOf(['halt', 'retry']), {
      title: 'When it blocks',
      description:
        '`halt` (the default) ends the run; `retry` runs what the gate depends on again, up to `retry.max` ' +
        'rounds, and judges again.',
      examples: ['retry'],
    }),
    ...AGENT_FIELDS,
  },
  approval: {
    task: optionalTask,
    timeoutMs: optional(Duration, {
      title: 'Time limit',
      description: 'Another name for `timeout`.',
      examples: [3_600_000],
    }),
    onExpire: optional(oneOf(['reject', 'approve', 'fail']), {
      title: 'When nobody decides in time',
      description: '`reject`, `approve` or `fail`. Without it the run stays paused, and can be decided at any time.',
      examples: ['reject'],
    }),
  },
  flow: {
    use: Type.Optional(USE),
    def: Type.Optional(DEF),
    assemble: Type.Optional(ASSEMBLE),
    with: Type.Optional(WITH),
  },
  loop: {
    task: TASK,
    until: optional(Text, {
      title: 'Until',
      description:
        "Ends the loop when it holds after an iteration. {steps.ID…} with the loop's own id reads that iteration.",
      examples: ['{steps.refine.json.done} == true'],
    }),
    maxIterations: optional(Type.Integer({ minimum: 1, maximum: 100 }), {
      title: 'At most',
      description: 'Iterations. Default: 10, at most 100.',
      examples: [5],
    }),
    convergence: optional(Type.Boolean(), {
      title: 'Convergence',
      description: 'Ends the loop when an iteration says what the last one said. Default: true.',
      examples: [false],
    }),
    reflexion: optional(Type.Boolean(), {
      title: 'Reflexion',
      description: 'What went wrong in an iteration is told to the next one, as {reflexion}.',
      examples: [true],
    }),
    ...AGENT_FIELDS,
  },
  tournament: {
    task: optionalTask,
    variants: optional(Type.Integer({ minimum: 2, maximum: 20 }), {
      title: 'Variants',
      description: 'How many calls of the task compete. Default: 3.',
      examples: [5],
    }),
    branches: Type.Optional(BRANCHES),
    judge: optional(NonEmptyText, {
      title: 'Judge',
      description: 'What the judge is asked; it sees the numbered candidates and answers WINNER: n.',
      examples: ['Which one is clearer and better supported?'],
    }),
    judgeAgent: optional(NonEmptyText, {
      title: "Judge's agent",
      description: 'Default: the agent of the phase.',
      examples: ['final-arbiter'],
    }),
    mode: optional(oneOf(['best', 'aggregate']), {
      title: 'Mode',
      description: "`best` (the default): the winner's own words. `aggregate`: the judge's answer made of all.",
      examples: ['aggregate'],
    }),
    ...AGENT_FIELDS,
  },
  race: {
    branches: BRANCHES,
    cancelLosers: optional(Type.Boolean(), {
      title: 'Cancel losers',
      description: 'The first success ends the others. Default: true.',
      examples: [false],
    }),
    ...AGENT_FIELDS,
  },
  expand: {
    def: DEF,
    with: Type.Optional(WITH),
    expandMode: optional(oneOf(['nested', 'graft']), {
      title: 'Mode',
      description:
        '`nested` (the default): the fragment is a flow of its own. `graft`: its phases become part of this run.',
      examples: ['graft'],
    }),
    maxNodes: optional(Type.Integer({ minimum: 1, maximum: 100 }), {
      title: 'At most',
      description: 'Phases of the fragment. Default: 50.',
      examples: [20],
    }),
  },
} satisfies Record<Kind, TProperties>;

/** Fields of pi-taskflow that nothing here acts on. */
export const IGNORED_PHASE_FIELDS = {
  shareContext: ignored('Shared context'),
  contextSharing: ignored('Shared context'),
  effects: ignored('Effects'),
};

/** Own fields of other kinds, by name: known, but without effect here. */
export const foreignFields = remembered((kind: Kind): TProperties => {
  const own: TProperties = { ...COMMON_FIELDS, ...KIND_FIELDS[kind] };
  const foreign: TProperties = {};
  for (const other of KINDS) {
    for (const [name, schema] of Object.entries(KIND_FIELDS[other] as TProperties)) {
      if (!Object.hasOwn(own, name)) foreign[name] ??= schema;
    }
  }
  return foreign;
});

/** Common and own fields of each kind. */
export const PHASE_FIELDS = Object.fromEntries(
  KINDS.map((kind) => [kind, { ...COMMON_FIELDS, ...KIND_FIELDS[kind] }]),
) as unknown as Record<Kind, TProperties>;
