import { Type } from '@sinclair/typebox';
import { KINDS } from '../kind.js';
import { CacheOrOff, Duration, EnvMap, Identifier, Json, NonEmptyText, Retry, Run, Text } from './common.js';
import { field, oneOf, optional } from './describe.js';
import { Branch, Score } from './parts.js';

/** Fields that every kind of phase has. */
export const COMMON_FIELDS = {
  id: field(Identifier, {
    title: 'Id',
    description:
      'Name of the phase, unique in the flow. Other phases mention it as {steps.ID.output} or {steps.ID.json}.',
    examples: ['scan', 'write-report'],
  }),
  type: optional(oneOf(KINDS), {
    title: 'Kind',
    description: 'What the phase does. `agent` when nothing is said.',
    examples: ['agent', 'script', 'map'],
  }),
  description: optional(Text, {
    title: 'Description',
    description: 'For people; changes nothing.',
    examples: ['Find what has to be reviewed'],
  }),
  dependsOn: optional(Type.Array(NonEmptyText), {
    title: 'Depends on',
    description:
      'Phases that have to be done first. A phase that is mentioned with {steps.ID…} is a dependency already.',
    examples: [['scan', 'plan']],
  }),
  from: optional(Type.Array(NonEmptyText), {
    title: 'From',
    description: 'Phases whose outputs this one takes; `reduce` joins them.',
    examples: [['review-each']],
  }),
  join: optional(oneOf(['all', 'any']), {
    title: 'Join',
    description: '`all` (the default) waits for every dependency; `any` starts on the first that succeeds.',
    examples: ['any'],
  }),
  when: optional(Text, {
    title: 'When',
    description:
      'The phase is skipped unless this condition holds. Operators: || && ! == != < > <= >= contains matches.',
    examples: ['{steps.scan.json.count} > 0', '{args.mode} == "deep" && {steps.scan.output} contains TODO'],
  }),
  optional: optional(Type.Boolean(), {
    title: 'Optional',
    description: 'A failure of this phase counts as done, with no output.',
    examples: [true],
  }),
  final: optional(Type.Boolean(), {
    title: 'Final',
    description: "The phase's output is the result of the flow. At most one; without any, the last phase of the file.",
    examples: [true],
  }),
  retry: optional(Retry, {
    title: 'Retry',
    description: 'Tries again after a failure, with growing pauses.',
    examples: [{ max: 2, backoffMs: 2000, factor: 2 }],
  }),
  timeout: optional(Duration, {
    title: 'Time limit',
    description:
      'Ends the phase with everything that it started. A number with ms, s, m, h, d or w; a plain number is ' +
      'milliseconds.',
    examples: ['10m', 90_000],
  }),
  idempotent: optional(Type.Boolean(), {
    title: 'Idempotent',
    description:
      '`false`: it does something that must not happen twice. ' +
      'Never reused across runs, never retried by itself, not fired again once it has completed. Default: true.',
    examples: [false],
  }),
  output: optional(oneOf(['text', 'json']), {
    title: 'Output',
    description:
      '`json`: the output has to be JSON, and {steps.ID.json.path} reads inside it. ' +
      'Of a nested flow, its final output; of a gate, what the judge answers. Default: text.',
    examples: ['json'],
  }),
  expect: optional(Type.Record(Type.String(), Json), {
    title: 'Expected shape',
    description: 'JSON Schema that the output has to satisfy, else the phase fails.',
    examples: [{ type: 'object', required: ['files'] }],
  }),
  cwd: optional(NonEmptyText, {
    title: 'Working folder',
    description:
      'A folder inside the project, or `temp` (fresh, removed afterwards), `dedicated` (one per run and phase, ' +
      'kept) or `worktree` (a fresh git worktree at HEAD). Default: the project root.',
    examples: ['packages/api', 'worktree'],
  }),
  context: optional(Type.Array(NonEmptyText), {
    title: 'Context',
    description: 'Files, globs or {steps.ID.output} that are put before the task.',
    examples: [['README.md', 'src/**/*.ts', '{steps.plan.output}']],
  }),
  contextLimit: optional(Type.Integer({ minimum: 1, maximum: 10_000_000 }), {
    title: 'Context limit',
    description: 'Characters taken of each context file. Default: 8000.',
    examples: [20_000],
  }),
  cache: optional(CacheOrOff, {
    title: 'Reuse',
    description: 'Whether an earlier result may be used instead of running the phase; false: never.',
    examples: [{ scope: 'cross-run', ttl: '7d', fingerprint: ['glob:src/**'] }],
  }),
  outputs: optional(Type.Array(NonEmptyText), {
    title: 'Files written',
    description: 'Globs of files that the phase writes. They are kept with its result and restored when it is reused.',
    examples: [['dist/**', 'report.md']],
  }),
  idleTimeout: optional(Duration, {
    title: 'Idle limit',
    description: 'Ends an agent that says nothing for that long; 0 means never. Default: 5m, or what the flow says.',
    examples: ['2m', 0],
  }),
  concurrency: optional(Type.Integer({ minimum: 1, maximum: 1000 }), {
    title: 'Concurrency',
    description: 'How many items or branches of this phase run at once, within the bound of the whole run.',
    examples: [4],
  }),
};

