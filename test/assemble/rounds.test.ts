import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPlanRig, EXAMPLE, GOOD, type PlanRig, saying, UNCHECKED, WRONG, writeConfig } from './support.js';

let rig: PlanRig;
beforeEach(() => {
  rig = createPlanRig();
});
afterEach(() => rig.remove());

const json = (text: string) => JSON.parse(text) as Record<string, never>;

describe('planning', () => {
  it('bad, worse, good: each problem goes back to the planner, and the good flow is kept and taken', async () => {
    rig.answers(UNCHECKED, WRONG, GOOD);
    const first = await rig.assemble('--json');
    expect(first.status).toBe(0);
    expect(json(first.stdout)).toMatchObject({ status: 'complete', how: 'planned', rounds: 3, spent: { usd: 0.05 } });
    expect(rig.counts()).toEqual({ plan: 3, shout: 2 });
    const [one, two, three] = rig.prompts();
    expect(one).not.toContain('not good yet');
    expect(two).toContain('there is no phase "gone"');
    expect(two).toMatch(/unknown field "tusk"|"tusk"/);
    expect(three).toContain('The example case1 failed: the result is {"loud":"nothing"}, and not {"loud":"ABC"}');
    expect(rig.records().map(({ status, ended }) => [status, ended])).toEqual([
      ['incomplete', 'under-way'],
      ['incomplete', 'under-way'],
      ['complete', 'complete'],
    ]);
    rig.forget();
    const second = await rig.assemble('--json');
    expect(json(second.stdout)).toMatchObject({ status: 'complete', how: 'disk', spent: { usd: 0 } });
    expect(json(second.stdout)['id']).toBe(json(first.stdout)['id']);
    expect(rig.counts()).toEqual({});
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('taskflow-assemble-'))).toEqual([]);
  });

  it('never good: stops after its rounds; the next call says the same and executes nothing', async () => {
    rig.answers(WRONG);
    const first = await rig.assemble('--max-rounds', '2', '--json');
    expect(first.status).toBe(1);
    expect(json(first.stdout)).toMatchObject({ status: 'incomplete', ended: 'rounds', rounds: 2 });
    expect(first.stderr).toContain('the example case1 failed');
    expect(rig.counts()).toEqual({ plan: 2, shout: 2 });
    rig.forget();
    const again = await rig.assemble('--max-rounds', '2');
    expect(again.status).toBe(1);
    expect(again.stderr).toContain('the last time either: the example case1 failed');
    expect(again.stderr).toContain('A larger --max-rounds goes on from there; --replan starts anew');
    expect(rig.counts()).toEqual({});
    rig.answers(GOOD);
    const more = await rig.assemble('--max-rounds', '3', '--json');
    expect(json(more.stdout)).toMatchObject({ status: 'complete', how: 'continued', rounds: 3 });
    expect(rig.counts()).toEqual({ plan: 1, shout: 1 });
  });

  it('a runner that answers prose, and JSON that is no flow: said in words, then repaired', async () => {
    rig.answers('I cannot do that, sorry.', { steps: [] }, GOOD);
    const { status, stderr } = await rig.assemble();
    expect(status).toBe(0);
    expect(stderr.match(/the answer is no flow/g)).toHaveLength(2);
    expect(rig.prompts()[1]).toContain('You said this, which is no flow: "I cannot do that, sorry."');
    expect(rig.counts()).toEqual({ plan: 3, shout: 1 });
  });

  it('a flow in a Markdown fence, or a bare list of phases, is a flow', async () => {
    rig.answers(`Here it is:\n\`\`\`json\n${JSON.stringify(GOOD.phases)}\n\`\`\`\nEnjoy!`);
    expect((await rig.assemble()).status).toBe(0);
    expect(rig.counts()).toEqual({ plan: 1, shout: 1 });
  });

  it('a runner that fails: its error, and the next call asks again', async () => {
    rig.answers({ says: '', fails: true });
    const first = await rig.assemble();
    expect(first.status).toBe(1);
    expect(first.stderr).toContain('the planner gave no answer');
    rig.answers(GOOD);
    rig.forget();
    expect((await rig.assemble()).status).toBe(0);
    expect(rig.counts()).toEqual({ plan: 1, shout: 1 });
  });

  it('out of money: exit 5; a larger --max-usd goes on from there', async () => {
    rig.answers({ says: WRONG, usd: 0.4 });
    const first = await rig.assemble('--max-usd', '0.5', '--json');
    expect(first.status).toBe(5);
    expect(json(first.stdout)).toMatchObject({ status: 'incomplete', ended: 'money', spent: { usd: 0.81 } });
    expect(rig.counts()).toEqual({ plan: 2, shout: 1 });
    rig.forget();
    const again = await rig.assemble('--max-usd', '0.5');
    expect(again.status).toBe(1);
    expect(again.stderr).toContain('--max-usd');
    expect(rig.counts()).toEqual({});
    rig.answers(GOOD);
    // The second flow was paid for and never tried: that comes first.
    expect((await rig.assemble('--max-usd', '5')).status).toBe(0);
    expect(rig.counts()).toEqual({ plan: 1, shout: 2 });
  });

  it('money is not counted with a runner that does not name prices, unless somebody asks for that', async () => {
    rig.write(
      '.pi/taskflows/config.yaml',
      'runner: plain\nrunners:\n  plain: { command: [bin/planner, --text], format: text }\n',
    );
    rig.answers(GOOD);
    const refused = await rig.assemble('--max-usd', '1');
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain('the runner plain does not report what it costs');
    expect(rig.counts()).toEqual({});
    expect((await rig.assemble()).status).toBe(0);
    expect(rig.counts()).toEqual({ plan: 1, shout: 1 });
  });
});

