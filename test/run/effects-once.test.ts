import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runIds } from '../../src/run/history/runs-folder.js';
import { createMemoRig, type MemoRig } from '../memo-e2e/support.js';
import { runCli } from '../support/cli.js';
import { crashCli, ranCli } from '../support/effects.js';
import { startCli } from '../support/live-cli.js';
import { phaseOf } from '../support/rig.js';

let rig: MemoRig;
beforeEach(() => {
  rig = createMemoRig();
});
afterEach(() => rig.remove());

const FILE = './flow.json';
const once = { idempotent: false };
const DAY_MS = 24 * 3_600_000;

const flow = (phases: object[], more: object = {}) => ({ name: 'effects', ...more, phases });
/** `../build` decides whether it fails; it says what `../word` says. */
const build = {
  id: 'build',
  type: 'script',
  run: 'bin/note build; test ! -e ../broken || exit 1; cat ../word 2> /dev/null || echo built',
};
/** Takes long until there is `../ok`. */
const slow = { id: 'deploy', type: 'script', run: 'bin/note deploy; test -e ../ok || sleep 60', ...once };
const deploy = { id: 'deploy', type: 'script', run: ['bin/tick', 'deploy', 'deployed'], ...once };
const post = { id: 'post', type: 'script', run: 'bin/note post; test -e ../ok', dependsOn: ['deploy'] };

const write = (given: object, file = 'flow.json') => rig.write(file, JSON.stringify(given));
const repair = () => rig.write('../ok', '');
const run = (...args: string[]) => ranCli(rig, ['run', FILE, ...args]);

describe('a run that is killed while it writes that it succeeded', () => {
  /** Kills the process outright when it has written a line with this text. */
  const killAfter = (text: string) => `const fs = require('node:fs');
const { writeSync } = fs;
fs.writeSync = (file, data, ...more) => {
  const written = writeSync(file, data, ...more);
  if (Buffer.from(data).includes(${JSON.stringify(text)})) process.kill(process.pid, 'SIGKILL');
  return written;
};
`;

  it.each([
    ['its side effects are finished', '"type":"closed"', 1],
    ['its end is written', '"type":"end"', 2],
  ])('when %s: the next run asks nothing', async (_, text, deployments) => {
    write(flow([deploy]));
    rig.write('../kill.cjs', killAfter(text));
    const NODE_OPTIONS = `--require ${join(rig.root, '../kill.cjs')}`;
    await startCli(['run', FILE], { cwd: rig.root, env: { NODE_OPTIONS } }).done;
    expect(rig.counts()).toEqual({ deploy: 1 });
    // Without an end it is continued; with one the next run is a new one.
    expect((await run()).result.error).toBeUndefined();
    expect(rig.counts()).toEqual({ deploy: deployments });
  });
});

