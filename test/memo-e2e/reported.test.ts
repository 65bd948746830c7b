import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { phaseOf } from '../support/rig.js';
import { answering, createMemoRig, cross, flow, kept, type MemoRig, makeRepository, writeConfig } from './support.js';

let rig: MemoRig;
beforeEach(() => {
  rig = createMemoRig();
});
afterEach(() => rig.remove());

const HOUR = 3_600_000;
const usage = { inputTokens: 100, cachedInputTokens: 20, outputTokens: 30, usd: 0.04 };
const paid = (id: string, more: object = {}) => answering(id, { text: `said ${id}`, model: 'm-1', usage }, more);

/** The reason of the phase `a` when the flow is run again as it is now. */
async function reason(flowNow?: object, id = 'a'): Promise<string> {
  const result = await rig.run(flowNow, { continuation: { how: 'fresh' } });
  expect(phaseOf(result, id).cacheHit).toBeNull();
  return phaseOf(result, id).reason;
}

describe('why something ran', () => {
  it('first time', async () => {
    expect(await reason(flow([kept('a')]))).toBe('first time');
  });

  it('a file is named, and what happened to it', async () => {
    rig.write('in.txt', '1');
    await rig.run(flow([kept('a', ['file:in.txt'])]));
    rig.write('in.txt', '2');
    expect(await reason()).toBe('input changed: file:in.txt');
  });

  it('the files of a glob that changed, came and went are named', async () => {
    for (const name of ['a', 'b', 'c']) rig.write(`src/${name}.ts`, name);
    await rig.run(flow([kept('a', ['glob:src/**'])]));
    rig.write('src/b.ts', 'changed');
    expect(await reason()).toBe('input changed: glob:src/** (src/b.ts)');
    rig.write('src/d.ts', 'new');
    expect(await reason()).toBe('input changed: glob:src/** (src/d.ts added)');
  });

  it('a commit, an uncommitted file, a variable, the answer of a command', async () => {
    makeRepository(rig.root);
    rig.write('version', '1.0');
    const entries = ['git:HEAD', 'env:MODE', 'cmd:cat version'];
    await rig.runAs({ env: { MODE: 'x' } }, flow([kept('a', entries)]));
    const head = rig.git('rev-parse', '--short=7', 'HEAD');
    rig.git('commit', '-q', '--allow-empty', '-m', 'next');
    const next = rig.git('rev-parse', '--short=7', 'HEAD');
    const why = async (env = { MODE: 'x' }) => phaseOf(await rig.runAs({ env }), 'a').reason;
    expect(await why()).toBe(`input changed: git:HEAD (${head} → ${next})`);
    rig.write('version', '1.1');
    expect(await why()).toBe('input changed: cmd:cat version (1.0 → 1.1)');
    expect(await why({ MODE: 'y' })).toBe('input changed: env:MODE');
    rig.write('flow.json', JSON.stringify(flow([kept('a', ['git:worktree'])])));
    await rig.run();
    rig.write('version', '1.2');
    expect(await why()).toBe('input changed: git:worktree (version)');
  });

  it('an upstream phase is named', async () => {
    rig.write('in.txt', 'one');
    const up = { id: 'up', type: 'script', run: ['cat', 'in.txt'] };
    await rig.run(flow([up, kept('a', [], { run: ['bin/tick', 'a', '{steps.up.output}'] })]));
    rig.write('in.txt', 'two');
    expect(await reason()).toContain('upstream up changed');
    const following = flow([{ ...up, cache: cross(['file:in.txt']) }, kept('a', [], { dependsOn: ['up'] })]);
    await rig.run(following);
    rig.write('in.txt', 'three');
    expect(await reason()).toBe('upstream up changed');
  });

  it('the part of the prompt that changed is shown', async () => {
    const task = (word: string) =>
      flow([paid('a', { task: `NAME: a\nWrite about ${word} in one line.\nANSWER: {"text": "x"}` })]);
    await rig.run(task('cats'));
    expect(await reason(task('dogs'))).toMatch(/^prompt changed: .*cats.* → .*dogs/);
  });

  it('a command, a model and a setting from what to what', async () => {
    await rig.run(flow([paid('a')]));
    expect(await reason(flow([paid('a', { model: 'm-2' })]))).toContain('model changed: m-1 → m-2');
    await rig.run(flow([kept('a')]));
    expect(await reason(flow([kept('a', [], { run: ['bin/tick', 'a', 'other words'] })]))).toMatch(
      /^command changed: .*said a.* → .*other words/,
    );
    const thinking = flow([paid('a', { model: 'm-2' })]);
    await rig.run(thinking);
    writeConfig(rig, 'thinking: high\n');
    expect(await reason(thinking)).toContain('thinking changed: (none) → high');
  });

  it('expired: by how much', async () => {
    await rig.run(flow([kept('a', [], { cache: cross([], { ttl: '6h' }) })]));
    const late = await rig.runAs({ laterMs: 7 * HOUR + 60_000 });
    expect(phaseOf(late, 'a').reason).toBe('expired: 7h 1m > 6h');
    const soon = await rig.runAs({ laterMs: 8 * HOUR });
    expect(phaseOf(soon, 'a').cacheHit).toBe('cross-run');
  });

  it('flags and scopes', async () => {
    const phases = flow([
      kept('a'),
      { id: 'b', type: 'script', run: ['true'] },
      { id: 'c', type: 'script', run: ['true'], cache: { scope: 'off' } },
    ]);
    await rig.run(phases);
    expect(phaseOf(await rig.run(undefined, { reuse: 'off' }), 'a').reason).toBe('--no-cache');
    expect(phaseOf(await rig.run(undefined, { reuse: 'refresh' }), 'a').reason).toBe('--refresh');
    expect(phaseOf(await rig.run(undefined, { selection: { rerun: ['a'] } }), 'a').reason).toBe('--rerun');
    const result = await rig.run();
    expect(phaseOf(result, 'b').reason).toBe('new run');
    expect(phaseOf(result, 'c').reason).toBe('cache scope is off');
  });

  it('an item of a map: how many ran, how many did not', async () => {
    const map = (over: string[]) =>
      flow([{ id: 'a', type: 'map', over, run: ['bin/tick', 'a', '{item}'], cache: cross() }]);
    await rig.run(map(['x', 'y']));
    expect(phaseOf(await rig.run(map(['x', 'y', 'z'])), 'a').reason).toBe('1 of 3 executed, 2 reused');
    expect(phaseOf(await rig.run(), 'a').reason).toBe('all 3 reused');
  });

  it('a secret input that changed is named and not shown', async () => {
    const spec = { args: { token: { secret: true, default: 'first-secret' } } };
    const phases = flow(
      [{ id: 'a', type: 'script', run: ['bin/tick', 'a'], env: { TOKEN: '{args.token}' }, cache: cross() }],
      spec,
    );
    await rig.run(phases);
    const result = await rig.run(undefined, { args: { token: 'second-secret' } });
    expect(phaseOf(result, 'a').reason).toBe('environment changed: TOKEN');
  });
});

