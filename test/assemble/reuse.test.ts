import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPlanRig, GOOD, type PlanRig, saying, TASK, WRONG, writeConfig } from './support.js';

let rig: PlanRig;
beforeEach(() => {
  rig = createPlanRig();
});
afterEach(() => rig.remove());

const json = (text: string) => JSON.parse(text) as Record<string, never>;
const by = (agent: string) => ({ phases: [{ ...GOOD.phases[0], agent }] });
async function made(): Promise<Record<string, never>> {
  const { status, stdout, stderr } = await rig.assemble('--json');
  expect([status, stderr]).toEqual([0, expect.any(String)]);
  return json(stdout);
}

describe('a plan is taken as long as everything that it uses is unchanged', () => {
  it('a changed agent: repaired from the old flow, said in one line, and not planned anew', async () => {
    rig.write('.pi/agents/crier.md', 'Shout.');
    rig.answers(by('crier'));
    await made();
    expect(rig.counts()).toEqual({ plan: 1, shout: 1 });
    expect((await made())['how']).toBe('disk');
    rig.write('.pi/agents/unused.md', 'One more agent.');
    expect((await made())['how']).toBe('disk');
    rig.forget();
    rig.write('.pi/agents/crier.md', 'Shout louder.');
    const { stdout, stderr } = await rig.assemble('--json');
    expect(json(stdout)).toMatchObject({ how: 'repaired', status: 'complete' });
    expect(stderr.split('\n').filter((line) => line.includes('is repaired'))).toEqual([
      expect.stringContaining('agent crier changed'),
    ]);
    expect(rig.counts()).toEqual({ shout: 1 });
    rig.forget();
    expect((await made())['how']).toBe('disk');
    expect(rig.counts()).toEqual({});
    // Back to what it was: the older plan fits again.
    rig.write('.pi/agents/crier.md', 'Shout.');
    expect((await made())['how']).toBe('disk');
    expect(rig.counts()).toEqual({});
  });

  it('an agent that is gone: the planner repairs the old flow', async () => {
    rig.write('.pi/agents/crier.md', 'Shout.');
    rig.answers(by('crier'));
    await made();
    const { rmSync } = await import('node:fs');
    rmSync(`${rig.root}/.pi/agents/crier.md`);
    rig.forget();
    rig.answers(GOOD);
    const { stdout, stderr } = await rig.assemble('--json');
    expect(json(stdout)).toMatchObject({ how: 'repaired', status: 'complete' });
    expect(stderr).toContain('agent crier is gone');
    expect(rig.counts()).toEqual({ plan: 1, shout: 1 });
    expect(rig.prompts()[0]).toContain('"agent": "crier"');
    expect(rig.prompts()[0]).toContain('there is no agent "crier"');
  });

  it('a saved flow, at any depth, and the runner', async () => {
    const saved = (more: object) => JSON.stringify({ phases: [{ ...GOOD.phases[0], ...more }], args: { word: {} } });
    rig.write('.pi/taskflows/inner.json', saved({}));
    rig.answers({ phases: [{ id: 'f', type: 'flow', use: 'inner', with: { word: '{args.word}' } }] });
    expect((await made())['uses']).toMatchObject({
      flows: { inner: expect.anything() },
      runners: { '': expect.anything() },
    });
    expect((await made())['how']).toBe('disk');
    rig.write('.pi/taskflows/inner.json', saved({ timeout: '5m' }));
    expect((await made())['how']).toBe('repaired');
    writeConfig(rig, 'model: other\n');
    expect((await made())['how']).toBe('repaired');
    expect((await made())['how']).toBe('disk');
    expect(rig.counts()).toEqual({ plan: 1, shout: 3 });
  });
});

it('--replan ignores what is there and adds to it; a newer failure never hides an older success', async () => {
  rig.answers(GOOD);
  const first = await made();
  rig.answers(WRONG);
  expect((await rig.assemble('--replan', '--max-rounds', '1')).status).toBe(1);
  rig.forget();
  expect(await made()).toMatchObject({ how: 'disk', id: first['id'] });
  expect(rig.counts()).toEqual({});
  rig.answers(GOOD);
  const { stdout } = await rig.assemble('--replan', '--json');
  expect(json(stdout)).toMatchObject({ how: 'planned' });
  expect(json(stdout)['id']).not.toBe(first['id']);
  expect(rig.records().map(({ ended }) => ended)).toEqual(['complete', 'under-way', 'rounds', 'complete']);
});

