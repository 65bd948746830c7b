import { Type } from '@sinclair/typebox';
import { KINDS } from '../kind.js';
import { CacheOrOff, Duration, EnvMap, Identifier, Json, NonEmptyText, Retry, Run, Text } from './common.js';
import { field } from './describe.js';
import { Branch, Score } from './parts.js';

/** Fields that every kind of phase has. */
export const COMMON_FIELDS = {
  id: field(
    Identifier,
    'Id',
    'Name of the phase, unique in the flow. Other phases mention it as {steps.ID.output} or {steps.ID.json}.',
    'scan',
    'write-report',
  ),
  type: Type.Optional(
    field(
      Type.Union(KINDS.map((kind) => Type.Literal(kind))),
      'Kind',
      'What the phase does. `agent` when nothing is said.',
      'agent',
      'script',
      'map',
    ),
  ),
  description: Type.Optional(
    field(Text, 'Description', 'For people; changes nothing.', 'Find what has to be reviewed'),
  ),
  dependsOn: Type.Optional(
    field(
      Type.Array(NonEmptyText),
      'Depends on',
      'Phases that have to be done first. A phase that is mentioned with {steps.ID…} is a dependency already.',
      ['scan', 'plan'],
    ),
  ),
  from: Type.Optional(
    field(Type.Array(NonEmptyText), 'From', 'Phases whose outputs this one takes; `reduce` joins them.', [
      'review-each',
    ]),
  ),
  join: Type.Optional(
    field(
      Type.Union([Type.Literal('all'), Type.Literal('any')]),
      'Join',
      '`all` (the default) waits for every dependency; `any` starts on the first that succeeds.',
      'any',
    ),
  ),
  when: Type.Optional(
    field(
      Text,
      'When',
      'The phase is skipped unless this condition holds. Operators: || && ! == != < > <= >= contains matches.',
      '{steps.scan.json.count} > 0',
      '{args.mode} == "deep" && {steps.scan.output} contains TODO',
    ),
  ),
  optional: Type.Optional(
    field(Type.Boolean(), 'Optional', 'A failure of this phase counts as done, with no output.', true),
  ),
  final: Type.Optional(
    field(
      Type.Boolean(),
      'Final',
      "The phase's output is the result of the flow. At most one; without any, the last phase of the file.",
      true,
    ),
  ),
  retry: Type.Optional(
    field(Retry, 'Retry', 'Tries again after a failure, with growing pauses.', { max: 2, backoffMs: 2000, factor: 2 }),
  ),
  timeout: Type.Optional(
    field(
      Duration,
      'Time limit',
      'Ends the phase with everything that it started. A number with ms, s, m, h, d or w; a plain number is milliseconds.',
      '10m',
      90_000,
    ),
  ),
  idempotent: Type.Optional(
    field(
      Type.Boolean(),
      'Idempotent',
      '`false`: it does something that must not happen twice. Never reused across runs, never retried by itself, not fired again once it has completed. Default: true.',
      false,
    ),
  ),
  output: Type.Optional(
    field(
      Type.Union([Type.Literal('text'), Type.Literal('json')]),
      'Output',
      '`json`: the output has to be JSON, and {steps.ID.json.path} reads inside it. Of a nested flow, its final output; of a gate, what the judge answers. Default: text.',
      'json',
    ),
  ),
  expect: Type.Optional(
    field(
      Type.Record(Type.String(), Json),
      'Expected shape',
      'JSON Schema that the output has to satisfy, else the phase fails.',
      { type: 'object', required: ['files'] },
    ),
  ),
  cwd: Type.Optional(
    field(
      NonEmptyText,
      'Working folder',
      'A folder inside the project, or `temp` (fresh, removed afterwards), `dedicated` (one per run and phase, kept) or `worktree` (a fresh git worktree at HEAD). Default: the project root.',
      'packages/api',
      'worktree',
    ),
  ),
  context: Type.Optional(
    field(Type.Array(NonEmptyText), 'Context', 'Files, globs or {steps.ID.output} that are put before the task.', [
      'README.md',
      'src/**/*.ts',
      '{steps.plan.output}',
    ]),
  ),
  contextLimit: Type.Optional(
    field(
      Type.Integer({ minimum: 1, maximum: 10_000_000 }),
      'Context limit',
      'Characters taken of each context file. Default: 8000.',
      20_000,
    ),
  ),
  cache: Type.Optional(
    field(CacheOrOff, 'Reuse', 'Whether an earlier result may be used instead of running the phase; false: never.', {
      scope: 'cross-run',
      ttl: '7d',
      fingerprint: ['glob:src/**'],
    }),
  ),
  outputs: Type.Optional(
    field(
      Type.Array(NonEmptyText),
      'Files written',
      'Globs of files that the phase writes. They are kept with its result and restored when it is reused.',
      ['dist/**', 'report.md'],
    ),
  ),
  idleTimeout: Type.Optional(
    field(
      Duration,
      'Idle limit',
      'Ends an agent that says nothing for that long; 0 means never. Default: 5m, or what the flow says.',
      '2m',
      0,
    ),
  ),
  concurrency: Type.Optional(
    field(
      Type.Integer({ minimum: 1, maximum: 1000 }),
      'Concurrency',
      'How many items or branches of this phase run at once, within the bound of the whole run.',
      4,
    ),
  ),
};