describe('what was spent and what was saved', () => {
  it('a hit says its age and what it saved, and costs nothing', async () => {
    const first = await rig.run(flow([paid('a'), kept('s')]));
    expect(first.spent).toEqual({ usd: 0.04, tokens: 150 });
    expect(first.saved).toEqual({ usd: 0, tokens: 0, ms: 0 });
    const second = await rig.runAs({ laterMs: 6 * 60_000 });
    const hit = phaseOf(second, 'a');
    expect(hit).toMatchObject({ cacheHit: 'cross-run', attempts: 0, durationMs: 0 });
    expect(hit.usage).toMatchObject({ inputTokens: 0, outputTokens: 0, usd: 0 });
    expect(hit.saved).toMatchObject({ usd: 0.04, tokens: 150 });
    expect(hit.saved!.ms).toBeGreaterThan(0);
    expect(Math.round(hit.ageMs! / 60_000)).toBe(6);
    expect(hit.reason).toMatch(/^age 6m/);
    expect(second.spent).toEqual({ usd: 0, tokens: 0 });
    expect(second.saved).toMatchObject({ usd: 0.04, tokens: 150 });
  });

  it('the two are told apart in one run', async () => {
    await rig.run(flow([paid('a')]));
    const result = await rig.run(flow([paid('a'), paid('b')]));
    expect(result.spent).toEqual({ usd: 0.04, tokens: 150 });
    expect(result.saved).toMatchObject({ usd: 0.04, tokens: 150 });
    expect(result.reuse).toEqual({ executed: 1, run: 0, crossRun: 1 });
  });

  it('what is saved is what it cost at first, however often it is reused and however it is continued', async () => {
    await rig.run(flow([paid('a'), { id: 'end', type: 'script', run: 'test -e ok', dependsOn: ['a'] }]));
    for (let i = 0; i < 3; i++) expect((await rig.run()).saved).toMatchObject({ usd: 0.04, tokens: 150 });
  });

  it('a nested flow and a map count each part once', async () => {
    rig.write(
      '.pi/taskflows/sub.json',
      JSON.stringify({ name: 'sub', phases: [paid('x'), paid('y', { dependsOn: ['x'] })] }),
    );
    const map = {
      id: 'm',
      type: 'map',
      over: [1, 2],
      runner: 'json',
      task:
        'NAME: m\n{item}\n' +
        'ANSWER: {"text": "x", "model": "m-1", "usage": {"inputTokens": 10, "outputTokens": 0, "usd": 0.5}}',
      cache: cross(),
    };
    for (const phase of [
      { id: 'f', type: 'flow', use: 'sub' },
      { id: 'g', type: 'flow', use: 'sub', cache: cross() },
    ]) {
      const first = await rig.run(flow([phase, map]));
      const total = (first.spent.usd ?? 0) + (first.saved.usd ?? 0);
      expect(total).toBeCloseTo(1.08);
      const second = await rig.run();
      expect(second.spent.usd).toBe(0);
      expect(second.saved.usd).toBeCloseTo(1.08);
    }
  });

  it('a budget counts what is spent, not what is reused', async () => {
    const cheap = (phases: object[]) => flow(phases, { budget: { maxUSD: 0.05 } });
    await rig.run(cheap([paid('a')]));
    const second = await rig.run(cheap([paid('a'), paid('b')]));
    expect(second.status).toBe('success');
    const third = await rig.run(cheap([paid('a'), paid('b'), paid('c')]));
    expect(third.status).toBe('success');
    expect(rig.counts()).toEqual({ a: 1, b: 1, c: 1 });
  });

  it('money that nobody reported is unknown, not nothing', async () => {
    const silent = answering('a', { text: 'x', model: 'm-1', usage: { inputTokens: 5, outputTokens: 5 } });
    const first = await rig.run(flow([silent]));
    expect(first.spent).toEqual({ usd: null, tokens: 10 });
    const second = await rig.run();
    expect(second.spent).toEqual({ usd: 0, tokens: 0 });
    expect(second.saved).toMatchObject({ usd: null, tokens: 10 });
  });

  it('a retried call costs what all its attempts cost, and saves as much', async () => {
    rig.write(
      'bin/flaky',
      '#!/bin/sh\ncat > /dev/null\nbin/note a\nif mkdir once 2>/dev/null; ' +
        'then printf \'{"error": {"message": "busy", "transient": true}, "usage": {"inputTokens": 1, ' +
        '"outputTokens": 0, "usd": 0.25}}\'; ' +
        'else printf \'{"text": "x", "usage": {"inputTokens": 1, "outputTokens": 0, "usd": 0.5}}\'; fi\n',
      0o755,
    );
    writeConfig(rig, '  flaky: { command: [bin/flaky], format: json }\n');
    const phase = {
      id: 'a',
      type: 'agent',
      runner: 'flaky',
      task: 'x',
      retry: { max: 1, backoffMs: 1 },
      cache: cross(),
    };
    expect((await rig.run(flow([phase]))).spent.usd).toBeCloseTo(0.75);
    expect((await rig.run()).saved.usd).toBeCloseTo(0.75);
    expect(rig.counts()).toEqual({ a: 2 });
  });
});
