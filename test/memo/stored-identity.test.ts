import { expect, test } from 'vitest';
import { foldParts } from '../../src/memo/fold-parts.js';
import type { Identity } from '../../src/memo/identity.js';
import { PARTS_LIMIT, storedIdentity, TEXT_LIMIT } from '../../src/memo/stored-identity.js';
import { canonicalEncode } from '../../src/util/canonical.js';
import { hmacSha256Hex } from '../../src/util/digest.js';
import { makeIdentity } from '../support/identity.js';

const seal = (value: string) => `sealed:00000000:${hmacSha256Hex('k', value).slice(0, 32)}`;

test('values of the environment and of env: are never written, however they are asked for', () => {
  const stored = storedIdentity(
    makeIdentity({ env: { TOKEN: 'tok-123456' }, fingerprints: [{ entry: 'env:API', value: 'api-654321' }] }),
    { seal, secrets: [] },
  );
  const text = JSON.stringify(stored);
  expect(text).not.toContain('123456');
  expect(text).not.toContain('654321');
  expect(stored['env']).toEqual({ TOKEN: seal('tok-123456') });
  const unset = storedIdentity(makeIdentity({ fingerprints: [{ entry: 'env:API', value: null }] }), {
    seal,
    secrets: [],
  });
  expect(unset['fingerprints']).toEqual([{ entry: 'env:API', value: null }]);
});

test('what is short and has nothing to hide is written as it is; anything else is not, however short', () => {
  const texts = (more: Partial<Identity>, secrets: readonly string[] = []) =>
    [{}, { length: 1_000 }].map((known) => {
      const stored = storedIdentity(makeIdentity({ body: { argv: ['cat', 'in'] }, ...more }), {
        seal,
        secrets,
        ...known,
      });
      return canonicalEncode(JSON.parse(JSON.stringify(stored)));
    });
  const cases: readonly [Partial<Identity>, (readonly string[])?][] = [
    [{}],
    [{ references: { a: '00' } }],
    [{ env: { TOKEN: 'tok-123456' } }],
    [{ agent: { model: 'm' } }],
    [{ body: { argv: ['echo', 's3cret'] } }, ['s3cret']],
    [{ fingerprints: [{ entry: 'env:API', value: 'api-654321' }] }],
    [{ fingerprints: [{ entry: 'glob:**', value: 'v', parts: { 'a.ts': 'f'.repeat(64) } }] }],
  ];
  for (const [more, secrets] of cases) {
    const [slowly, quickly] = texts(more, secrets);
    expect(quickly).toBe(slowly);
  }
  const long = storedIdentity(makeIdentity({ body: { task: 'x'.repeat(TEXT_LIMIT * 2) } }), {
    seal,
    secrets: [],
    length: TEXT_LIMIT * 2 + 500,
  });
  expect(JSON.stringify(long).length).toBeLessThan(TEXT_LIMIT * 1.5);
});

test('secret arguments are sealed wherever they turn up: text, JSON in text, names, numbers, entries', () => {
  const secrets = ['s3cr"et', '424242', 'outer-s3cr"et-x'];
  const text = JSON.stringify(
    storedIdentity(
      makeIdentity({
        body: {
          task: 'use s3cr"et now',
          input: JSON.stringify({ key: 's3cr"et', long: 'outer-s3cr"et-x' }),
          argv: ['--pin=424242'],
          pin: 424242,
          's3cr"et': true,
        },
        agent: { systemPrompt: 'the key is s3cr"et' },
        context: [{ path: 'x', sent: 's3cr"et' }],
        fingerprints: [{ entry: 'file:s3cr"et', value: 'd', parts: { 's3cr"et/x': 'd' } }],
      }),
      { seal, secrets },
    ),
  );
  expect(text).not.toContain('s3cr');
  expect(text).not.toContain('424242');
});

test('long texts keep their beginning and differ when their ends do', () => {
  const long = (end: string) =>
    storedIdentity(makeIdentity({ body: { task: 'x'.repeat(TEXT_LIMIT * 2) + end } }), { seal, secrets: [] });
  expect(JSON.stringify(long('a')).length).toBeLessThan(TEXT_LIMIT * 1.2);
  expect(long('a')).not.toEqual(long('b'));
});

test('a thousand long texts do not make a large entry', () => {
  const list = Array.from({ length: 1_000 }, (_, i) => `${i}`.repeat(5_000));
  const stored = storedIdentity(makeIdentity({ body: { list } }), { seal, secrets: [] });
  expect(JSON.stringify(stored).length).toBeLessThan(1_000_000);
});

test('files of a glob are kept up to a number, then their folders', () => {
  const parts = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`d${i % 7}/e${i % 3}/f${i}`, 'a'.repeat(64)]));
  const of = (count: number) =>
    storedIdentity(makeIdentity({ fingerprints: [{ entry: 'glob:**', value: 'v', parts: parts(count) }] }), {
      seal,
      secrets: [],
    })['fingerprints'] as { parts?: object; count?: number }[];
  expect(Object.keys(of(PARTS_LIMIT)[0]!.parts ?? {})).toHaveLength(PARTS_LIMIT);
  expect(of(PARTS_LIMIT + 1)[0]).toMatchObject({ count: PARTS_LIMIT + 1 });
  expect(Object.keys(of(PARTS_LIMIT + 1)[0]!.parts ?? {})).toHaveLength(21);
});

test('folders of a glob are folded until they are few enough, and always end', () => {
  const many = (path: (i: number) => string) =>
    foldParts(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [path(i), 'a'.repeat(64)])), 5);
  expect(Object.keys(many((i) => `f${i}`))).toEqual(['./']);
  expect(Object.keys(many((i) => `d${i}/f`))).toEqual(['./']);
  expect(Object.keys(many((i) => `a/d${i}/e/f`))).toEqual(['a/']);
  expect(Object.keys(many((i) => `${i % 4}/d${i}/e/f`))).toEqual(['0/', '1/', '2/', '3/']);
  expect(Object.keys(many((i) => (i === 0 ? 'top' : `deep/d${i}/f`)))).toEqual(['deep/', './']);
});
