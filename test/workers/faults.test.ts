import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasRedis } from './redis.js';
import { createTeam, mapFlow, type Team } from './team.js';

describe.skipIf(!hasRedis())('workers, when something breaks', () => {
  let team: Team;
  beforeEach(async () => {
    team = await createTeam();
  });
  afterEach(() => team.stop());

  const run = (...more: string[]) => ['run', 'flow.json', '--workers', team.redis.url, ...more];
  const begun = async (count: number) => {
    for (const end = Date.now() + 20_000; team.executions().length < count; await sleep(20)) {
      if (Date.now() > end) throw new Error(`only ${team.executions().length} have begun`);
    }
  };
  const done = (stdout: string) => JSON.parse(stdout).phases[0].items as { total: number; failed: number };

  it('what a killed worker had is taken over within the lock, and done', async () => {
    team.write('flow.json', mapFlow(2, { seconds: 1 }));
    team.commit();
    const first = await team.worker(['--name', 'first', '--concurrency', '2']);
    const running = team.start(run('--json'));
    await begun(2);
    first.child.kill('SIGKILL');
    const killedAt = Date.now();
    await team.worker(['--name', 'second', '--concurrency', '2']);
    const { status, stdout, stderr } = await running.ended;
    expect(status, stderr).toBe(0);
    expect(Date.now() - killedAt).toBeLessThan(20_000);
    expect(done(stdout)).toMatchObject({ total: 2, failed: 0 });
    expect(team.executions().sort()).toEqual(['i0', 'i0', 'i1', 'i1']);
    expect(team.executedHere()).toEqual([]);
  });

  it('a worker that was stopped past its lock drops its own result for the one that is there', async () => {
    const print = 'bin/tick one 3 > /dev/null; date +%s%N';
    const phase = { id: 'a', type: 'script', run: print, cache: { scope: 'cross-run', fingerprint: [] } };
    team.write('flow.json', JSON.stringify({ name: 'f', phases: [phase] }));
    team.commit();
    const slow = await team.worker(['--name', 'slow']);
    const running = team.start(run('--json'));
    await begun(1);
    slow.child.kill('SIGSTOP');
    await team.worker(['--name', 'quick']);
    const { status, stdout, stderr } = await running.ended;
    expect(status, stderr).toBe(0);
    const [entry] = team.cache.entries();
    const before = team.cache.kept.get(entry!)!;
    slow.child.kill('SIGCONT');
    await slow.says('a: done');
    await sleep(300);
    expect(team.executions()).toEqual(['one', 'one']);
    expect(team.cache.entries()).toEqual([entry]);
    expect(team.cache.kept.get(entry!)!.equals(before)).toBe(true);
    expect(String(before)).toContain(JSON.parse(stdout).phases[0].output.trim());
  });

  it('a worker that comes back while another has its unit does not deliver', async () => {
    const print = 'bin/tick one 2 > /dev/null; date +%s%N';
    const phase = { id: 'a', type: 'script', run: print, cache: { scope: 'cross-run', fingerprint: [] } };
    team.write('flow.json', JSON.stringify({ name: 'f', phases: [phase] }));
    team.commit();
    const slow = await team.worker(['--name', 'slow']);
    const running = team.start(run('--json'));
    await begun(1);
    slow.child.kill('SIGSTOP');
    await team.worker(['--name', 'quick']);
    await begun(2);
    slow.child.kill('SIGCONT');
    await slow.says('no longer gives the unit to this worker');
    expect(team.cache.entries()).toEqual([]);
    const { status, stdout, stderr } = await running.ended;
    expect(status, stderr).toBe(0);
    expect(JSON.parse(stdout).phases[0].reason).toBe('first time');
    expect(team.executions()).toEqual(['one', 'one']);
    expect(team.cache.entries()).toHaveLength(1);
  });

  it('a queue that is restarted loses nothing, and nothing is done twice', async () => {
    team.write('flow.json', mapFlow(6, { seconds: 0.7 }));
    team.commit();
    await team.worker(['--concurrency', '2']);
    const running = team.start(run('--json'));
    await begun(2);
    await team.redis.stop();
    await sleep(500);
    await team.redis.start();
    const { status, stdout, stderr } = await running.ended;
    expect(status, stderr).toBe(0);
    expect(done(stdout)).toMatchObject({ total: 6, failed: 0 });
    expect(team.executions().sort()).toEqual(['i0', 'i1', 'i2', 'i3', 'i4', 'i5']);
    expect(team.executedHere()).toEqual([]);
  });

  it('a queue that lost everything is sent again what is not done', async () => {
    await team.stop();
    team = await createTeam(['--appendonly', 'no']);
    team.write('flow.json', mapFlow(4, { seconds: 0.7 }));
    team.commit();
    const worker = await team.worker();
    expect(worker.said()).toContain('may lose what waits there');
    const running = team.start(run('--json'));
    await begun(1);
    await team.redis.stop();
    await team.redis.start();
    const { status, stdout, stderr } = await running.ended;
    expect(status, stderr).toBe(0);
    expect(stderr).toContain('may lose what waits there');
    expect(worker.said()).toMatch(/^the queue is gone: waits until it is back\n[\s\S]*^the queue is back$/m);
    expect(done(stdout)).toMatchObject({ total: 4, failed: 0 });
    expect(new Set(team.executions()).size).toBe(4);
    expect(team.executedHere()).toEqual([]);
  });

  it('a queue that is gone for good is given up after the wait, and the run goes on here', async () => {
    team.write('flow.json', mapFlow(3));
    team.commit();
    const worker = await team.worker(['--name', 'held']);
    worker.child.kill('SIGSTOP');
    const running = team.start(run('--json'));
    await running.says('many');
    await sleep(500);
    await team.redis.stop();
    const { status, stdout, stderr } = await running.ended;
    expect(status, stderr).toBe(0);
    expect(stderr).toContain('has not answered for 3s');
    expect(done(stdout)).toMatchObject({ total: 3, failed: 0 });
    expect(team.executedHere().sort()).toEqual(['i0', 'i1', 'i2']);
  });

  it('a queue that is full is said, and the run does everything here', async () => {
    team.write('flow.json', mapFlow(2));
    team.commit();
    await team.worker();
    execFileSync('redis-cli', ['-p', String(team.redis.port), 'config', 'set', 'maxmemory', '1']);
    const { status, stdout, stderr } = await team.run(run('--json'));
    expect(status, stderr).toBe(0);
    expect(done(stdout)).toMatchObject({ total: 2, failed: 0 });
    expect(JSON.parse(stdout).warnings.join()).toMatch(/is done here: the queue does not keep it: .*OOM/);
    expect(team.executedHere().sort()).toEqual(['i0', 'i1']);
  });

  it('where no worker comes, the run waits for a while and goes on here', async () => {
    team.write('flow.json', mapFlow(3));
    team.commit();
    const { status, stdout, stderr } = await team.run(run('--json'));
    expect(status, stderr).toBe(0);
    expect(stderr).toMatch(/^warning: no worker is at redis:\S+ yet: waits 3s for one$/m);
    expect(stderr).toContain('all is done here: no worker is at redis://');
    expect(done(stdout)).toMatchObject({ total: 3, failed: 0 });
    expect(team.executedHere().sort()).toEqual(['i0', 'i1', 'i2']);
    // The same for what the last worker took with it.
    team.write('flow.json', mapFlow(1, { seconds: 1, more: { id: 'one' } }));
    const last = await team.worker();
    const running = team.start(run());
    await begun(4);
    last.child.kill('SIGKILL');
    expect((await running.ended).status).toBe(0);
    expect(team.executedHere().sort()).toEqual(['i0', 'i0', 'i1', 'i2']);
    const listed = JSON.parse((await team.run(['workers', '--queue', team.redis.url, '--json'])).stdout);
    expect(listed).toMatchObject({ workers: [], waiting: 0 });
  });

  it('after the coordinator was killed, the next run finds what was done and waits for what is under way', async () => {
    team.write('flow.json', mapFlow(3, { seconds: 1.5 }));
    team.commit();
    const worker = await team.worker();
    const running = team.start(run());
    await begun(2);
    running.child.kill('SIGKILL');
    await running.ended;
    const next = await team.run(run('--json'));
    expect(next.status, next.stderr).toBe(0);
    expect(done(next.stdout)).toMatchObject({ total: 3, failed: 0 });
    expect(team.executions().sort()).toEqual(['i0', 'i1', 'i2']);
    expect(worker.said().match(/: done/g)).toHaveLength(3);
  });

  it.each([
    { flags: [], ends: 'cancelled' },
    { flags: ['--leave'], ends: 'finished' },
  ])('Ctrl-C takes back what has not begun; with $flags what has is $ends', async ({ flags, ends }) => {
    team.write('flow.json', mapFlow(3, { seconds: 2 }));
    team.commit();
    const worker = await team.worker();
    const running = team.start(run(...flags));
    await begun(1);
    running.child.kill('SIGINT');
    const { status, stderr } = await running.ended;
    expect(status).toBe(130);
    expect(stderr).toContain(ends === 'cancelled' ? 'ending what is under way' : 'workers finish what they have');
    await worker.says(ends === 'cancelled' ? 'it was cancelled' : ': done');
    await sleep(500);
    expect(team.executions()).toHaveLength(1);
    expect(team.cache.entries()).toHaveLength(ends === 'cancelled' ? 0 : 1);
    const listed = JSON.parse((await team.run(['workers', '--queue', team.redis.url, '--json'])).stdout);
    expect(listed).toMatchObject({ waiting: 0, active: 0 });
  });

  it('three workers and a coordinator, each killed at random: every row is done, every result is one', async () => {
    const ITEMS = 24;
    team.write('flow.json', mapFlow(ITEMS, { seconds: 0.3 }));
    team.commit();
    const worker = (name: string) => team.worker(['--name', name, '--concurrency', '2']);
    const workers = await Promise.all(['w1', 'w2', 'w3'].map(worker));
    let running = team.start(run('--json'));
    const victims = [...workers].sort(() => Math.random() - 0.5);
    for (const [index, victim] of victims.entries()) {
      await sleep(300 + Math.random() * 1_000);
      victim.child.kill('SIGKILL');
      if (index === 1) {
        running.child.kill('SIGKILL');
        await running.ended;
        running = team.start(run('--json'));
      }
      await worker(`n${index}`);
    }
    const { status, stdout, stderr } = await running.ended;
    expect(status, stderr).toBe(0);
    expect(done(stdout)).toMatchObject({ total: ITEMS, failed: 0 });
    expect(new Set(team.executions()).size).toBe(ITEMS);
    // At most what the killed ones had under way was done again.
    expect(team.executions().length).toBeLessThanOrEqual(ITEMS + 3 * 2);
    const output = JSON.parse(stdout).phases[0].output as string;
    for (let i = 0; i < ITEMS; i++) expect(output).toContain(`made i${i}`);
  });
});
