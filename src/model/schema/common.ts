import { type Static, Type } from '@sinclair/typebox';
import { MAX_NAME_LENGTH, PHASE_ID_PATTERN } from '../names.js';
import { OBSERVE_MODES } from '../observation.js';
import { closed, field, oneOf, optional } from './describe.js';

export const Text = Type.String();

/** Texts that hold a list item or a field and may not be empty. */
export const NonEmptyText = Type.String({ minLength: 1 });

export const Identifier = Type.String({ pattern: PHASE_ID_PATTERN, maxLength: MAX_NAME_LENGTH });

export const Duration = Type.Union([
  Type.Number({ minimum: 0 }),
  Type.String({ pattern: '^\\s*\\d+(\\.\\d+)? ?(ms|s|m|h|d|w)?\\s*$' }),
]);

/** Any JSON value. */
export const Json = Type.Unknown();

export const Retry = closed({
  max: field(Type.Integer({ minimum: 0, maximum: 100 }), {
    title: 'Further attempts',
    description:
      'How often the phase is tried again after the first attempt failed. ' +
      '0 means never, not even after a transient error of the model provider.',
    examples: [2, 0],
  }),
  backoffMs: optional(Type.Number({ minimum: 0, maximum: 3_600_000 }), {
    title: 'First pause',
    description: 'Milliseconds before the first further attempt. Default: 1000.',
    examples: [2000],
  }),
  factor: optional(Type.Number({ minimum: 1, maximum: 100 }), {
    title: 'Growth of the pause',
    description: 'Each pause is this many times the one before it. Default: 2.',
    examples: [2],
  }),
});

const ObserveMode = oneOf(OBSERVE_MODES);

const Observe = closed({
  mode: optional(ObserveMode, {
    title: 'How it is observed',
    description: '`auto`, `strict` or `off`, as in the short form.',
    examples: ['strict'],
  }),
  exclude: optional(Type.Array(NonEmptyText), {
    title: 'Does not count',
    description: 'Globs of files that the phase may read and write without any effect on its reuse.',
    examples: [['**/*.log', '.cache/**']],
  }),
  include: optional(Type.Array(NonEmptyText), {
    title: 'Counts too',
    description: 'Globs of files that are left out else: `node_modules/left-pad/**`.',
    examples: [['node_modules/left-pad/**']],
  }),
});

export const Cache = closed({
  scope: optional(oneOf(['run-only', 'cross-run', 'off']), {
    title: 'Scope of reuse',
    description:
      '`run-only` (the default): within this run and when an unfinished run is continued. ' +
      '`cross-run`: from any earlier run whose inputs were the same. `off`: never.',
    examples: ['cross-run'],
  }),
  ttl: optional(Duration, {
    title: 'Time to live',
    description: 'A cross-run result older than this is not used. Without it there is no bound.',
    examples: ['6h', '7d'],
  }),
  fingerprint: optional(Type.Array(NonEmptyText), {
    title: 'Fingerprints',
    description:
      'What else decides the result: `git:HEAD`, `git:<ref>`, `git:worktree`, `glob:<pattern>`, ' +
      '`glob!:<pattern>`, `file:<path>`, `env:<NAME>`, `cmd:<argv>`. Placeholders work in them. ' +
      'An empty list says that nothing outside matters.',
    examples: [
      ['glob:src/**/*.ts', 'file:package.json'],
      ['git:HEAD', 'env:NODE_ENV'],
    ],
  }),
  observe: optional(Type.Union([ObserveMode, Observe]), {
    title: 'Observed inputs',
    description:
      'What the phase really looks at counts too. `auto` (the default): what can be seen adds misses. `strict`: ' +
      'a result is kept only if everything was seen. `off`: only what is declared counts. ' +
      '`{mode, exclude, include}` says it for some files.',
    examples: ['strict', { exclude: ['**/*.log'] }],
  }),
});

/** `cache: false` is short for `scope: off`. */
export const CacheOrOff = Type.Union([Cache, Type.Literal(false)]);

export const Budget = closed({
  maxUSD: optional(Type.Number({ minimum: 0 }), {
    title: 'Money',
    description: 'No new work is started once this many US dollars are spent. Reuse costs nothing.',
    examples: [2.5],
  }),
  maxTokens: optional(Type.Number({ minimum: 0 }), {
    title: 'Tokens',
    description: 'No new work is started once this many tokens are spent.',
    examples: [500_000],
  }),
});

export const Arg = closed({
  type: optional(oneOf(['string', 'number', 'boolean', 'enum', 'path', 'relative-path', 'json']), {
    title: 'Type',
    description:
      '`string`, `number`, `boolean`, `enum` (one of `values`), `path` (stays inside the project; also ' +
      'spelled `relative-path`) or `json`. Without it any value is taken.',
    examples: ['number', 'path'],
  }),
  default: optional(Json, {
    title: 'Default',
    description: 'The value when none is given.',
    examples: ['src', 3, ['a', 'b']],
  }),
  description: optional(Text, {
    title: 'Description',
    description: 'Shown when the argument is missing.',
    examples: ['What to research'],
  }),
  required: optional(Type.Boolean(), {
    title: 'Required',
    description: 'The flow does not start without it.',
    examples: [true],
  }),
  secret: optional(Type.Boolean(), {
    title: 'Secret',
    description: 'The value is never written to a file and never shown.',
    examples: [true],
  }),
  values: optional(Type.Array(Json, { minItems: 1 }), {
    title: 'Values',
    description: 'For `enum`: what may be given.',
    examples: [['low', 'medium', 'high']],
  }),
  minimum: optional(Type.Number(), {
    title: 'Minimum',
    description: 'For `number`: the smallest that is taken.',
    examples: [1],
  }),
  maximum: optional(Type.Number(), {
    title: 'Maximum',
    description: 'For `number`: the largest that is taken.',
    examples: [10],
  }),
});

export const EnvMap = Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]));

export const Run = Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.String(), { minItems: 1 })]);

export type RawRetry = Static<typeof Retry>;
export type RawCache = Static<typeof Cache>;
export type RawObserve = NonNullable<RawCache['observe']>;
export type RawArg = Static<typeof Arg>;
