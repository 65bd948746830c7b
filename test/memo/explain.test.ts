import { describe, expect, test } from 'vitest';
import { changeSummary, explainChange } from '../../src/memo/explain.js';
import { PARTS_LIMIT, storedIdentity } from '../../src/memo/stored-identity.js';
import { shortDiff } from '../../src/memo/text-diff.js';
import type { JsonObject } from '../../src/model/json.js';

const BASE: JsonObject = {
  version: 1,
  flow: 'f',
  phase: 'p',
  kind: 'agent',
  body: { task: 'Write a short story about two cats in Paris.' },
  agent: { runner: 'pi', model: 'm-1', systemPrompt: null },
  env: { MODE: 'sealed:aaaaaaaa:1' },
  context: [{ path: 'README.md', whole: '1' }],
  output: 'text',
  expect: null,
  cwd: '.',
  fingerprints: [
    { entry: 'file:package.json', value: '1' },
    { entry: 'glob:src/**', value: '1', parts: { 'src/a.ts': '1', 'src/b.ts': '1', 'src/c.ts': '1' } },
    { entry: 'git:HEAD', value: 'a'.repeat(40) },
    { entry: 'git:worktree', value: { head: 'a'.repeat(40), changes: '' } },
    { entry: 'cmd:node --version', value: { exitCode: 0, stdout: 'v20.1.0\n' } },
    { entry: 'env:TOKEN', value: 'sealed:aaaaaaaa:1' },
  ],
  upstream: [{ id: 'build', key: '1' }],
  references: { plan: '1' },
  outputs: [],
  ordinal: 0,
};

type Identity = Record<'agent' | 'body' | 'env' | 'fingerprints', object>;

function summaryAfter(change: (identity: Identity) => void): string {
  const now = structuredClone(BASE) as unknown as Identity;
  change(now);
  return changeSummary(explainChange(now as unknown as JsonObject, BASE));
}

function fingerprint(entry: string, more: JsonObject): string {
  return summaryAfter((now) =>
    Object.assign((now['fingerprints'] as JsonObject[]).find((f) => f['entry'] === entry)!, more),
  );
}

describe('a miss says what changed', () => {
  test('of what another store has sealed, only that it may have changed, and only if nothing else has', () => {
    const elsewhere = JSON.parse(
      JSON.stringify(BASE).replaceAll('sealed:aaaaaaaa:1', 'sealed:bbbbbbbb:9'),
    ) as unknown as JsonObject;
    expect(changeSummary(explainChange(BASE, elsewhere))).toBe(
      ['input may have changed: env:TOKEN', 'environment may have changed: MODE']
        .map((what) => `${what} (kept by another store)`)
        .join('; '),
    );
    const body = { task: 'See sealed:bbbbbbbb:7 and tell.' };
    const now = { ...BASE, body: { task: 'See sealed:aaaaaaaa:3 and tell.' }, agent: { runner: 'claude' } };
    expect(changeSummary(explainChange(now, { ...elsewhere, body, agent: { runner: 'pi' } }))).toBe(
      'runner changed: pi → claude',
    );
    expect(changeSummary(explainChange({ ...now, env: {} }, { ...elsewhere, body, agent: { runner: 'claude' } }))).toBe(
      'environment changed: MODE',
    );
  });

  test('nothing', () => {
    expect(explainChange(BASE, structuredClone(BASE))).toEqual([]);
  });

  test.each([
    [fingerprint('file:package.json', { value: '2' }), 'input changed: file:package.json'],
    [fingerprint('file:package.json', { value: null }), 'input changed: file:package.json (the file is gone)'],
    [
      fingerprint('glob:src/**', { value: '2', parts: { 'src/a.ts': '1', 'src/b.ts': '2', 'src/c.ts': '1' } }),
      'input changed: glob:src/** (src/b.ts)',
    ],
    [
      fingerprint('glob:src/**', { value: '2', parts: { 'src/a.ts': '2', 'src/d.ts': '1', 'src/e.ts': '1' } }),
      'input changed: glob:src/** (src/a.ts, src/d.ts added and 3 more)',
    ],
    [fingerprint('git:HEAD', { value: 'b'.repeat(40) }), 'input changed: git:HEAD (aaaaaaa → bbbbbbb)'],
    [
      fingerprint('git:worktree', { value: { head: 'a'.repeat(40), changes: 'x' }, parts: { 'x.ts': '1' } }),
      'input changed: git:worktree (x.ts)',
    ],
    [
      fingerprint('cmd:node --version', { value: { exitCode: 0, stdout: 'v22.0.0\n' } }),
      'input changed: cmd:node --version (v20.1.0 → v22.0.0)',
    ],
    [fingerprint('env:TOKEN', { value: 'sealed:aaaaaaaa:2' }), 'input changed: env:TOKEN'],
    [fingerprint('env:TOKEN', { value: null }), 'input changed: env:TOKEN (it is not set any more)'],
    [
      summaryAfter((now) => Object.assign(now, { fingerprints: [] })).replace(/;.*/, ''),
      'input removed: file:package.json',
    ],
    [summaryAfter((now) => Object.assign(now['agent'], { model: 'm-2' })), 'model changed: m-1 → m-2'],
    [
      summaryAfter((now) => Object.assign(now['agent'], { systemPrompt: 'Be brief.' })),
      'system prompt changed: (none) → Be brief.',
    ],
    [
      summaryAfter((now) => Object.assign(now['body'], { task: 'Write a short story about two dogs in Paris.' })),
      'prompt changed: "…about two cats in Paris." → "…about two dogs in Paris."',
    ],
    [summaryAfter((now) => Object.assign(now['env'], { MODE: 'sealed:aaaaaaaa:2' })), 'environment changed: MODE'],
    [summaryAfter((now) => Object.assign(now, { upstream: [{ id: 'build', key: '2' }] })), 'upstream build changed'],
    [summaryAfter((now) => Object.assign(now, { references: { plan: '2' } })), 'upstream plan changed'],
    [
      summaryAfter((now) => Object.assign(now, { context: [{ path: 'README.md', whole: '2' }] })),
      'context changed: README.md',
    ],
    [summaryAfter((now) => Object.assign(now, { cwd: 'sub' })), 'cwd changed: . → sub'],
    [summaryAfter((now) => Object.assign(now, { version: 2 })), 'made by another version of taskflow'],
  ])('%s', (said, expected) => {
    expect(said).toBe(expected);
  });

  test('several things at once, the most telling first, in one line', () => {
    const said = summaryAfter((now) => {
      Object.assign(now['body'], { task: 'other' });
      Object.assign(now['agent'], { model: 'm-2' });
      Object.assign((now['fingerprints'] as JsonObject[])[0]!, { value: '2' });
    });
    expect(said).toBe('input changed: file:package.json; model changed: m-1 → m-2; and 1 more');
  });

  test('of a large glob, the folder in which something changed', () => {
    const seen = (edited: string): JsonObject => {
      const names = Array.from({ length: PARTS_LIMIT + 50 }, (_, i) => `src/d${i % 40}/e${i % 3}/f${i}.ts`);
      const parts = Object.fromEntries(names.map((name) => [name, (name === edited ? 'b' : 'a').repeat(64)]));
      const fingerprints = [{ entry: 'glob:src/**', value: edited, parts }];
      return storedIdentity({ fingerprints, env: {} } as never, { seal: () => '', secrets: [] });
    };
    const changes = explainChange(seen('src/d7/e1/f7.ts'), seen(''));
    expect(changeSummary(changes)).toBe('input changed: glob:src/** (src/d7/e1/)');
  });

  test('every field of an identity has words', () => {
    for (const field of Object.keys(BASE)) {
      const now = { ...BASE, [field]: field === 'version' ? 9 : null };
      if (BASE[field] === null) continue;
      if (Array.isArray(BASE[field]) && (BASE[field] as unknown[]).length === 0) continue;
      expect(explainChange(now, BASE).length, field).toBeGreaterThan(0);
    }
  });

  test('whatever was stored, explaining it does not fail', () => {
    for (const odd of [{}, { fingerprints: 'x', body: [], agent: 3, upstream: {}, context: null }]) {
      expect(() => changeSummary(explainChange(BASE, odd as JsonObject))).not.toThrow();
      expect(() => changeSummary(explainChange(odd as JsonObject, BASE))).not.toThrow();
    }
  });
});

