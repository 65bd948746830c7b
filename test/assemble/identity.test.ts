import { describe, expect, it } from 'vitest';
import { digestModule } from '../../scripts/language-tables.mjs';
import { inputIdOf } from '../../src/assemble/identity.js';
import { LANGUAGE_DIGEST } from '../../src/assemble/language-digest.js';
import type { AssembleRequest } from '../../src/assemble/request.js';
import { flowJsonSchema } from '../../src/model/schema/published.js';
import { EXAMPLE, INPUT, OUTPUT, TASK } from './support.js';

const request: AssembleRequest = {
  task: TASK,
  input: INPUT,
  output: OUTPUT,
  examples: [
    { name: 'a', ...EXAMPLE },
    { name: 'b', input: { word: 'x' }, judge: 'it is loud', files: { 'a.txt': 'A' } },
  ],
};
const [first, second] = request.examples as [AssembleRequest['examples'][0], AssembleRequest['examples'][0]];
const base = { request, language: 'l', planner: 1 };
const id = inputIdOf(base);

describe('what was asked for is another thing when', () => {
  it.each<[string, Partial<typeof base> | { request: AssembleRequest }]>([
    ['the task changes', { request: { ...request, task: 'Whisper a word' } }],
    ['the case of the task changes', { request: { ...request, task: TASK.toUpperCase() } }],
    ['the input schema changes', { request: { ...request, input: { ...INPUT, required: [] } } }],
    ['the output schema changes', { request: { ...request, output: { type: 'object' } } }],
    ['an example is gone', { request: { ...request, examples: [first] } }],
    ["an example's input changes", { request: { ...request, examples: [{ ...first, input: { word: 'y' } }, second] } }],
    ["an example's output changes", { request: { ...request, examples: [{ ...first, output: 1 }, second] } }],
    ["an example's judge changes", { request: { ...request, examples: [first, { ...second, judge: 'it is fun' }] } }],
    [
      "an example's file changes",
      { request: { ...request, examples: [first, { ...second, files: { 'a.txt': 'B' } }] } },
    ],
    ['the language changes', { language: 'm' }],
    ["the planner's instructions change", { planner: 2 }],
  ])('%s', (_what, change) => {
    expect(inputIdOf({ ...base, ...change })).not.toBe(id);
  });
});

describe('it is the same thing when', () => {
  it.each<[string, AssembleRequest]>([
    ['the task has other blanks', { ...request, task: `  Say a\n\tword  loudly ` }],
    [
      'keys of a schema come in another order',
      { ...request, input: Object.fromEntries(Object.entries(INPUT).reverse()) },
    ],
    ['examples come in another order', { ...request, examples: [second, first] }],
    ['an example has another name', { ...request, examples: [{ ...first, name: 'z' }, second] }],
    ['an example is given twice', { ...request, examples: [first, second, { ...first, name: 'again' }] }],
  ])('%s', (_what, same) => {
    expect(inputIdOf({ ...base, request: same })).toBe(id);
  });
});

it('the digest of the language is that of the published schema (else: npm run language)', () => {
  expect(digestModule(JSON.parse(JSON.stringify(flowJsonSchema())))).toContain(LANGUAGE_DIGEST);
  expect(LANGUAGE_DIGEST).toMatch(/^[0-9a-f]{64}$/);
});
