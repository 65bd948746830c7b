import { type Static, Type } from '@sinclair/typebox';
import { RUN_STATUSES } from '../../model/event.js';
import { STATUSES } from '../../model/outcome.js';
import { Json, NonEmptyText, Text } from '../../model/schema/common.js';
import { closed, field, oneOf, optional } from '../../model/schema/describe.js';

const Texts = Type.Union([NonEmptyText, Type.Array(NonEmptyText, { minItems: 1 })]);

/** Expectations of a text: the output of a phase or a run, a file, an error. */
const MATCHERS = {
  contains: optional(Texts, {
    title: 'Contains',
    description: 'A text that is in it, or several that all are.',
    examples: ['src/a.ts', ['serious', 'src/a.ts']],
  }),
  lacks: optional(Texts, { title: 'Lacks', description: 'A text that is not in it, or several.', examples: ['TODO'] }),
  equals: optional(Json, {
    title: 'Equals',
    description: 'The whole text, but for blanks at its ends. Any other value: the whole output as JSON.',
    examples: ['nothing to report', []],
  }),
  matches: optional(NonEmptyText, {
    title: 'Matches',
    description: 'A regular expression that fits a part of it. Each line has a ^ and a $ of its own.',
    examples: ['^VERDICT: (PASS|BLOCK)$'],
  }),
  json: optional(Json, {
    title: 'JSON',
    description: 'The output as JSON. Objects may have more members than are named here; lists may not.',
    examples: [{ serious: 1 }],
  }),
};

const TextExpectation = closed(MATCHERS);
const TextOrMatchers = Type.Union([NonEmptyText, TextExpectation]);

const ERROR = field(NonEmptyText, {
  title: 'Error',
  description: 'A text that is in the message of its error.',
  examples: ['ended with status 1'],
});

const PhaseExpectation = closed({
  status: optional(oneOf(STATUSES), { title: 'Status', description: 'How the phase ended.', examples: ['blocked'] }),
  reused: optional(Type.Boolean(), {
    title: 'Reused',
    description: 'Whether its result was reused from an earlier run or case, all of it.',
    examples: [true],
  }),
  error: Type.Optional(ERROR),
  ...MATCHERS,
});

const RowExpectation = closed({
  status: optional(oneOf(RUN_STATUSES), { title: 'Status', description: 'How the row ended.', examples: ['success'] }),
  error: Type.Optional(ERROR),
  ...MATCHERS,
});

const ErrorExpectation = closed({
  phase: optional(NonEmptyText, { title: 'Phase', description: 'The phase it comes from.', examples: ['review'] }),
  code: optional(NonEmptyText, { title: 'Code', description: 'The code of the error.', examples: ['expect'] }),
  contains: MATCHERS.contains,
  matches: MATCHERS.matches,
});

const Steps = Type.Array(NonEmptyText);

const Expectation = closed({
  status: optional(oneOf(RUN_STATUSES), {
    title: 'Status',
    description: 'How the run ended. Default: success.',
    examples: ['success', 'blocked'],
  }),
  output: optional(TextOrMatchers, {
    title: 'Output',
    description: 'What the flow said. A text: it is in the output.',
    examples: ['src/a.ts', { matches: '^# ' }],
  }),
  phases: optional(Type.Record(Type.String(), PhaseExpectation), {
    title: 'Phases',
    description: 'By id: how each ended and what it said. A phase of a nested flow: `review/check`.',
    examples: [{ gate: { status: 'blocked' } }],
  }),
  rows: optional(Type.Record(Type.String(), RowExpectation), {
    title: 'Rows',
    description: 'Of a batch, by the name of the row: how each ended and what it said.',
    examples: [{ Tides: { contains: '# Tides' } }],
  }),
  executed: optional(Steps, {
    title: 'Executed',
    description:
      'Everything that was executed, and nothing else. Items of a map by their value or position: ' +
      '`notes[src/b.ts]`, `notes[2]`; `notes` is any of them.',
    examples: [['notes[src/b.ts]', 'summary', 'gate'], []],
  }),
  reused: optional(Steps, {
    title: 'Reused',
    description: 'Everything that was reused, and nothing else. Written as in `executed`.',
    examples: [['notes[src/a.ts]']],
  }),
  calls: optional(Type.Integer({ minimum: 0 }), {
    title: 'Calls',
    description: 'How often an agent was asked.',
    examples: [2],
  }),
  files: optional(Type.Record(Type.String(), Type.Union([NonEmptyText, TextExpectation, Type.Null()])), {
    title: 'Files',
    description: 'Files of the project after the run, by path. A text: it is in the file. null: there is none.',
    examples: [{ 'report.md': { contains: '# Report' } }],
  }),
  error: optional(Type.Union([NonEmptyText, ErrorExpectation]), {
    title: 'Error',
    description: 'Why the run did not end well. A text: it is in the message.',
    examples: ['not a git repository', { phase: 'review', code: 'expect' }],
  }),
});