/** Fields of phases that call an agent. */
export const AGENT_FIELDS = {
  agent: Type.Optional(
    field(
      NonEmptyText,
      'Agent',
      'Name of an agent file (.pi/agents/NAME.md, ~/.pi/agent/agents/NAME.md) or of a built-in agent.',
      'reviewer',
      'planner',
    ),
  ),
  runner: Type.Optional(
    field(NonEmptyText, 'Runner', 'Which client or program answers: a name from the configuration.', 'pi', 'claude'),
  ),
  model: Type.Optional(
    field(NonEmptyText, 'Model', 'Overrides the model of the agent file and of the flow.', 'sonnet'),
  ),
  thinking: Type.Optional(
    field(NonEmptyText, 'Thinking', 'How much the model may think, in the words of the runner.', 'low', 'high'),
  ),
  tools: Type.Optional(
    field(Type.Array(NonEmptyText), 'Tools', 'The only tools that the agent may use.', ['read', 'grep', 'ls']),
  ),
  systemPrompt: Type.Optional(
    field(
      Text,
      'System prompt',
      'Added after that of the agent file, if there is one. Placeholders work as in a task.',
      'You are a careful reviewer. Cite files and lines.',
    ),
  ),
};

export const TASK = field(
  NonEmptyText,
  'Task',
  'What the agent is asked to do. Placeholders: {args.NAME}, {steps.ID.output}, {steps.ID.json.path}, {previous.output}; {item} in a map, {loop.iteration} in a loop.',
  'Review these files and list what is wrong: {steps.scan.output}',
  'Review {item.path} and list what is wrong with it.',
);

/** Fields of everything that starts a process. */
export const RUN_FIELDS = {
  run: field(
    Run,
    'Command',
    'A list: program and arguments, never seen by a shell; placeholders stay one argument each. A text: a line for sh, without placeholders.',
    ['git', 'diff', '--stat'],
    'npm test 2>&1 | tail -20',
  ),
  input: Type.Optional(field(Text, 'Standard input', 'What the command reads.', '{steps.plan.output}')),
  env: Type.Optional(
    field(EnvMap, 'Environment', 'Variables for the command; the safe way to give values to a shell line.', {
      TOPIC: '{args.topic}',
    }),
  ),
};

export const WITH = field(
  Type.Record(Type.String(), Json),
  'Arguments',
  'Arguments of the other flow. A text that is exactly one placeholder keeps the type of its value.',
  { topic: '{item}', depth: 2 },
);

export const USE = field(
  NonEmptyText,
  'Flow to run',
  'A saved flow (.pi/taskflows/NAME.yaml) or the path of a flow file, from the project root.',
  'summarize-files',
  'flows/review.yaml',
);

export const BRANCHES = field(
  Type.Array(Branch, { minItems: 1, maxItems: 1000 }),
  'Branches',
  'Calls that run side by side; each has a `task` or a `run`.',
  [{ task: 'Look for bugs' }, { task: 'Look for missing tests', agent: 'test-engineer' }],
);

export const SCORE = field(Score, 'Score', 'Passes without a model when the scorers say so.', {
  target: '{steps.write.output}',
  scorers: [{ type: 'length-range', min: 200 }],
});
