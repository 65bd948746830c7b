import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.js';
import { createRig, phaseOf, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const flow = (phases: object[], more: object = {}) => ({ name: 'cost', ...more, phases });
const agent = (id: string, more: object = {}) => ({ id, type: 'agent', task: `NAME: ${id}\nSAY: hi`, ...more });
const program = (name: string, ...lines: string[]) =>
  rig.write(`bin/${name}`, `#!/bin/sh\ncat > /dev/null\nbin/tick ${name} > /dev/null\n${lines.join('\n')}\n`, 0o755);
const runner = (settings: string) =>
  rig.write('.pi/taskflows/config.yaml', `runner: it\nrunners:\n  it: ${settings}\n`);
const PRICED = `echo '{"text": "hi", "usage": {"inputTokens": 1, "outputTokens": 1, "usd": 0.5}}'`;

describe('what a call cost that did not say so is unknown, and not 0', () => {
  it('a client that fails before it has used a token', async () => {
    program(
      'codex',
      `echo '{"type":"turn.started"}'`,
      `echo '{"type":"turn.failed","error":{"message":"no"}}'`,
      'exit 1',
    );
    runner('{ type: codex, command: [bin/codex] }');
    rig.write('flow.json', JSON.stringify(flow([agent('a')])));
    const { stdout, stderr } = await runCli(['run', './flow.json', '--json'], { cwd: rig.root });
    const result = JSON.parse(stdout);
    expect(result.spent).toEqual({ usd: null, tokens: 0 });
    expect(result.phases[0].usage).not.toHaveProperty('usd');
    expect(stderr).toContain('price unknown · saved nothing');
    expect(rig.counts()).toEqual({ codex: 1 });
  });

  it('a client that says what it costs, ended by a time limit before it said so', async () => {
    const message = { role: 'assistant', content: [], usage: { input: 5, output: 5, cost: { total: 0.25 } } };
    program('pi', `echo '${JSON.stringify({ type: 'message_end', message })}'`, 'exec sleep 60');
    runner('{ type: pi, command: [bin/pi] }');
    const result = await rig.run(flow([agent('a', { timeout: '300ms' })]));
    expect(phaseOf(result, 'a').error?.code).toBe('timeout');
    expect(result.spent).toEqual({ usd: null, tokens: 10 });
  });

  it('a runner that never says', async () => {
    const result = await rig.run(flow([agent('a'), ticking('b')]));
    expect(result).toMatchObject({ status: 'success', spent: { usd: null, tokens: 0 } });
  });

  it('one item of a map, and so the map', async () => {
    program('some', 'if mkdir ../first 2> /dev/null; then', PRICED, 'else', `echo '{"text": "hi"}'`, 'fi');
    runner('{ command: [bin/some], format: json }');
    const mapped = { id: 'm', type: 'map', over: ['x', 'y'], task: '{item}', concurrency: 1 };
    const result = await rig.run(flow([mapped]));
    expect(result.spent).toEqual({ usd: null, tokens: 2 });
    expect(phaseOf(result, 'm').usage.usd).toBeUndefined();
    expect(rig.counts()).toEqual({ some: 2 });
  });

  it('a row of a batch, and no other', async () => {
    program('some', 'if mkdir ../first 2> /dev/null; then', PRICED, 'else', `echo '{"text": "hi"}'`, 'fi');
    runner('{ command: [bin/some], format: json }');
    rig.write('flow.json', JSON.stringify(flow([agent('a', { task: '{args.topic}' })], { args: { topic: {} } })));
    rig.write('rows.txt', 'one\ntwo\n');
    const args = ['batch', './flow.json', '--over', 'rows.txt', '--jobs', '1', '--json'];
    const { stdout } = await runCli(args, { cwd: rig.root });
    const result = JSON.parse(stdout);
    expect(result.rows.map((row: { spent: object }) => row.spent)).toEqual([
      { usd: 0.5, tokens: 2 },
      { usd: null, tokens: 0 },
    ]);
    expect(result.spent).toEqual({ usd: null, tokens: 2 });
  });

  it('a budget in money does not go on with it', async () => {
    program('some', `echo '{"text": "hi"}'`);
    runner('{ command: [bin/some], format: json }');
    const phases = [agent('a'), agent('b', { dependsOn: ['a'] })];
    const result = await rig.run(flow(phases, { budget: { maxUSD: 5 } }));
    expect(result).toMatchObject({ status: 'over-budget', spent: { usd: null } });
    expect(result.error?.message).toContain('nobody knows what was spent');
    expect(rig.counts()).toEqual({ some: 1 });
  });
});

describe('what is known to have cost nothing', () => {
  it('scripts, reused answers, and a client that is not there', async () => {
    const cross = { cache: { scope: 'cross-run', fingerprint: [] } };
    await rig.run(flow([agent('a', cross)]));
    const again = await rig.run(flow([agent('a', cross), ticking('b')]));
    expect(again.spent).toEqual({ usd: 0, tokens: 0 });
    runner('{ command: [bin/nowhere] }');
    const missing = await rig.run(flow([agent('c')]));
    expect(missing).toMatchObject({ status: 'failed', spent: { usd: 0, tokens: 0 } });
  });

  it('a server that nobody answers at', async () => {
    runner('{ type: openai, baseUrl: "http://127.0.0.1:9/v1", model: m }');
    const result = await rig.run(flow([agent('a', { retry: { max: 0 } })]));
    expect(result).toMatchObject({ status: 'failed', spent: { usd: 0, tokens: 0 } });
  });
});

describe('what reusing it saves is unknown then, too, in every sum', () => {
  const kept = { cache: { scope: 'cross-run', fingerprint: [] } };
  const unpriced = agent('a', kept);
  const mapped = { id: 'm', type: 'map', over: ['x', 'y'], task: 'SAY: {item}', ...kept };
  const nested = { id: 'f', type: 'flow', def: { phases: [agent('i', kept)] } };

  it('of one phase, of a map, of a nested flow and of the whole run', async () => {
    const given = flow([unpriced, mapped, nested, ticking('b', kept)]);
    await rig.run(given);
    const again = await rig.run(given);
    expect(again.reuse.executed).toBe(0);
    expect(again.saved).toMatchObject({ usd: null, tokens: 0 });
    for (const id of ['a', 'm']) expect(phaseOf(again, id).saved?.usd).toBeNull();
    expect(phaseOf(again, 'b').saved?.usd).toBe(0);
  });

  it('of rows, and of a run in which nothing has changed, in words and as JSON', async () => {
    rig.write('flow.json', JSON.stringify(flow([unpriced, ticking('b', kept)])));
    const run = (...args: string[]) => runCli(args, { cwd: rig.root });
    for (const _ of [1, 2]) await run('run', './flow.json');
    const warm = await run('run', './flow.json');
    expect(warm.stderr).toMatch(/spent \$0\.00 · saved \S+ \(price unknown\)$/m);
    expect(JSON.parse((await run('run', './flow.json', '--json')).stdout).saved.usd).toBeNull();
    expect((await run('runs')).stdout).toMatch(/saved \S+ \(price unknown\)/);
    rig.write('rows.txt', 'one\ntwo\n');
    rig.write('flow.json', JSON.stringify(flow([unpriced], { args: { topic: {} } })));
    const batch = JSON.parse((await run('batch', './flow.json', '--over', 'rows.txt', '--json')).stdout);
    expect(batch.saved.usd).toBeNull();
  });

  it('and is known where all of it is', async () => {
    program('priced', PRICED);
    runner('{ command: [bin/priced], format: json }');
    const given = flow([agent('a', kept), ticking('b', kept)]);
    await rig.run(given);
    expect((await rig.run(given)).saved.usd).toBeCloseTo(0.5);
  });
});