const Rows = Type.Union([NonEmptyText, Type.Array(Json, { minItems: 1 })]);

export const Case = closed({
  name: field(NonEmptyText, {
    title: 'Name',
    description: 'What the case shows. Unique in its file.',
    examples: ['two files, one risky'],
  }),
  args: optional(Type.Record(Type.String(), Json), {
    title: 'Arguments',
    description: 'Arguments of the flow; of a batch, those for all rows.',
    examples: [{ base: 'main' }],
  }),
  over: optional(Rows, {
    title: 'Rows',
    description: 'Runs a batch: a list of rows, or a file of them beside the test.',
    examples: [['Tides', 'Dunes'], 'topics.csv'],
  }),
  as: optional(NonEmptyText, {
    title: 'Argument of a bare row',
    description: 'The argument that a row which is one value is for. Default: the only one of the flow, or `topic`.',
    examples: ['file'],
  }),
  files: optional(Type.Union([NonEmptyText, Type.Record(Type.String(), Text)]), {
    title: 'Files',
    description:
      'Laid over a temporary copy of the project: a folder beside the test, or files by their path in the project.',
    examples: ['fixtures/two-files/', { 'src/a.ts': 'eval(input);\n' }],
  }),
  after: optional(NonEmptyText, {
    title: 'After',
    description: 'The case before this one: it runs in what that case left, as the next run of the same project.',
    examples: ['two files, one risky'],
  }),
  edit: optional(Type.Record(Type.String(), Type.Union([Text, Type.Null()])), {
    title: 'Edit',
    description: 'Files that are written before the run, by their path in the project. null deletes one.',
    examples: [{ 'src/b.ts': 'b();\n' }, { 'src/c.ts': null }],
  }),
  approvals: optional(Type.Record(Type.String(), oneOf(['approve', 'reject'])), {
    title: 'Approvals',
    description: 'What a person says to each approval, by its id. Without it the run pauses there.',
    examples: [{ decide: 'approve' }],
  }),
  expect: optional(Expectation, {
    title: 'Expectations',
    description: 'What has to be true after the run. Nothing but success when nothing is said.',
    examples: [{ status: 'blocked', output: 'src/a.ts' }],
  }),
});

export const TestObject = closed({
  $schema: optional(Text, { title: 'Schema', description: 'For editors.', examples: ['./schema/test.json'] }),
  flow: field(NonEmptyText, {
    title: 'Flow',
    description: 'The flow that is tested: a path from here, or the name of a saved flow.',
    examples: ['./code-review.yaml'],
  }),
  cases: field(Type.Array(Case, { minItems: 1 }), {
    title: 'Cases',
    description: 'Each one is a run, or a batch, in a temporary copy of the project.',
    examples: [[{ name: 'nothing changed', expect: { status: 'success' } }]],
  }),
});

export type RawTest = Static<typeof TestObject>;
export type RawCase = Static<typeof Case>;
export type RawExpectation = Static<typeof Expectation>;
export type RawMatchers = Static<typeof TextExpectation>;

/** Test files as JSON Schema, for editors: made from the definitions that the checker uses. Draft 7. */
export function testJsonSchema(): object {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: 'urn:taskflow:test',
    description: 'Tests of a flow, run by `taskflow test` without a model.',
    ...TestObject,
    title: 'taskflow test',
  };
}