it('list, show, diff and promote', async () => {
  rig.answers(GOOD);
  const { id } = await made();
  rig.answers(WRONG);
  await rig.assemble('--replan', '--max-rounds', '1');
  const listed = JSON.parse((await rig.taskflow('assemble', 'list', '--json')).stdout) as { ended: string }[];
  expect(listed.map(({ ended }) => ended)).toEqual(['rounds', 'complete']);
  const lines = (await rig.taskflow('assemble', 'list')).stdout.trimEnd().split('\n');
  expect(lines).toEqual([
    expect.stringMatching(/out of rounds: the example case1 failed: the result is/),
    expect.stringMatching(/Say a word loudly .* complete$/),
  ]);
  const shown = await rig.taskflow('assemble', 'show', id!);
  expect(shown.stdout).toContain('SHOUT: {args.word}');
  expect(shown.stdout).toMatch(/^cost +\$0.02 \(30 tokens\) in 1 round, 1 example$/m);
  const diff = await rig.taskflow('assemble', 'diff', 'last');
  expect(diff.stdout).toMatch(/^-.*SHOUT: \{args.word\}/m);
  expect(diff.stdout).toMatch(/^\+.*SAY: /m);
  const early = await rig.taskflow('assemble', 'promote', 'last', '--as', 'loud');
  expect([early.status, early.stderr]).toEqual([2, expect.stringContaining('is not complete: the example case1')]);
  expect((await rig.taskflow('assemble', 'promote', id!, '--as', 'loud')).stdout).toBe('.pi/taskflows/loud.yaml\n');
  expect(rig.read('.pi/taskflows/loud.yaml')).toContain(`# Made by taskflow assemble (${id}): ${TASK}`);
  rig.forget();
  const run = await rig.taskflow('run', 'loud', 'word=hey', '--json');
  expect(json(run.stdout)).toMatchObject({ status: 'success', json: { loud: 'HEY' } });
  const twice = await rig.taskflow('assemble', 'promote', id!, '--as', 'loud');
  expect([twice.status, twice.stderr]).toEqual([2, expect.stringContaining('there is a flow loud already')]);
  const none = await rig.taskflow('assemble', 'show', 'zzz');
  expect([none.status, none.stderr]).toEqual([2, expect.stringContaining('there is no attempt zzz')]);
});

describe('--run', () => {
  it('makes it or takes it, then runs it, and holds the result to the output schema', async () => {
    rig.answers(GOOD);
    const first = await rig.assemble('--run', 'word=hey', '--yes', '--json');
    expect(first.status).toBe(0);
    expect(json(first.stdout)).toMatchObject({
      status: 'success',
      json: { loud: 'HEY' },
      assembled: { status: 'complete', how: 'planned' },
    });
    expect(rig.counts()).toEqual({ plan: 1, shout: 2 });
    const plain = await rig.assemble('--run', 'word=you', '--yes');
    expect(plain.stdout).toBe('{"loud":"YOU"}\n');
    const wrong = await rig.assemble('--run', 'wrd=you', '--yes');
    expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining('did you mean "word"?')]);
  });

  it('a result of another shape than was asked for is a failure', async () => {
    rig.write('case1.json', JSON.stringify({ input: { word: 'abc' } }));
    const echo = { phases: [{ id: 'shout', task: 'NAME: shout\nSAY: {args.word}' }] };
    rig.answers({ says: echo });
    rig.write('out.json', JSON.stringify({ enum: ['abc', 'hey'] }));
    expect((await rig.assemble('--run', 'word=hey', '--yes')).status).toBe(0);
    const other = await rig.assemble('--run', 'word=nope', '--yes', '--json');
    expect(other.status).toBe(1);
    expect(json(other.stdout)).toMatchObject({ status: 'failed', error: { code: 'expect' } });
  });

  it('what is reused across runs stays so', async () => {
    rig.answers({ phases: [{ ...GOOD.phases[0], cache: { scope: 'cross-run' } }] });
    await rig.assemble('--run', 'word=hey', '--yes');
    rig.forget();
    const again = await rig.assemble('--run', 'word=hey', '--yes', '--json');
    expect(json(again.stdout)).toMatchObject({ json: { loud: 'HEY' }, reuse: { executed: 0, crossRun: 1 } });
    expect(rig.counts()).toEqual({});
  });

  it('events of planning and of the run are one stream', async () => {
    rig.answers(saying({ loud: 'ABC' }));
    const { stdout } = await rig.assemble('--run', 'word=x', '--yes', '--events');
    const types = stdout
      .trimEnd()
      .split('\n')
      .map((line) => json(line)['type']);
    expect(types).toEqual(expect.arrayContaining(['assemble-start', 'assemble-asking', 'assemble-tried', 'run-end']));
  });
});
