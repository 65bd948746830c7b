import { spawn, spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunResult } from '../../src/run/core/result.js';
import { CLI, type CliResult, cliEnvironment, runCli } from '../support/cli.js';
import { livingIn } from '../support/living.js';
import { createRig, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const phases = (said = 'version 1') => [
  ticking('build', {}, said),
  { id: 'ship', type: 'approval', task: 'Ship {steps.build.output}?' },
  ticking('deploy', {}, 'deployed: {steps.ship.output}'),
];
const write = (list: object[] = phases()) => rig.write('flow.json', JSON.stringify({ name: 'ship', phases: list }));
const cli = (...args: string[]): Promise<CliResult> => runCli(args, { cwd: rig.root });
const run = (...args: string[]): Promise<CliResult> => cli('run', './flow.json', ...args);
const idOf = async (result: CliResult) => (JSON.parse(result.stdout) as RunResult).runId;

describe('without a terminal', () => {
  it('pauses with status 4, says what to type; typing that and running again goes on', async () => {
    write();
    const first = await run();
    expect(first.status).toBe(4);
    expect(first.stdout).toBe('');
    const [, runId] = /taskflow approve (\S+) ship/.exec(first.stderr) ?? [];
    expect(runId).toBeDefined();
    const approved = await cli('approve', runId!, 'ship', '--note', 'gently');
    expect([approved.status, approved.stdout]).toEqual([0, expect.stringContaining('Ship version 1?')]);
    const second = await run();
    expect([second.status, second.stdout]).toEqual([0, 'deployed: gently\n']);
    expect(rig.counts()).toEqual({ build: 1, deploy: 1 });
  });

  it('what was decided about one text says nothing about another', async () => {
    write();
    const first = await idOf(await run('--json'));
    await cli('approve', first, 'ship');
    write(phases('version 2'));
    const second = await run();
    expect(second.status).toBe(4);
    expect(second.stderr).toContain('Ship version 2?');
    expect(rig.counts()).toEqual({ build: 2 });
  });

  it('a rejection ends the next run with status 3; the one after asks again', async () => {
    write();
    const first = await idOf(await run('--json'));
    expect((await cli('reject', first, 'ship', '--note', 'too early')).status).toBe(0);
    const second = await run();
    expect(second.status).toBe(3);
    expect(second.stderr).toContain('too early');
    expect((await run()).status).toBe(4);
    expect(rig.counts()).toEqual({ build: 1 });
  });

  it('`resume` uses the decision as well, and keeps it when it is resumed once more', async () => {
    write([...phases(), { id: 'end', type: 'script', run: 'test -e ../ok', dependsOn: ['deploy'] }]);
    const first = await idOf(await run('--json'));
    await cli('approve', first, 'ship');
    expect((await cli('resume', first)).status).toBe(1);
    rig.write('../ok', '');
    expect((await cli('resume', first)).status).toBe(0);
    expect(rig.counts()).toEqual({ build: 1, deploy: 1 });
  });

  it('a decision serves one run: started afresh, it asks', async () => {
    write();
    await cli('approve', await idOf(await run('--json')), 'ship');
    expect((await run()).status).toBe(0);
    expect((await run()).status).toBe(4);
  });
});

const hasScript = spawnSync('script', ['--version']).status === 0;

/** On a real terminal; types each answer once its cue has appeared. */
function onTerminal(
  answers: readonly (readonly [cue: string, keys: string])[],
): Promise<{ status: number | null; screen: string }> {
  const child = spawn('script', ['-qefc', `'${process.execPath}' '${CLI}' run ./flow.json`, '/dev/null'], {
    cwd: rig.root,
    env: { ...cliEnvironment(rig.root), TERM: 'xterm-256color' } as NodeJS.ProcessEnv,
  });
  let screen = '';
  let next = 0;
  let from = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    screen += chunk.toString('utf8');
    const answer = answers[next];
    if (!answer || !screen.slice(from).includes(answer[0])) return;
    from = screen.length;
    next += 1;
    child.stdin.write(answer[1]);
  });
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, screen })));
}

describe.skipIf(!hasScript)('on a terminal', () => {
  it('is asked there, one question after the other; a note is what later phases are told', async () => {
    write([
      ...phases(),
      { id: 'tell', type: 'approval', task: 'Tell everybody?', dependsOn: ['deploy'] },
      ticking('mail', { dependsOn: ['tell'] }),
    ]);
    const { status, screen } = await onTerminal([
      ['Ship version 1?', 'yes after lunch\n'],
      ['Tell everybody?', 'y\n'],
    ]);
    expect([status, screen]).toEqual([0, expect.stringContaining('said mail')]);
    expect(rig.counts()).toEqual({ build: 1, deploy: 1, mail: 1 });
  });

  it.each([
    ['a yes', ['stop\n', '\n', 'y\n'], 0, { build: 1, deploy: 1 }],
    ['a no', ['wait\n', 'nope\n', 'n\n'], 3, { build: 1 }],
    ['nothing clear', ['abort\n', 'q\n', '\n'], 4, { build: 1 }],
  ])('what is neither yes nor no asks again, three times in all: %s', async (_what, typed, status, counts) => {
    write();
    const run = await onTerminal(typed.map((keys) => ['n REASON): ', keys] as const));
    expect(run.status).toBe(status);
    expect(run.screen.split('n REASON): ')).toHaveLength(4);
    expect(rig.counts()).toEqual(counts);
    if (status !== 4) return;
    const [, runId] = /taskflow approve (\S+) ship/.exec(run.screen) ?? [];
    expect((await cli('approve', runId!, 'ship')).status).toBe(0);
    expect((await cli('run', './flow.json')).status).toBe(0);
  });

  it('shows all of the text that is asked about: nothing in it hides, moves or colours anything', async () => {
    const text = 'one\x1b]0;two\x07three\x1b[2Kfour\rfive\u202esix\x1b]8;;seven';
    write(phases(text));
    const { status, screen } = await onTerminal([['n REASON): ', 'n\n']]);
    expect(status).toBe(3);
    const shown = screen.slice(screen.indexOf('Ship '), screen.indexOf('?', screen.indexOf('Ship ')));
    expect(shown).toBe('Ship one␛]0;two␇three␛[2Kfour␍five<U+202E>six␛]8;;seven');
  });

  it('no ends the run with status 3', async () => {
    write();
    expect((await onTerminal([['Ship version 1?', 'n not now\n']])).status).toBe(3);
    expect(rig.counts()).toEqual({ build: 1 });
  });

  it('Ctrl-C at the question ends the run with status 130; the next one asks again and keeps the rest', async () => {
    write();
    expect((await onTerminal([['Ship version 1?', '\x03']])).status).toBe(130);
    expect(livingIn(rig.root)).toEqual([]);
    expect((await onTerminal([['Ship version 1?', 'y\n']])).status).toBe(0);
    expect(rig.counts()).toEqual({ build: 1, deploy: 1 });
  });

  it('Ctrl-D leaves the question open: the run pauses, and can be decided elsewhere', async () => {
    write();
    const { status, screen } = await onTerminal([['Ship version 1?', '\x04']]);
    expect(status).toBe(4);
    const [, runId] = /taskflow approve (\S+) ship/.exec(screen) ?? [];
    expect((await cli('approve', runId!, 'ship')).status).toBe(0);
    expect((await run()).status).toBe(0);
  });
});
