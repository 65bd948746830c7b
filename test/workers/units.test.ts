import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/model/event.js';
import { freePort, hasRedis } from './redis.js';
import { createTeam, mapFlow, type Team } from './team.js';

describe.skipIf(!hasRedis())('units on workers', () => {
  let team: Team;
  beforeEach(async () => {
    team = await createTeam();
  });
  afterEach(() => team.stop());

  const kept = (...fingerprint: string[]) => ({ cache: { scope: 'cross-run', fingerprint } });
  const flow = (...phases: object[]) => JSON.stringify({ name: 'f', phases });
  const events = (text: string) =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as RunEvent);

  it('an item is executed once, on a worker; events and journal name it; a second run needs nobody', async () => {
    team.write('flow.json', mapFlow(4));
    team.commit();
    const worker = await team.worker(['--name', 'w1', '--concurrency', '2']);
    const run = await team.run(['run', 'flow.json', '--workers', team.redis.url, '--events']);
    expect(run.status, run.stderr).toBe(0);
    expect(team.executions().sort()).toEqual(['i0', 'i1', 'i2', 'i3']);
    expect(team.executedHere()).toEqual([]);
    const said = events(run.stdout);
    expect(said.find(({ type }) => type === 'phase-start')).toBeDefined();
    const progress = said.flatMap((event) => (event.type === 'phase-progress' && event.worker ? [event] : []));
    expect(new Set(progress.map(({ unit, worker }) => `${unit} ${worker}`)).size).toBe(4);
    expect(progress[0]).toMatchObject({ phase: 'all', worker: 'w1' });
    expect(said.flatMap((event) => (event.type === 'phase-end' ? [event.outcome.output.text] : []))).toEqual([
      expect.stringContaining('made i3'),
    ]);
    const trace = await team.run(['trace', 'last', '--json']);
    expect(trace.stdout).toContain('on w1');
    const listed = await team.run(['workers', '--queue', team.redis.url, '--json']);
    expect(JSON.parse(listed.stdout)).toMatchObject({ workers: [{ name: 'w1', units: [] }], waiting: 0, active: 0 });
    worker.child.kill('SIGTERM');
    expect((await worker.ended).status).toBe(0);
    const again = await team.run(['run', 'flow.json', '--workers', team.redis.url, '--json', '--fresh']);
    expect(again.status, again.stderr).toBe(0);
    expect(JSON.parse(again.stdout).phases[0]).toMatchObject({ status: 'done', items: { reused: 4 } });
    expect(team.executions()).toHaveLength(4);
  });

  it('rows of a batch go out, and the units of one row that fails come back as failures', async () => {
    const run = { type: 'script', run: ['sh', '-c', 'bin/tick $0; test $0 != bad', '{args.topic}'] };
    team.write(
      'flow.json',
      JSON.stringify({ name: 'f', args: { topic: {} }, phases: [{ id: 'a', ...run, ...kept() }] }),
    );
    team.write('topics.txt', 'one\ntwo\nbad\n');
    team.commit();
    await team.worker(['--concurrency', '2']);
    const batch = await team.run(['batch', 'flow.json', '--over', 'topics.txt', '--workers', team.redis.url, '--json']);
    expect(batch.status, batch.stderr).toBe(1);
    const rows = JSON.parse(batch.stdout).rows as { status: string; error?: { code: string } }[];
    expect(rows.map(({ status }) => status)).toEqual(['success', 'success', 'failed']);
    expect(rows[2]!.error).toMatchObject({ code: 'exit' });
    expect(team.executions().sort()).toEqual(['bad', 'one', 'two']);
    expect(team.executedHere()).toEqual([]);
  });

  it('what failed on a worker is tried again by the next run', async () => {
    const flag = join(team.base, 'flag');
    const run = ['sh', '-c', `bin/tick try; test -e ${flag}`];
    team.write('flow.json', flow({ id: 'a', type: 'script', run, ...kept() }));
    team.commit();
    await team.worker();
    expect((await team.run(['run', 'flow.json', '--workers', team.redis.url])).status).toBe(1);
    writeFileSync(flag, '');
    const again = await team.run(['run', 'flow.json', '--workers', team.redis.url]);
    expect(again.status, again.stderr).toBe(0);
    expect(team.executions()).toEqual(['try', 'try']);
    expect(team.executedHere()).toEqual([]);
  });

  it('declared files are as they are here, not as in the commit; outputs come back', async () => {
    team.write('in/a.txt', 'old');
    team.write('in/gone.txt', 'gone');
    const run = 'bin/tick read; cat in/*.txt notes.txt; echo made > out.txt';
    const script = { id: 'a', type: 'script', run, outputs: ['out.txt'], ...kept('glob:in/*.txt', 'file:notes.txt') };
    team.write('flow.json', flow(script));
    team.commit();
    team.write('in/a.txt', 'new');
    team.write('in/b.txt', 'untracked');
    team.write('notes.txt', 'ignored');
    rmSync(join(team.root, 'in/gone.txt'));
    await team.worker();
    const ran = await team.run(['run', 'flow.json', '--workers', team.redis.url, '--json']);
    expect(ran.status, ran.stderr).toBe(0);
    const [phase] = JSON.parse(ran.stdout).phases;
    expect(phase.output.trim()).toBe('made read\nnewuntrackedignored');
    expect(team.executions()).toEqual(['read']);
    expect(team.executedHere()).toEqual([]);
    expect(readFileSync(join(team.root, 'out.txt'), 'utf8')).toBe('made\n');
  });

  it('what a runner may do at once holds on all workers together', async () => {
    const busy = join(team.base, 'busy');
    const agent = `mkdir ${busy} || bin/tick crowded\nsleep 0.3\nrmdir ${busy}\nbin/tick asked\n`;
    team.write('bin/agent', `#!/bin/sh\n${agent}`, 0o755);
    const settings = readFileSync(join(team.root, '.pi/taskflows/config.yaml'), 'utf8');
    const runner = '{ command: [bin/agent], format: text, concurrency: 1 }';
    team.write('.pi/taskflows/config.yaml', `${settings}runner: own\nrunners: { own: ${runner} }\n`);
    const over = ['a', 'b', 'c', 'd'];
    team.write('flow.json', flow({ id: 'all', type: 'map', over, task: 'about {item}', ...kept() }));
    team.commit();
    team.pull();
    await Promise.all([team.worker(['--concurrency', '2']), team.worker(['--concurrency', '2'])]);
    const run = await team.run(['run', 'flow.json', '--workers', team.redis.url]);
    expect(run.status, run.stderr).toBe(0);
    expect(team.executions()).toEqual(['asked', 'asked', 'asked', 'asked']);
    expect(team.executedHere()).toEqual([]);
  });

  it('an agent is asked by the runner of the worker, with context by digest; the cost is counted here', async () => {
    const answer = '{"text":"said","model":"m1","usage":{"inputTokens":5,"outputTokens":2,"usd":0.5}}';
    team.write('bin/agent', `#!/bin/sh\ncat > /dev/null\nbin/tick asked > /dev/null\necho '${answer}'\n`, 0o755);
    const settings = readFileSync(join(team.root, '.pi/taskflows/config.yaml'), 'utf8');
    const runner = 'runner: own\nrunners:\n  own: { command: [bin/agent], format: json, model: m1 }\n';
    team.write('.pi/taskflows/config.yaml', settings + runner);
    team.write('flow.json', flow({ id: 'a', task: 'Say it.', context: ['notes.txt'], ...kept('file:bin/agent') }));
    team.commit();
    team.pull();
    team.write('notes.txt', 'not committed');
    await team.worker();
    const ran = await team.run(['run', 'flow.json', '--workers', team.redis.url, '--json']);
    expect(ran.status, ran.stderr).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject({ spent: { usd: 0.5 }, phases: [{ output: 'said' }] });
    expect(team.executions()).toEqual(['asked']);
    expect(team.executedHere()).toEqual([]);
    expect(JSON.stringify([...team.cache.kept.values()].map(String))).toContain('not committed');
  });

  it('what is not for workers stays here, and check and dry run say why', async () => {
    const tick = (id: string, more: object) => ({ id, type: 'script', run: ['bin/tick', id], ...more });
    team.write(
      'flow.json',
      flow(
        tick('goes', kept()),
        tick('once', { idempotent: false }),
        tick('local', { cache: false }),
        tick('variable', kept('env:LANG')),
        tick('tree', kept('git:worktree')),
        { id: 'gate', type: 'gate', eval: ['{steps.goes.output} contains made'] },
      ),
    );
    team.commit();
    const checked = await team.run(['check', 'flow.json', '--workers']);
    expect(checked.stdout).toMatch(/goes\s+goes to workers/);
    for (const [id, why] of [
      ['once', 'not idempotent'],
      ['local', 'not kept across runs'],
      ['variable', 'env:LANG'],
      ['tree', 'git:worktree'],
      ['gate', 'decided here'],
    ]) {
      expect(checked.stdout).toMatch(new RegExp(`${id}\\s+stays here: .*${why}`));
    }
    const dry = await team.run(['run', 'flow.json', '--dry-run', '--workers', team.redis.url]);
    expect(dry.stdout).toMatch(/goes .*on a worker/);
    expect(dry.stdout).toMatch(/local .*here: it is not kept across runs/);
    await team.worker();
    const ran = await team.run(['run', 'flow.json', '--workers', team.redis.url, '--json']);
    expect(ran.status, ran.stderr).toBe(0);
    expect(team.executedHere().sort()).toEqual(['local', 'once', 'tree', 'variable']);
    expect(team.executions().sort()).toEqual(['goes', 'local', 'once', 'tree', 'variable']);
  });

  it('the budget of a run ends what is sent', async () => {
    const answer = '{"text":"said","usage":{"inputTokens":5,"outputTokens":2,"usd":0.5}}';
    team.write('bin/agent', `#!/bin/sh\ncat > /dev/null\nbin/tick asked > /dev/null\necho '${answer}'\n`, 0o755);
    const settings = readFileSync(join(team.root, '.pi/taskflows/config.yaml'), 'utf8');
    team.write(
      '.pi/taskflows/config.yaml',
      `${settings}runner: own\nrunners: { own: { command: [bin/agent], format: json } }\n`,
    );
    const over = ['a', 'b', 'c', 'd', 'e', 'f'];
    team.write('flow.json', flow({ id: 'm', type: 'map', over, task: 'Say {item}.', ...kept() }));
    team.commit();
    team.pull();
    await team.worker();
    const args = ['run', 'flow.json', '--workers', team.redis.url, '--max-usd', '0.9', '--concurrency', '1'];
    const ran = await team.run(args);
    expect(ran.status, ran.stderr).toBe(5);
    expect(team.executions()).toEqual(['asked', 'asked']);
  });
});

