import { describe, expect, it } from 'vitest';
import { check, makeProject } from './support.js';

/** Names of the fields of which it is said that they do nothing. */
async function idle(value: unknown, project = makeProject()): Promise<readonly string[]> {
  const { diagnostics } = await check(value, project);
  for (const { code, severity } of diagnostics) expect([severity, code]).toEqual(['warning', 'no-effect']);
  return diagnostics.map(({ message }) => /^"(\w+)" means nothing/.exec(message)?.[1] ?? message).sort();
}
const ofPhase = (phase: object) =>
  idle({
    phases: [
      { id: 'before', task: 'x' },
      { id: 'a', ...phase },
    ],
  });

const agent = { agent: 'scout', model: 'm', thinking: 'low', tools: ['read'], systemPrompt: 'x' };
const agentNames = Object.keys(agent).sort();
const process = { cwd: 'src', idleTimeout: '1m' };
const answer = { ...process, expect: { type: 'string' }, outputs: ['x'], output: 'json' };

describe('a field that does nothing where it stands is a warning', () => {
  it('on a gate that asks no agent', async () => {
    const gate = {
      type: 'gate',
      eval: ['1'],
      dependsOn: ['before'],
      ...agent,
      ...answer,
      timeout: '1m',
      retry: { max: 1 },
    };
    const all = [...agentNames, ...Object.keys(answer), 'timeout', 'retry'].sort();
    expect(await ofPhase(gate)).toEqual(all);
    expect(await ofPhase({ ...gate, onBlock: 'retry' })).toEqual(all.filter((name) => name !== 'retry'));
    expect(await ofPhase({ ...gate, task: 'Judge.' })).toEqual([]);
    const score = { target: 'x', scorers: [{ type: 'contains', value: 'y' }], judge: {} };
    expect(await ofPhase({ ...gate, score })).toEqual([]);
  });

  it('on an approval', async () => {
    const approval = { type: 'approval', ...answer, retry: { max: 1 }, timeout: '1h' };
    expect(await ofPhase(approval)).toEqual([...Object.keys(answer), 'retry'].sort());
  });

  it('where another flow does the work', async () => {
    const def = [{ id: 'b', task: 'x' }];
    expect(await ofPhase({ type: 'flow', def, ...process, concurrency: 2 })).toEqual([
      'concurrency',
      'cwd',
      'idleTimeout',
    ]);
    expect(await ofPhase({ type: 'expand', def, ...process })).toEqual(['cwd', 'idleTimeout']);
    const project = makeProject({ 'inner.yaml': 'task: x' });
    const phases = [{ id: 'm', type: 'map', over: [1], use: './inner.yaml', ...process, concurrency: 2 }];
    expect(await idle({ phases }, project)).toEqual(['cwd', 'idleTimeout']);
  });

  it('on a branch that is a command, or is none', async () => {
    const branches = [
      { run: ['ls'], ...agent },
      { task: 'x', input: 'y', env: { A: '1' } },
    ];
    expect(await ofPhase({ type: 'parallel', branches })).toEqual([...agentNames, 'env', 'input'].sort());
    expect(await ofPhase({ type: 'race', branches: [{ run: ['a'] }, { run: ['b'] }], ...agent })).toEqual(agentNames);
    expect(await ofPhase({ type: 'tournament', branches: [{ run: ['a'] }, { run: ['b'] }], ...agent })).toEqual([]);
  });

  it('beside idempotent: false, which allows one attempt', async () => {
    const once = { type: 'script', run: ['ls'], idempotent: false };
    expect(await ofPhase({ ...once, retry: { max: 2 } })).toEqual(['retry']);
    expect(await ofPhase({ ...once, retry: { max: 0 } })).toEqual([]);
  });

  it('in a flow inside another one, which has no run of its own', async () => {
    const inner = { budget: { maxUSD: 1 }, concurrency: 2, phases: [{ id: 'b', task: 'x' }] };
    expect(await ofPhase({ type: 'flow', def: inner })).toEqual(['budget', 'concurrency']);
    expect(await idle(inner)).toEqual([]);
    const project = makeProject({ 'inner.json': JSON.stringify(inner) });
    const phases = [{ id: 'a', type: 'flow', use: './inner.json' }];
    expect(await idle({ phases }, project)).toEqual([expect.stringContaining('the budget of "inner" does not count')]);
    expect(await idle({ budget: { maxUSD: 5 }, phases }, project)).toEqual([]);
  });

  it('and not where it does something', async () => {
    expect(await ofPhase({ type: 'script', run: ['ls'], ...process, retry: { max: 1 } })).toEqual([]);
    expect(await ofPhase({ task: 'x', ...agent, ...answer, context: ['a'], retry: { max: 1 } })).toEqual([]);
    expect(await ofPhase({ type: 'map', over: [1], run: ['ls'], ...process, concurrency: 2 })).toEqual([]);
  });
});