describe('a side effect that was under way when its process was killed', () => {
  beforeEach(async () => {
    write(
      flow([
        { ...build, cache: { scope: 'off' } },
        { ...slow, dependsOn: ['build'] },
      ]),
    );
    await crashCli(rig, ['run', FILE], ['deploy']);
    repair();
  });

  it('is not forgotten by a run that an upstream failure ends before it gets there', async () => {
    rig.write('../broken', '');
    expect((await run()).status).toBe(1);
    rmSync(join(rig.root, '../broken'));
    const { status, result } = await run();
    expect(rig.counts()['deploy']).toBe(1);
    expect([status, result.error?.code, result.error?.phase]).toEqual([4, 'in-doubt', 'deploy']);
    expect(result.error?.hint).toMatch(/--rerun deploy.*--skip deploy/);
  });

  it.each([['--no-cache'], ['--refresh'], ['--fresh']])('is not fired by a run with %s', async (flag) => {
    const { status, result } = await run(flag);
    expect(rig.counts()['deploy']).toBe(1);
    expect([status, result.error?.code]).toEqual([4, 'in-doubt']);
    expect(result.error?.hint).toMatch(/--rerun deploy.*--skip deploy.*--fresh --rerun deploy/);
  });

  it('is not fired after a day, nor after a year, though nothing is continued then', async () => {
    for (const laterMs of [DAY_MS + 1_000, 365 * DAY_MS]) {
      const result = await rig.runAs({ laterMs });
      expect(result.continues).toBeUndefined();
      expect(result.error).toMatchObject({ phase: 'deploy', code: 'in-doubt' });
    }
    expect(rig.counts()['deploy']).toBe(1);
  });

  it('is not fired by a run that goes on after an approval before it was asked again', async () => {
    rig.remove();
    rig = createMemoRig();
    const ask = { id: 'ask', type: 'approval', task: 'Deploy?' };
    write(flow([ask, { ...slow, dependsOn: ['ask'] }]));
    await crashCli(rig, ['run', FILE, '--yes'], ['deploy']);
    repair();
    const paused = await run();
    expect([paused.status, paused.result.status]).toEqual([4, 'paused']);
    await runCli(['approve', paused.result.runId, 'ask'], { cwd: rig.root });
    const { status, result } = await ranCli(rig, ['resume', paused.result.runId]);
    expect([status, result.error?.code]).toEqual([4, 'in-doubt']);
    expect(rig.counts()['deploy']).toBe(1);
  });

  it('stays remembered when the runs are cleared, and `runs clear` says so', async () => {
    const cleared = await runCli(['runs', 'clear', '--all'], { cwd: rig.root });
    expect(cleared.status).toBe(0);
    expect(cleared.stderr).toMatch(/deploy of flow\.json .*in doubt/);
    expect((await run()).status).toBe(4);
    expect(rig.counts()['deploy']).toBe(1);
  });

  it('--fresh --rerun does it again, and then it is settled', async () => {
    expect((await run('--fresh', '--rerun', 'deploy')).status).toBe(0);
    expect(rig.counts()['deploy']).toBe(2);
    // That run was whole and good: the next one is a new one, as for a timer.
    expect((await run()).status).toBe(0);
    expect(rig.counts()['deploy']).toBe(3);
  });

  it('--fresh --skip keeps it as done for that run', async () => {
    const { status, result } = await run('--fresh', '--skip', 'deploy');
    expect([status, phaseOf(result, 'deploy').status]).toEqual([0, 'done']);
    expect(rig.counts()['deploy']).toBe(1);
  });

  it('stops a fresh start before anything is spent', async () => {
    rig.forget();
    expect((await run('--fresh')).status).toBe(4);
    expect(rig.counts()).toEqual({});
  });
});

describe('a saved flow that is run by its name', () => {
  it('does not fire what is in doubt, by name or by file', async () => {
    write(flow([slow]), '.pi/taskflows/ship.json');
    await crashCli(rig, ['run', 'ship'], ['deploy']);
    repair();
    for (const ref of ['ship', './.pi/taskflows/ship.json', 'ship']) {
      const { status, result } = await ranCli(rig, ['run', ref]);
      expect([status, result.error?.code]).toEqual([4, 'in-doubt']);
    }
    expect(rig.counts()['deploy']).toBe(1);
    expect((await ranCli(rig, ['run', 'ship', '--rerun', 'deploy'])).status).toBe(0);
    expect(rig.counts()['deploy']).toBe(2);
  });

  it('does not fire what is in doubt through a link, or where the link leads', async () => {
    write(flow([slow]), 'flows/deploy.json');
    rig.write('.pi/taskflows/.keep', '');
    symlinkSync('../../flows/deploy.json', join(rig.root, '.pi/taskflows/ship.json'));
    await crashCli(rig, ['run', './flows/deploy.json'], ['deploy']);
    repair();
    for (const ref of ['ship', './.pi/taskflows/ship.json', './flows/deploy.json']) {
      const { status, result } = await ranCli(rig, ['run', ref]);
      expect([ref, status, result.error?.code]).toEqual([ref, 4, 'in-doubt']);
    }
    expect(rig.counts()['deploy']).toBe(1);
  });

  it('does not fire again what was completed in a run that failed', async () => {
    write(flow([deploy, post]), '.pi/taskflows/ship.json');
    expect((await ranCli(rig, ['run', 'ship'])).status).toBe(1);
    repair();
    const { status, result } = await ranCli(rig, ['run', 'ship']);
    expect([status, result.error?.code]).toEqual([4, 'in-doubt']);
    expect(result.error?.message).toMatch(/completed in run .*did not finish/);
    expect(rig.counts()['deploy']).toBe(1);
    expect((await ranCli(rig, ['run', 'ship', '--skip', 'deploy'])).status).toBe(0);
    expect(rig.counts()['deploy']).toBe(1);
    // Finished: the next run is a new one.
    expect((await ranCli(rig, ['run', 'ship'])).status).toBe(0);
    expect(rig.counts()['deploy']).toBe(2);
  });
});

