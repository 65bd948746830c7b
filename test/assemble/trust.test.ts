import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CliResult } from '../support/cli.js';
import { hasScript, runOnTerminal } from '../support/on-terminal.js';
import { ASSEMBLE, createPlanRig, GOOD, type PlanRig } from './support.js';

let rig: PlanRig;
let home: string;
beforeEach(() => {
  rig = createPlanRig();
  home = join(rig.root, '../home');
});
afterEach(() => rig.remove());

const json = ({ stdout }: CliResult) => JSON.parse(stdout) as Record<string, never>;
const folder = () => join(rig.root, '.pi/taskflows/assembled');
const EVIL = { phases: [{ id: 'shout', task: 'NAME: evil\nSAY: {"loud": "ABC"}', output: 'json' }] };

/** The same records as another user, or another machine, has them: the files alone. */
function asAnotherUser(): void {
  rmSync(join(home, '.cache'), { recursive: true, force: true });
}

describe('a plan that this user has not made', () => {
  it('a restored folder or a clone is passed over, and a plan of their own is made', async () => {
    rig.answers(GOOD);
    const { id } = json(await rig.assemble('--json'));
    asAnotherUser();
    rig.forget();
    const second = await rig.assemble('--json', '--yes', '--run', 'word=x');
    expect(second.stderr).toContain(`${id} was not made by you here and is not used`);
    expect(json(second)).toMatchObject({ assembled: { how: 'planned' } });
    expect(rig.counts()).toEqual({ plan: 1, shout: 2 });
    const listed = JSON.parse((await rig.taskflow('assemble', 'list', '--json')).stdout) as { own: boolean }[];
    expect(listed.map(({ own }) => own)).toEqual([true, false]);
  });

  it('a record that was changed by hand is not the one that was made', async () => {
    rig.answers(GOOD);
    await rig.assemble();
    const [name] = readdirSync(folder()).filter((file) => file.endsWith('.json'));
    const path = join(folder(), name!);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('NAME: shout\\nSHOUT: {args.word}', 'NAME: evil\\nSAY: {\\"loud\\": \\"x\\"}'));
    expect(readFileSync(path, 'utf8')).not.toBe(text);
    rig.forget();
    expect(json(await rig.assemble('--json', '--run', 'word=x', '--yes'))).toMatchObject({ json: { loud: 'X' } });
    expect(rig.counts()['evil']).toBeUndefined();
  });

  it('a key that comes with the project is no key of the user', async () => {
    rig.answers(GOOD);
    await rig.assemble();
    const cache = join(rig.root, 'cache');
    cpSync(join(home, '.cache'), cache, { recursive: true });
    asAnotherUser();
    rig.forget();
    const env = { HOME: home, XDG_CACHE_HOME: cache };
    const { runCli } = await import('../support/cli.js');
    const { stderr } = await runCli([...ASSEMBLE, '--json'], { cwd: rig.root, env });
    expect(stderr).toContain('was not made by you here');
    expect(rig.counts()).toEqual({ plan: 1, shout: 1 });
  });

  it('an incomplete attempt of somebody else decides nothing', async () => {
    rig.answers({ says: EVIL });
    rig.write('case1.json', JSON.stringify({ input: { word: 'abc' }, output: { loud: 'other' } }));
    await rig.assemble('--max-rounds', '1');
    asAnotherUser();
    rig.forget();
    rig.answers({ phases: [{ ...EVIL.phases[0], task: 'NAME: mine\nSAY: {"loud": "other"}' }] });
    expect(json(await rig.assemble('--json', '--max-rounds', '1'))).toMatchObject({ how: 'planned' });
    expect(rig.counts()).toEqual({ plan: 1, mine: 1 });
  });
});