/** Fields of phases that call an agent. */
export const AGENT_FIELDS = {
  agent: optional(NonEmptyText, {
    title: 'Agent',
    description: 'Name of an agent file (.pi/agents/NAME.md, ~/.pi/agent/agents/NAME.md) or of a built-in agent.',
    examples: ['reviewer', 'planner'],
  }),
  runner: optional(NonEmptyText, {
    title: 'Runner',
    description: 'Which client or program answers: a name from the configuration.',
    examples: ['pi', 'claude'],
  }),
  model: optional(NonEmptyText, {
    title: 'Model',
    description: 'Overrides the model of the agent file and of the flow.',
    examples: ['sonnet'],
  }),
  thinking: optional(NonEmptyText, {
    title: 'Thinking',
    description: 'How much the model may think, in the words of the runner.',
    examples: ['low', 'high'],
  }),
  tools: optional(Type.Array(NonEmptyText), {
    title: 'Tools',
    description: 'The only tools that the agent may use.',
    examples: [['read', 'grep', 'ls']],
  }),
  systemPrompt: optional(Text, {
    title: 'System prompt',
    description: 'Added after that of the agent file, if there is one. Placeholders work as in a task.',
    examples: ['You are a careful reviewer. Cite files and lines.'],
  }),
};

export const TASK = field(NonEmptyText, {
  title: 'Task',
  description:
    'What the agent is asked to do. Placeholders: {args.NAME}, {steps.ID.output}, {steps.ID.json.path}, ' +
    '{previous.output}; {item} in a map, {loop.iteration} in a loop.',
  examples: [
    'Review these files and list what is wrong: {steps.scan.output}',
    'Review {item.path} and list what is wrong with it.',
  ],
});

/** Fields of everything that starts a process. */
export const RUN_FIELDS = {
  run: field(Run, {
    title: 'Command',
    description:
      'A list: program and arguments, never seen by a shell; placeholders stay one argument each. ' +
      'A text: a line for sh, without placeholders.',
    examples: [['git', 'diff', '--stat'], 'npm test 2>&1 | tail -20'],
  }),
  input: optional(Text, {
    title: 'Standard input',
    description: 'What the command reads.',
    examples: ['{steps.plan.output}'],
  }),
  env: optional(EnvMap, {
    title: 'Environment',
    description: 'Variables for the command; the safe way to give values to a shell line.',
    examples: [{ TOPIC: '{args.topic}' }],
  }),
};

export const WITH = field(Type.Record(Type.String(), Json), {
  title: 'Arguments',
  description: 'Arguments of the other flow. A text that is exactly one placeholder keeps the type of its value.',
  examples: [{ topic: '{item}', depth: 2 }],
});

export const USE = field(NonEmptyText, {
  title: 'Flow to run',
  description: 'A saved flow (.pi/taskflows/NAME.yaml) or the path of a flow file, from the project root.',
  examples: ['summarize-files', 'flows/review.yaml'],
});

export const BRANCHES = field(Type.Array(Branch, { minItems: 1, maxItems: 1000 }), {
  title: 'Branches',
  description: 'Calls that run side by side; each has a `task` or a `run`.',
  examples: [[{ task: 'Look for bugs' }, { task: 'Look for missing tests', agent: 'test-engineer' }]],
});

export const SCORE = field(Score, {
  title: 'Score',
  description: 'Passes without a model when the scorers say so.',
  examples: [{ target: '{steps.write.output}', scorers: [{ type: 'length-range', min: 200 }] }],
});