test('a diff of long texts stays short', () => {
  const filler = 'lorem ipsum dolor sit amet '.repeat(2_000);
  const diff = shortDiff(`${filler}A${'a'.repeat(9_000)}${filler}`, `${filler}B${'b'.repeat(9_000)}${filler}`);
  expect(diff.length).toBeLessThan(160);
  expect(shortDiff('', 'new text')).toBe('"" → "new text"');
});

describe('a changed command is said on one short line, without escapes', () => {
  const said = (now: object, before: object) =>
    changeSummary(explainChange({ body: now } as never, { body: before } as never));

  test.each([
    [['echo', 'got '], ['echo', 'got x'], 'command changed: "got " → "got x"'],
    [['echo', 'a', 'b'], ['echo', 'a'], 'command changed: "echo a b" → "echo a"'],
    [['echo', 'a b'], ['print', 'c'], `command changed: "echo 'a b'" → "print c"`],
    [
      ['sh', '-c', 'one\nsay "x"\n'],
      ['sh', '-c', 'one\nsay "y"\n'],
      `command changed: 'one\\nsay "x"\\n' → 'one\\nsay "y"\\n'`,
    ],
    [
      'npm ci\nnpm test -- --reporter "dot"',
      'npm ci\nnpm test -- --reporter "spec"',
      `command changed: '…--reporter "dot"' → '…--reporter "spec"'`,
    ],
    ['echo a', ['echo', 'a'], 'command changed (arguments instead of a text for the shell)'],
    [['echo', 'a'], 'echo b', 'command changed: "echo a" → "echo b"'],
  ])('%j, then %j', (before, now, expected) => {
    const body = (run: unknown) => (typeof run === 'string' ? { shell: run } : { argv: run });
    expect(said(body(now), body(before))).toBe(expected);
  });

  test('however long it is, and whatever is in it', () => {
    const long = (text: string) => ({ shell: `${'é'.repeat(500)}\n${text.repeat(400)}\x1b[31m${'z'.repeat(500)}` });
    const line = said(long('😀"'), long("'😁"));
    expect(line.length).toBeLessThan(160);
    expect(line).not.toMatch(/[\x00-\x1f]|[\ud800-\udbff](?![\udc00-\udfff])/);
    const program = (text: string) => ({ fingerprints: [{ entry: `cmd:node -e ${text.repeat(900)}`, value: 1 }] });
    const added = changeSummary(explainChange(program('x\n') as never, { fingerprints: [] } as never));
    expect(added.length).toBeLessThan(160);
    expect(added).not.toContain('\n');
  });

  test('of a sub-flow: what in it', () => {
    const definition = (run: string) => ({ definition: { phases: [{ id: 'a', run, env: { A: '1' } }] } });
    expect(said(definition('x "q"'), definition('y'))).toBe(`sub-flow changed (phases.0.run): "y" → 'x "q"'`);
  });
});