describe('trying', () => {
  it('a result of the wrong shape is told to the planner', async () => {
    rig.answers(saying({ quiet: 'abc' }), GOOD);
    expect((await rig.assemble()).status).toBe(0);
    expect(rig.prompts()[1]).toContain('the result does not fit the output schema');
  });

  it('a judge decides where the example has one, and is not asked about the very result', async () => {
    rig.write('case1.json', JSON.stringify({ ...EXAMPLE, judge: 'the same word, in any case' }));
    rig.answers(saying({ loud: 'nothing' }), saying({ loud: 'abc' }));
    expect((await rig.assemble()).status).toBe(0);
    expect(rig.counts()).toEqual({ plan: 2, shout: 2, judge: 2 });
    expect(rig.prompts()[1]).toContain('the judge says no');
    rig.forget();
    rig.write('case1.json', JSON.stringify({ ...EXAMPLE, judge: 'loud' }));
    rig.answers(GOOD);
    expect((await rig.assemble()).status).toBe(0);
    expect(rig.counts()).toEqual({ plan: 1, shout: 1 });
  });

  it('without examples a flow that checks is good', async () => {
    rig.answers(GOOD);
    const args = ['assemble', 'No examples', '--input', 'in.json', '--output', 'out.json'];
    expect((await rig.taskflow(...args)).status).toBe(0);
    expect(rig.counts()).toEqual({ plan: 1 });
  });

  it('side effects are refused, and an approval waits for nobody', async () => {
    const effect = saying({ loud: 'ABC' }, { idempotent: false });
    const asks = { phases: [{ id: 'sure', type: 'approval', task: 'ok?' }, ...GOOD.phases] };
    rig.answers(effect, asks, GOOD);
    expect((await rig.assemble()).status).toBe(0);
    expect(rig.counts()).toEqual({ plan: 3, shout: 2 });
    expect(rig.prompts()[1]).toContain('side effects are refused');
    expect(rig.prompts()[2]).toContain('it waits for an approval');
  });

  it('nobody hears of planning and trying: hooks of the settings are called by the run alone', async () => {
    rig.write('case1.json', JSON.stringify({ ...EXAMPLE, output: { loud: 'abc' }, judge: 'loud' }));
    writeConfig(rig, 'hooks: { onEnd: [bin/tick, hook] }\n');
    rig.answers({ ...GOOD, hooks: { onEnd: [join(rig.root, 'bin/tick'), 'inner'] } });
    expect((await rig.assemble('--allow-scripts')).status).toBe(0);
    expect(rig.counts()).toEqual({ plan: 1, shout: 1, judge: 1 });
    expect((await rig.assemble('--run', 'word=x', '--yes')).status).toBe(0);
    expect(rig.counts()).toEqual({ plan: 1, shout: 2, judge: 1, hook: 1, inner: 1 });
  });

  it('happens in a copy: files of the example are there, the project is untouched', async () => {
    rig.write('data/own.txt', 'own');
    rig.write('case1.json', JSON.stringify({ ...EXAMPLE, files: { 'data/more.txt': 'more' } }));
    const script = { id: 'touch', type: 'script', run: 'cat data/own.txt data/more.txt && echo x > data/own.txt' };
    rig.answers({ phases: [script, { ...GOOD.phases[0], dependsOn: ['touch'] }] });
    const { status, stderr } = await rig.assemble('--allow-scripts');
    expect(stderr).toContain('case1');
    expect(status).toBe(0);
    expect(rig.read('data/own.txt')).toBe('own');
    expect(existsSync(join(rig.root, 'data/more.txt'))).toBe(false);
    expect(rig.records().at(-1)?.allowScripts).toBe(true);
  });
});

it('a planner other than the runner of the flow: --runner and --model', async () => {
  writeConfig(rig, '  other: { command: [bin/planner], format: json, model: m-2 }\n');
  rig.answers(GOOD);
  expect((await rig.assemble('--runner', 'other', '--model', 'm-9')).status).toBe(0);
  expect(rig.records().at(-1)).toMatchObject({
    runner: 'other',
    model: 'm-9',
    uses: { runners: { '': expect.anything() } },
  });
  const wrong = await rig.assemble('--runner', 'othre');
  expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining('other')]);
});