describe('another process', () => {
  it('does not fire what the first one is doing', async () => {
    write(flow([slow]));
    const first = startCli(['run', FILE], { cwd: rig.root });
    while (rig.counts()['deploy'] === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    const { status, result } = await run();
    expect([status, result.error?.code]).toEqual([4, 'in-doubt']);
    expect(result.error?.message).toContain('under way in run');
    first.kill('SIGKILL');
    await first.done;
    expect(rig.counts()['deploy']).toBe(1);
  });

  it('does not fire what another one has done meanwhile, in a run that then failed', async () => {
    const wait = 'bin/note build; mkdir ../first 2> /dev/null || exit 0; while ! test -e ../go; do sleep 0.05; done';
    write(flow([{ ...build, run: wait }, { ...deploy, dependsOn: ['build'] }, post]));
    const first = startCli(['run', FILE], { cwd: rig.root });
    while (rig.counts()['build'] === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await run('--fresh')).status).toBe(1);
    expect(rig.counts()).toMatchObject({ build: 2, deploy: 1, post: 1 });
    rig.write('../go', '');
    await first.done;
    expect(rig.counts()).toMatchObject({ build: 2, deploy: 1, post: 1 });
  });

  it('of many that start afresh at once, one fires it', async () => {
    write(flow([{ ...deploy, run: 'bin/note deploy; sleep 1' }, post]));
    const all = await Promise.all([1, 2, 3, 4, 5, 6].map(() => run('--fresh')));
    expect(rig.counts()['deploy']).toBe(1);
    expect(all.map(({ status }) => status).sort()).toEqual([1, 4, 4, 4, 4, 4]);
  });
});

