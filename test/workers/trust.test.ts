import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Queue, Worker } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { QUEUE, sealOrder } from '../../src/queue/message.js';
import { newKeyPair, openSigner } from '../../src/remote/trust.js';
import { hasRedis } from './redis.js';
import { createTeam, mapFlow, type Team } from './team.js';

describe.skipIf(!hasRedis())('whom workers and coordinators believe', () => {
  let team: Team;
  const open: { close(): Promise<unknown> }[] = [];
  beforeEach(async () => {
    team = await createTeam();
    team.write('flow.json', mapFlow(2));
    team.commit();
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((each) => each.close()));
    await team.stop();
  });

  const connection = () => ({ host: '127.0.0.1', port: team.redis.port });
  const run = (...more: string[]) => ['run', 'flow.json', '--workers', team.redis.url, '--json', ...more];
  const queue = () => {
    const made = new Queue(QUEUE, { connection: connection() });
    open.push(made);
    return made;
  };
  const KEY = 'a'.repeat(64);
  const stranger = newKeyPair().privateKey;
  const order = {
    id: 'x',
    commit: '0'.repeat(40),
    prefix: '',
    files: [],
    absent: [],
    job: { key: KEY, body: { type: 'run', run: 'bin/tick evil', env: [] } } as never,
  };

  it.each([
    { who: 'nobody', data: () => ({ text: JSON.stringify(order) }), why: 'job is not signed' },
    { who: 'a stranger', data: () => sealOrder(order, openSigner(stranger)!), why: 'signed by an untrusted key' },
    {
      who: 'another version',
      // The sources call themselves by another version than what was built from them.
      data: () => sealOrder(order, openSigner(team.env['TEAM_KEY']!)!),
      why: 'it was sent by taskflow 0.0.0-source',
    },
    {
      who: 'the team, changed on the way',
      data: () => {
        const { text, signature } = sealOrder(order, openSigner(team.env['TEAM_KEY']!)!);
        return { text: text.replace('evil', 'more'), signature };
      },
      why: 'job has a wrong signature',
    },
  ])('a job of $who is refused, in words, and nothing of it is executed', async ({ data, why }) => {
    const worker = await team.worker();
    await queue().add('unit', data(), { jobId: KEY });
    await worker.says(why);
    expect(team.executions()).toEqual([]);
  });

  it('a run whose key the workers do not trust is done here, and says why', async () => {
    await team.worker();
    const ran = await team.run(run(), { TEAM_KEY: stranger });
    expect(ran.status, ran.stderr).toBe(0);
    expect(ran.stderr).toContain('all is done here: job signed by an untrusted key');
    expect(team.executedHere().sort()).toEqual(['i0', 'i1']);
    expect(team.executions()).toHaveLength(2);
  });

  it('an answer that nobody trusted signed is not believed', async () => {
    const answer = { key: '', order: '', answer: { done: true, worker: 'evil' } };
    const said = async () => ({ text: JSON.stringify(answer), signature: '' });
    open.push(new Worker(QUEUE, said, { connection: connection() }));
    const ran = await team.run(run());
    expect(ran.status, ran.stderr).toBe(0);
    expect(ran.stderr).toContain('answer is not signed');
    expect(team.executedHere().sort()).toEqual(['i0', 'i1']);
  });

  it('a worker does only what --allow names', async () => {
    const worker = await team.worker(['--allow', 'runner:pi,program:bin/other']);
    const ran = await team.run(run());
    expect(ran.status, ran.stderr).toBe(0);
    await worker.says('the worker does not allow program:bin/tick');
    expect(ran.stderr).toContain('the worker does not allow program:bin/tick');
    expect(team.executedHere().sort()).toEqual(['i0', 'i1']);
  });

  it('a worker whose runner or files differ refuses instead of making something else', async () => {
    const settings = readFileSync(join(team.root, '.pi/taskflows/config.yaml'), 'utf8');
    const runner = (word: string) => `runner: own\nrunners: { own: { command: [bin/tick, ${word}], format: text } }\n`;
    team.write('.pi/taskflows/config.yaml', settings + runner('theirs'));
    const kept = { cache: { scope: 'cross-run', fingerprint: [] } };
    team.write('flow.json', JSON.stringify({ name: 'f', phases: [{ id: 'a', task: 'Say it.', ...kept }] }));
    team.commit();
    team.pull();
    team.write('.pi/taskflows/config.yaml', settings + runner('ours'));
    await team.worker();
    const ran = await team.run(run());
    expect(ran.status, ran.stderr).toBe(0);
    expect(ran.stderr).toContain('it would make something else there');
    expect(team.executions()).toEqual(['ours']);
  });

  it('what is missing is said before anything runs', async () => {
    const cases: readonly [readonly string[], string][] = [
      [['run', 'flow.json', '--workers', 'redis://u:hunter2@127.0.0.1:1'], 'has a password in it'],
      [['run', 'flow.json', '--workers', 'http://127.0.0.1:1'], 'no address of a queue'],
      [['run', 'flow.json', '--workers', 'redis://127.0.0.1:1'], 'does not answer'],
      [['run', 'flow.json', '--workers', 'env:NO_SUCH'], 'NO_SUCH is not set'],
      [['worker'], 'no queue is given'],
      [['workers', '--queue', 'redis://127.0.0.1:1'], 'does not answer'],
    ];
    for (const [args, message] of cases) {
      const { status, stderr } = await team.run(args);
      expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
      expect(stderr).not.toContain('hunter2');
    }
    const unsigned = await team.run(run(), { TEAM_KEY: '' });
    expect([unsigned.status, unsigned.stderr]).toEqual([2, expect.stringContaining('no signing key in TEAM_KEY')]);
    const settings = readFileSync(join(team.root, '.pi/taskflows/config.yaml'), 'utf8');
    team.write('.pi/taskflows/config.yaml', settings.replace(/^ {2}remote.*$/m, ''));
    const alone = await team.run(run());
    expect([alone.status, alone.stderr]).toEqual([2, expect.stringContaining('workers need a shared cache')]);
    expect(team.executions()).toEqual([]);
  });

  it('a password of the queue reaches neither journal, events nor the list of processes', async () => {
    const url = team.redis.url.replace('redis://', 'redis://default:hunter2@');
    const worker = await team.worker();
    const running = team.start(['run', 'flow.json', '--workers', 'env:QUEUE_URL', '--events'], { QUEUE_URL: url });
    const line = readFileSync(`/proc/${running.child.pid}/cmdline`, 'utf8');
    const { status, stdout, stderr } = await running.ended;
    expect(status, stderr).toBe(0);
    const trace = await team.run(['trace', 'last', '--json']);
    for (const text of [line, stdout, stderr, trace.stdout, worker.said()]) expect(text).not.toContain('hunter2');
  });
});