describe('what a planned flow may do', () => {
  it.each([
    ['a script', { id: 'x', type: 'script', run: 'touch ran' }],
    ['a map of commands', { id: 'x', type: 'map', over: ['a'], run: ['touch', 'ran'] }],
    ['a cmd: fingerprint', { id: 'x', task: 'y', cache: { scope: 'cross-run', fingerprint: ['cmd:touch ran'] } }],
    ['a runner of its choice', { id: 'x', task: 'y', runner: 'scripted' }],
    ['a path outside', { id: 'x', task: 'y', context: ['../secret'] }],
    ['a flow that is assembled in turn', { id: 'x', type: 'flow', assemble: { task: 't', input: {}, output: {} } }],
  ])('%s is refused, told to the planner, and never executed', async (_what, phase) => {
    rig.answers({ phases: [phase, ...GOOD.phases] });
    const { status, stderr } = await rig.assemble('--max-rounds', '2');
    expect(status).toBe(1);
    expect(stderr).toContain('the flow does not check');
    expect(rig.prompts()[1]).toContain('The check says');
    expect(rig.counts()).toEqual({ plan: 2 });
  });

  it('hooks are commands too', async () => {
    rig.answers({ ...GOOD, hooks: { onStart: ['touch', 'ran'] } });
    const { status, stderr } = await rig.assemble('--max-rounds', '1');
    expect([status, stderr]).toEqual([1, expect.stringContaining('may not have hooks')]);
  });

  it('a saved flow that executes commands is one', async () => {
    rig.write('.pi/taskflows/cmd.json', JSON.stringify({ phases: [{ id: 'x', type: 'script', run: 'true' }] }));
    rig.answers({ phases: [{ id: 'f', type: 'flow', use: 'cmd' }] });
    const { stderr } = await rig.assemble('--max-rounds', '1');
    expect(stderr).toContain('which executes commands');
  });

  it('--allow-scripts is said, recorded, and holds for that plan alone', async () => {
    const script = { phases: [{ id: 'shout', type: 'script', run: ['echo', '{"loud": "ABC"}'], output: 'json' }] };
    rig.answers(script);
    expect((await rig.assemble('--allow-scripts')).status).toBe(0);
    expect(rig.records().at(-1)).toMatchObject({ allowScripts: true, status: 'complete' });
    const taken = await rig.assemble('--run', 'word=abc', '--yes', '--json');
    expect(json(taken)).toMatchObject({ status: 'success', json: { loud: 'ABC' } });
    const { status } = await rig.assemble('--replan', '--max-rounds', '1');
    expect(status).toBe(1);
  });

  it('a map over more items than a generated flow may have stops the run', async () => {
    const phases = [
      { id: 'list', task: 'NAME: list\nSAY: {args.word}', output: 'json' },
      { id: 'each', type: 'map', over: '{steps.list.json}', task: 'NAME: item\nSAY: x' },
      { id: 'end', task: 'NAME: end\nSAY: {"loud": "ABC"}', output: 'json', dependsOn: ['each'] },
    ];
    rig.write('case1.json', JSON.stringify({ input: { word: '[1]' }, output: { loud: 'ABC' } }));
    rig.answers({ phases });
    expect((await rig.assemble()).status).toBe(0);
    rig.forget();
    const many = JSON.stringify(Array.from({ length: 201 }, (_, index) => index));
    const { status, stderr } = await rig.assemble('--run', `word=${many}`, '--yes');
    expect([status, stderr]).toEqual([1, expect.stringContaining('a generated flow maps over 200 items at most')]);
    expect(rig.counts()).toEqual({ list: 1 });
  });
});

describe('a flow that nobody has looked at', () => {
  it('is not run by a program that does not say --yes: exit 4', async () => {
    rig.answers(GOOD);
    const { status, stderr } = await rig.assemble('--run', 'word=hey');
    expect([status, stderr]).toEqual([4, expect.stringContaining('no person has looked at this flow yet')]);
    expect(rig.counts()).toEqual({ plan: 1, shout: 1 });
    expect((await rig.assemble('--run', 'word=hey')).status).toBe(4);
    expect((await rig.assemble('--run', 'word=hey', '--yes')).status).toBe(0);
  });

  const typing = (type: string) => ({ cwd: rig.root, env: { HOME: home }, when: 'go on with it?', type });

  it.skipIf(!hasScript)('is shown on a terminal, with a question; a yes counts from then on', async () => {
    rig.answers(GOOD);
    const no = await runOnTerminal([...ASSEMBLE, '--run', 'word=hey'], typing('n\n'));
    expect(no.status).toBe(4);
    expect(no.screen).toContain('shout (agent)');
    expect(rig.counts()).toEqual({ plan: 1, shout: 1 });
    rig.forget();
    const yes = await runOnTerminal([...ASSEMBLE, '--run', 'word=hey'], typing('y\n'));
    expect(yes.status).toBe(0);
    expect(yes.screen).toContain('{"loud":"HEY"}');
    const again = await runOnTerminal([...ASSEMBLE, '--run', 'word=you'], typing(''));
    expect([again.status, again.screen.includes('go on with it?')]).toEqual([0, false]);
    expect(rig.counts()).toEqual({ shout: 2 });
  });

  it.skipIf(!hasScript)('a plan of somebody else is asked about, and only a yes makes it usable', async () => {
    rig.answers({ says: EVIL });
    await rig.assemble();
    asAnotherUser();
    rig.forget();
    rig.answers(GOOD);
    const no = await runOnTerminal(ASSEMBLE, typing('n\n'));
    expect(no.screen).toContain('that you have not made');
    expect(rig.counts()).toEqual({ plan: 1, shout: 1 });
    for (const { id, attempt } of rig.records().slice(1)) {
      expect(attempt).toBeDefined();
      rmSync(join(folder(), `${id}.json`));
    }
    rig.forget();
    expect((await runOnTerminal(ASSEMBLE, typing('y\n'))).status).toBe(0);
    expect(json(await rig.assemble('--json'))).toMatchObject({ how: 'disk' });
    expect(rig.counts()).toEqual({});
  });
});