describe('a side effect that was completed in a run that is continued', () => {
  const ask = { id: 'ask', type: 'approval', task: 'Deploy?' };

  it('stays done when an approval before it is asked again', async () => {
    write(flow([ask, { ...deploy, dependsOn: ['ask'] }, post]));
    const approve = (note: string) => async () => ({ decision: 'approve', note }) as const;
    await rig.run(undefined, { approve: approve('first') });
    repair();
    const second = await rig.run(undefined, { approve: approve('second') });
    expect(second.status).toBe('success');
    expect(phaseOf(second, 'deploy').cacheHit).toBe('run');
    expect(rig.counts()['deploy']).toBe(1);
  });

  it('stays done when a phase that it only follows ran again and said something else', async () => {
    rig.write('../word', 'one');
    write(flow([{ ...build, cache: { scope: 'off' } }, { ...deploy, dependsOn: ['build'] }, post]));
    await rig.run();
    rig.write('../word', 'two');
    repair();
    expect((await rig.run()).status).toBe('success');
    expect(rig.counts()).toEqual({ build: 2, deploy: 1, post: 2 });
  });

  describe('and quotes a phase that said something else', () => {
    beforeEach(async () => {
      rig.write('../word', 'one');
      const quoting = { ...deploy, run: ['bin/tick', 'deploy', '{steps.build.output}'] };
      write(flow([{ ...build, cache: { scope: 'off' } }, quoting, post]));
      expect((await run()).status).toBe(1);
      rig.write('../word', 'two');
      repair();
    });

    it('stops, says which, and fires nothing', async () => {
      const { status, result } = await run();
      expect([status, result.error?.code, result.error?.phase]).toEqual([4, 'in-doubt', 'deploy']);
      expect(result.error?.hint).toMatch(/--rerun deploy.*--skip deploy/);
      expect(result.error?.detail).toMatch(/one[\s\S]*two/);
      expect(rig.counts()['deploy']).toBe(1);
    });

    it('--rerun fires it with the new text', async () => {
      const { status, result } = await run('--rerun', 'deploy');
      expect([status, phaseOf(result, 'deploy').output.trim()]).toEqual([0, 'two']);
      expect(rig.counts()['deploy']).toBe(2);
    });

    it('--skip keeps it as done, with what it said', async () => {
      const { status, result } = await run('--skip', 'deploy');
      expect([status, phaseOf(result, 'deploy').output.trim()]).toEqual([0, 'one']);
      expect(rig.counts()['deploy']).toBe(1);
    });

    it('a person at a terminal is shown both and asked', async () => {
      const asked: object[] = [];
      // Another home, as of another user: that one has to name the run.
      const kept = await rig.run(undefined, {
        continuation: { how: 'resume', runId: runIds(rig.project)[0]! },
        decideEffect: async (question) => {
          asked.push({ before: question.before['argv'], now: question.now['argv'] });
          return 'keep';
        },
      });
      expect(asked).toEqual([{ before: ['bin/tick', 'deploy', 'one'], now: ['bin/tick', 'deploy', 'two'] }]);
      expect(kept.status).toBe('success');
      expect(rig.counts()['deploy']).toBe(1);
    });
  });

  it('is not fired again by --from of a phase before it, nor by --rerun of one', async () => {
    write(flow([build, { ...deploy, dependsOn: ['build'] }, post]));
    await run();
    repair();
    expect((await run('--from', 'build')).status).toBe(0);
    expect((await run('--rerun', 'build')).status).toBe(0);
    expect(rig.counts()).toMatchObject({ build: 3, deploy: 1 });
  });

  it('of items: an item is known by its value, and a changed one is asked about', async () => {
    rig.write('../word', 'one');
    const send = {
      id: 'send',
      type: 'map',
      over: ['a', 'b'],
      run: ['bin/tick', 'send-{item}', '{steps.build.output}'],
      ...once,
    };
    const end = { ...post, dependsOn: ['send'] };
    write(flow([{ ...build, cache: { scope: 'off' } }, send, end]));
    await run();
    write(flow([{ ...build, cache: { scope: 'off' } }, { ...send, over: ['c', 'b', 'a'] }, end]));
    repair();
    const moved = await run();
    expect([moved.status, rig.counts()]).toMatchObject([0, { 'send-a': 1, 'send-b': 1, 'send-c': 1 }]);
    rmSync(join(rig.root, '../ok'));
    rig.write('../word', 'two');
    // A whole run was good, so a fresh one fires them all; this one goes on.
    const { status, result } = await run('--iterate');
    expect([status, result.error?.code]).toEqual([4, 'in-doubt']);
    expect(rig.counts()).toMatchObject({ 'send-a': 1, 'send-b': 1, 'send-c': 1 });
  });

  it('of a nested flow: known by its path, reused, and named by it', async () => {
    const inner = flow([{ ...deploy, run: ['bin/tick', 'deploy', '{args.w}'] }], { args: { w: {} } });
    rig.write('../word', 'one');
    write(
      flow([
        { ...build, cache: { scope: 'off' } },
        { id: 'f', type: 'flow', def: inner, with: { w: '{steps.build.output}' } },
        { ...post, dependsOn: ['f'] },
      ]),
    );
    await run();
    await run();
    expect(rig.counts()['deploy']).toBe(1);
    rig.write('../word', 'two');
    repair();
    const { status, result } = await run();
    expect([status, result.error?.code]).toEqual([4, 'in-doubt']);
    expect(result.error?.hint).toContain('--rerun f/deploy');
    expect((await run('--rerun', 'f/deploy')).status).toBe(0);
    expect(rig.counts()['deploy']).toBe(2);
  });
});

describe('what settles a started side effect', () => {
  it('not a time limit: nobody knows how far it came', async () => {
    write(flow([{ ...slow, timeout: '300ms' }]));
    const first = await run();
    expect([first.status, first.result.error?.code]).toEqual([1, 'timeout']);
    repair();
    expect((await run()).status).toBe(4);
    expect(rig.counts()['deploy']).toBe(1);
  });

  it('a failure of its own: it runs again, unasked', async () => {
    write(flow([{ ...deploy, run: 'bin/note deploy; test -e ../ok' }]));
    expect((await run()).status).toBe(1);
    repair();
    expect((await run('--fresh')).status).toBe(0);
    expect(rig.counts()['deploy']).toBe(2);
  });

  it('the branch of a race that lost is not in doubt', async () => {
    const branches = [
      { id: 'quick', run: 'true' },
      { id: 'late', run: 'bin/note late; sleep 60' },
    ];
    write(flow([{ id: 'r', type: 'race', branches, ...once }]));
    expect((await run()).status).toBe(0);
    expect((await run()).status).toBe(0);
  });
});