describe.skipIf(!hasRedis() || spawnSync('openssl', ['version']).status !== 0)('a queue behind TLS', () => {
  it('is reached by rediss://, and refused where nobody vouches for it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tls-'));
    const [key, cert, port] = [join(folder, 'key.pem'), join(folder, 'cert.pem'), String(await freePort())];
    const name = ['-subj', '/CN=queue', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '1', '-nodes'];
    execFileSync('openssl', ['req', '-x509', ...name, '-keyout', key, '-out', cert], { stdio: 'pipe' });
    const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert];
    const team = await createTeam(['--appendonly', 'yes', '--tls-port', port, '--tls-auth-clients', 'no', ...files]);
    try {
      team.write('flow.json', mapFlow(1));
      team.commit();
      const url = `rediss://127.0.0.1:${port}`;
      const [known, list] = [{ NODE_EXTRA_CA_CERTS: cert }, ['workers', '--queue', url]];
      await team.worker();
      const run = await team.run(['run', 'flow.json', '--workers', url], known);
      expect(run.status, run.stderr).toBe(0);
      expect([team.executions(), team.executedHere()]).toEqual([['i0'], []]);
      expect((await team.run(list, known)).status).toBe(0);
      const stranger = await team.run(list);
      expect([stranger.status, stranger.stderr]).toEqual([expect.any(Number), expect.stringContaining('self-signed')]);
      expect(stranger.status).not.toBe(0);
    } finally {
      await team.stop();
      rmSync(folder, { recursive: true });
    }
  });
});
