import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLI, cliEnvironment, createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
beforeEach(() => {
  project = createTestProject();
});
afterEach(() => project.remove());

const phase = (id: string, run: unknown, more: object = {}) => ({ id, type: 'script', run, ...more });
const flow = (...phases: object[]) => JSON.stringify({ name: 'demo', phases });
const crossRun = { cache: { scope: 'cross-run', fingerprint: [] } };

describe('taskflow run', () => {
  it('prints the output on stdout and everything else on stderr', async () => {
    project.write(
      'flow.json',
      flow(phase('a', ['echo', 'hello']), phase('b', ['cat'], { input: '{steps.a.output} world' })),
    );
    const { status, stdout, stderr } = await project.run(['run', './flow.json']);
    expect([status, stdout]).toEqual([0, 'hello world\n']);
    expect(stderr).toContain('✔ b');
    expect(stderr).toContain('✔ demo succeeded');
  });

  it('prints exactly one JSON result with --json, and events line by line with --events', async () => {
    project.write('flow.json', flow(phase('a', ['echo', 'hi'], crossRun)));
    const json = await project.run(['run', './flow.json', '--json']);
    const result = JSON.parse(json.stdout);
    expect(result).toMatchObject({
      flow: 'demo',
      status: 'success',
      output: 'hi',
      reuse: { executed: 1, crossRun: 0 },
    });
    expect(result.phases[0]).toMatchObject({ id: 'a', kind: 'script', status: 'done', cacheHit: null, attempts: 1 });
    const events = await project.run(['run', './flow.json', '--events']);
    const lines = events.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ type }) => type)).toEqual(['run-start', 'phase-end', 'run-end']);
    for (const line of lines) expect(line).toMatchObject({ at: expect.any(Number), runId: expect.any(String) });
    expect(lines[1].outcome).toMatchObject({ cacheHit: 'cross-run' });
    expect(lines[2]).not.toHaveProperty('error');
  });

  it('gives times in events in whole milliseconds', async () => {
    project.write('flow.json', flow(phase('a', ['echo', 'hi'], crossRun), phase('b', ['echo', 'ho'])));
    project.write('rows.jsonl', '{}\n');
    for (const command of [['run'], ['run'], ['batch', '--over', 'rows.jsonl']]) {
      const { stdout } = await project.run([...command, './flow.json', '--events']);
      expect(stdout).toContain('"durationMs":');
      expect(stdout).not.toMatch(/"(durationMs|ageMs|ms)":\d+\.\d/);
    }
  });

  it('says in the last event why it failed', async () => {
    project.write('flow.json', flow(phase('a', ['sh', '-c', 'echo broken >&2; exit 3'])));
    const { status, stdout } = await project.run(['run', './flow.json', '--events']);
    expect(status).toBe(1);
    const last = JSON.parse(stdout.trimEnd().split('\n').at(-1)!);
    expect(last).toMatchObject({ type: 'run-end', status: 'failed', error: { phase: 'a', code: 'exit' } });
    expect(last.error.message).toContain('3');
  });

  it('says what is remarkable about a phase: who won, what is not kept and why, where changes are', async () => {
    const race = { id: 'r', type: 'race', branches: [{ run: ['echo', 'quick'] }, { run: ['sleep', '30'] }] };
    project.write('in.txt', 'one');
    const moving = phase('m', ['sh', '-c', 'date +%N >> in.txt'], {
      dependsOn: ['r'],
      cache: { scope: 'cross-run', fingerprint: ['file:in.txt'] },
    });
    project.write('flow.json', flow(race as never, moving));
    const { stderr } = await project.run(['run', './flow.json']);
    expect(stderr).toMatch(/✔ r .* · .*won/);
    expect(stderr).toMatch(/✔ m .* · not kept: file:in\.txt changed while the phase ran/);
  });

  it('many pauses at once look like no leak to Node', async () => {
    const over = Array.from({ length: 14 }, (_, index) => `item ${index}`);
    const retry = { max: 1, backoffMs: 200 };
    const map = { id: 'm', type: 'map', over, concurrency: 14, retry, run: ['false'] };
    project.write('flow.json', JSON.stringify({ name: 'demo', concurrency: 14, phases: [map] }));
    const { stderr } = await project.run(['run', './flow.json']);
    expect(stderr.match(/↻/g)).toHaveLength(14);
    expect(stderr).not.toContain('MaxListeners');
  });

  it('calls the hooks of every run, also of those in which nothing changed', async () => {
    const hooks = { onSuccess: 'echo called >> hooks.log' };
    project.write('flow.json', JSON.stringify({ name: 'demo', hooks, phases: [phase('a', ['echo', 'hi'], crossRun)] }));
    for (let run = 0; run < 3; run += 1) await project.run(['run', './flow.json']);
    expect(readFileSync(join(project.root, 'hooks.log'), 'utf8')).toBe('called\n'.repeat(3));
  });

  it('is silent on stderr with --quiet', async () => {
    project.write('flow.json', flow(phase('a', ['true'])));
    expect((await project.run(['run', './flow.json', '-q'])).stderr).toBe('');
  });

  it('takes arguments from words, --arg and a file, and reports all wrong ones', async () => {
    const args = {
      name: { type: 'string', required: true },
      count: { type: 'number', default: 1 },
      list: { type: 'json' },
    };
    const echo = ['echo', '{args.name}', '{args.count}', '{args.list}'];
    project.write('flow.json', JSON.stringify({ name: 'demo', args, phases: [phase('a', echo)] }));
    project.write('args.yaml', 'name: file\ncount: 3\nlist: [1]\n');
    expect((await project.run(['run', './flow.json', 'name=a=b', '--arg', 'list=[2, 3]', '-q'])).stdout).toBe(
      'a=b 1 [2,3]\n',
    );
    expect((await project.run(['run', './flow.json', '--args-file', 'args.yaml', 'count=4', '-q'])).stdout).toBe(
      'file 4 [1]\n',
    );
    const stdin = await project.run(['run', './flow.json', '--args-file', '-', '-q'], { input: '{"name": "stdin"}' });
    expect(stdin.stdout).toContain('stdin 1');
    const wrong = await project.run(['run', './flow.json', 'nam=x', 'count=many', 'plain']);
    expect([wrong.status, wrong.stdout]).toEqual([2, '']);
    expect(wrong.stderr).toContain('"plain" is no argument');
    const more = await project.run(['run', './flow.json', 'nam=x', 'count=many']);
    expect(more.stderr).toContain('did you mean "name"?');
    expect(more.stderr).toContain('argument "count" has to be a number');
    expect(more.stderr).toContain('argument "name" is required');
  });

  it('ends with 1 and says phase, cause, stderr and what to type when a phase fails', async () => {
    project.write('flow.json', flow(phase('bad', 'echo some trouble >&2; exit 3')));
    const { status, stderr } = await project.run(['run', './flow.json']);
    expect(status).toBe(1);
    expect(stderr).toMatch(/✖ bad failed .*status 3\n/);
    expect(stderr).toContain(': 1 executed, 0 reused, 1 failed\n');
    expect(stderr).toContain('│ some trouble');
    expect(stderr).toMatch(/taskflow trace \d{8}-\d{6}-\w{6}/);
    const traced = await project.run(['trace', 'last']);
    expect(traced.stdout).toContain('some trouble');
  });

  it('does not show a phase that may fail like one that stops the run', async () => {
    const may = phase('may', ['sh', '-c', 'echo missing >&2; exit 3'], { optional: true });
    project.write('flow.json', flow(may, phase('b', ['echo', 'fine'])));
    const { status, stderr } = await project.run(['run', './flow.json']);
    expect(status).toBe(0);
    expect(stderr).toMatch(/^! may {2}.*failed, and is optional: sh exited with status 3\n {2}│ missing$/m);
    expect(stderr).toMatch(/✔ demo succeeded .*, 1 optional failed$/m);
    expect(stderr).not.toContain('✖');
    expect((await project.run(['runs', 'show', 'last'])).stdout).toMatch(/^! may .*and is optional/m);
    expect((await project.run(['trace', 'last'])).stdout).toContain('script · failed (optional)');
    const json = JSON.parse((await project.run(['run', './flow.json', '--fresh', '--json'])).stdout);
    expect(json.phases).toMatchObject([
      { id: 'may', status: 'failed', optional: true },
      { id: 'b', status: 'done' },
    ]);
    expect(json.phases[1]).not.toHaveProperty('optional');
  });

  it('shows what a failed program said on stdout where it said nothing on stderr, as compilers do', async () => {
    const compile = 'seq 1 9000; echo "src/a.ts(1,2): error TS1005"; exit 2';
    project.write('flow.json', flow(phase('build', compile)));
    const { stdout, stderr } = await project.run(['run', './flow.json', '--json', '--junit', 'r.xml']);
    expect(stderr).toContain('│ src/a.ts(1,2): error TS1005');
    const { detail } = JSON.parse(stdout).error;
    expect(detail).toMatch(/\n9000\nsrc\/a\.ts\(1,2\): error TS1005$/);
    expect(detail.length).toBeLessThanOrEqual(8 * 1024);
    expect(readFileSync(join(project.root, 'r.xml'), 'utf8')).toContain('src/a.ts(1,2): error TS1005</failure>');
    const traced = (await project.run(['trace', 'last', '--full'])).stdout;
    expect(traced).toContain('error TS1005');
    // Both: stderr explains, stdout is the output.
    project.write('flow.json', flow(phase('build', 'echo result; echo because >&2; exit 2')));
    const both = JSON.parse((await project.run(['run', './flow.json', '--json'])).stdout);
    expect(both.error.detail).toBe('because');
  });

  it('ends with 3 when a gate blocks, 5 when over budget, 6 when frozen and something would run', async () => {
    project.write('gate.json', flow({ id: 'g', type: 'gate', eval: ['1 > 2'] }));
    expect((await project.run(['run', './gate.json'])).status).toBe(3);
    project.write('flow.json', flow(phase('a', ['echo', 'hi'], crossRun)));
    expect((await project.run(['run', './flow.json', '--frozen'])).status).toBe(6);
    await project.run(['run', './flow.json']);
    expect((await project.run(['run', './flow.json', '--frozen'])).status).toBe(0);
  });

  it('ends with 2, shows every problem with its place and runs nothing when the flow is wrong', async () => {
    project.write(
      'flow.yaml',
      'name: demo\nphases:\n  - id: a\n    type: script\n    rum: [touch, x]\n    when: "("\n',
    );
    const { status, stdout, stderr } = await project.run(['run', './flow.yaml']);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain('flow.yaml:5:5');
    expect(stderr).toContain('flow.yaml:6');
    expect(existsSync(join(project.root, 'x'))).toBe(false);
  });

  it('does not run with settings that are wrong', async () => {
    project.write('.pi/taskflows/config.yaml', 'concurency: 3\n');
    project.write('flow.json', flow(phase('a', ['touch', 'x'])));
    const { status, stderr } = await project.run(['run', './flow.json']);
    expect(status).toBe(2);
    expect(stderr).toContain('did you mean concurrency?');
    expect(existsSync(join(project.root, 'x'))).toBe(false);
  });

  it.each([
    [['--no-cache', '--refresh'], '--no-cache and --refresh contradict each other'],
    [['--frozen', '--no-cache'], '--frozen needs what --no-cache forbids'],
    [['--fresh', '--iterate'], '--fresh and --iterate contradict each other'],
    [['--json', '--events'], 'both want stdout'],
    [['--concurrency', '0'], '--concurrency is a whole number from 1 on'],
    [['--only', 'a', '--from', 'a'], '--only means neither'],
    [['--rerun', 'aa'], 'did you mean a?'],
    [['--resume'], 'nothing to resume'],
    [['--resume', 'last'], 'nothing to resume'],
    [['--resume', 'abc123'], 'nothing has run in this project yet'],
  ])('refuses %j', async (flags, message) => {
    project.write('flow.json', flow(phase('a', ['touch', 'x'])));
    const { status, stderr } = await project.run(['run', './flow.json', ...flags]);
    expect(status).toBe(2);
    expect(stderr).toContain(message);
    expect(existsSync(join(project.root, 'x'))).toBe(false);
  });

  it('forecasts without executing anything', async () => {
    const touch = 'echo x >> ran; echo out';
    const counted = { cache: { ...crossRun.cache, observe: { exclude: ['ran'] } } };
    project.write('flow.json', flow(phase('a', touch, counted), phase('b', touch, { dependsOn: ['a'] })));
    const first = await project.run(['run', './flow.json', '--dry-run']);
    expect(first.stdout).toMatch(/▸ a +would run \(first time\)/);
    expect(existsSync(join(project.root, 'ran'))).toBe(false);
    await project.run(['run', './flow.json']);
    const second = JSON.parse((await project.run(['run', './flow.json', '--dry-run', '--json'])).stdout);
    expect(second.phases.map(({ id, would }: { id: string; would: string }) => [id, would])).toEqual([
      ['a', 'reuse'],
      ['b', 'run'],
    ]);
    expect(readFileSync(join(project.root, 'ran'), 'utf8')).toBe('x\nx\n');
  });

  it('forecasts that a nested flow would run when something in it would, and not that it was interrupted', async () => {
    const nested = (id: string, ...phases: object[]) => ({ id, type: 'flow', def: { phases } });
    const asked = phase('x', ['true'], { cache: { scope: 'cross-run', fingerprint: ['cmd:date'] } });
    project.write('flow.json', flow(nested('a', nested('b', phase('c', ['true']))), nested('d', asked)));
    const { stdout } = await project.run(['run', './flow.json', '--dry-run']);
    expect(stdout).toMatch(/▸ a +would run/);
    expect(stdout).toMatch(/\? d +not known yet/);
    expect(stdout).not.toContain('interrupted');
  });

  it('continues an unfinished run by itself and says so; resume and --fresh do what they say', async () => {
    const counted = phase('a', 'echo a >> ran');
    project.write('flow.json', flow(counted, phase('b', 'echo b >> ran; test -e ok', { dependsOn: ['a'] })));
    const ran = () => readFileSync(join(project.root, 'ran'), 'utf8').replaceAll('\n', '');
    await project.run(['run', './flow.json']);
    expect(ran()).toBe('ab');
    const resumed = await project.run(['resume', 'last']);
    expect(resumed.status).toBe(1);
    expect(resumed.stderr).toMatch(/continuing run \S+.*: 1 of 2 phases reused/);
    expect(ran()).toBe('abb');
    await project.run(['run', './flow.json', '--fresh']);
    expect(ran()).toBe('abbab');
  });
});

describe('run --resume', () => {
  it('takes a run as every other command does, and says the same of one that is not there', async () => {
    project.write('flow.json', flow(phase('a', 'echo a >> ran'), phase('b', 'test -e ok', { dependsOn: ['a'] })));
    const first = JSON.parse((await project.run(['run', './flow.json', '--json'])).stdout);
    const runId = first.runId as string;
    for (const typed of ['last', runId, runId.slice(-6), `last --quiet`]) {
      const { status, stderr } = await project.run(['run', './flow.json', '--resume', ...typed.split(' '), '--json']);
      expect([typed, status]).toEqual([typed, 1]);
      expect(stderr).not.toContain('no argument');
    }
    expect((await project.run(['run', '--resume', 'last', './flow.json'])).status).toBe(1);
    expect(readFileSync(join(project.root, 'ran'), 'utf8')).toBe('a\n');
    const missing = await project.run(['run', './flow.json', '--resume', 'nonesuch']);
    expect(missing).toMatchObject({ status: 2, stderr: expect.stringContaining('there is no run nonesuch') });
  });

  it('leaves the arguments that follow it to the flow', async () => {
    const doc = { name: 'f', args: { word: {} }, phases: [{ id: 'a', type: 'script', run: ['echo', '{args.word}'] }] };
    project.write('flow.json', JSON.stringify(doc));
    await project.run(['run', './flow.json', 'word=one']);
    const resumed = await project.run(['run', './flow.json', '--resume', 'word=two']);
    expect(resumed).toMatchObject({ status: 0, stdout: 'two\n' });
  });
});

it('an unknown runner is refused before the run, with the nearest name: by run, resume and batch', async () => {
  project.write('.pi/taskflows/config.yaml', 'runners:\n  local: { command: [cat] }\n');
  const args = { args: { topic: { default: 'x' } } };
  const failing = phase('a', 'echo a >> ran; exit 1');
  project.write('flow.json', JSON.stringify({ name: 'demo', ...args, phases: [failing] }));
  project.write('rows.txt', 'x\n');
  await project.run(['run', './flow.json']);
  for (const command of [
    ['run', './flow.json'],
    ['run', './flow.json', '--dry-run'],
    ['resume', 'last'],
    ['batch', './flow.json', '--over', 'rows.txt'],
  ]) {
    const { status, stderr } = await project.run([...command, '--runner', 'locla']);
    expect([status, stderr]).toEqual([
      2,
      `taskflow ${command[0]}: there is no runner "locla"\n  did you mean local?\n`,
    ]);
  }
  const none = await project.run(['run', './flow.json', '--runner', 'somebody']);
  expect(none.stderr).toContain('known: pi, claude, codex, local');
  expect(readFileSync(join(project.root, 'ran'), 'utf8')).toBe('a\n');
  expect((await project.run(['runs', '--json'])).stdout.match(/"runId"/g)).toHaveLength(1);
  for (const name of ['local', 'pi']) {
    expect((await project.run(['run', './flow.json', '--runner', name])).status).toBe(1);
  }
});

describe('approvals without a terminal', () => {
  const approval = () =>
    flow(
      { id: 'sure', type: 'approval', task: 'Really?' },
      phase('act', ['echo', 'acted on {steps.sure.output}'], { dependsOn: ['sure'] }),
    );

  it('pause the run with status 4 until someone decides, and the decision reaches the next phases', async () => {
    project.write('flow.json', approval());
    const paused = await project.run(['run', './flow.json']);
    expect(paused.status).toBe(4);
    expect(paused.stderr).toContain('Really?');
    expect(paused.stderr).toMatch(/taskflow approve \S+ sure/);
    expect((await project.run(['approve', 'last', 'nothing'])).status).toBe(2);
    const approved = await project.run(['approve', 'last', 'sure', '--note', 'only a little']);
    expect(approved).toMatchObject({ status: 0, stdout: 'approved: Really?\n' });
    const resumed = await project.run(['resume', 'last', '-q']);
    expect([resumed.status, resumed.stdout]).toEqual([0, 'acted on only a little\n']);
  });

  it('stop the run when someone rejects, and pass with --yes', async () => {
    project.write('flow.json', approval());
    await project.run(['run', './flow.json']);
    expect((await project.run(['reject', 'last', 'sure', '--json'])).stdout).toContain('"decision":"reject"');
    const rejected = await project.run(['resume', 'last']);
    expect(rejected.stderr).toMatch(/✖ \S+ was rejected after/);
    expect(rejected.status).not.toBe(0);
    expect(rejected.stdout).toBe('');
    expect((await project.run(['run', './flow.json', '--fresh', '--yes', '-q'])).status).toBe(0);
  });
});

describe('an interrupt', () => {
  const start = (args: string[]) => {
    const child = spawn(process.execPath, [CLI, ...args], {
      cwd: project.root,
      env: cliEnvironment(project.root) as NodeJS.ProcessEnv,
    });
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    const ended = new Promise<number | null>((resolve) => child.on('close', (status) => resolve(status)));
    return { child, ended, stderr: () => stderr };
  };
  const waitFor = async (path: string) => {
    for (let i = 0; i < 400 && !existsSync(join(project.root, path)); i++)
      await new Promise((resolve) => setTimeout(resolve, 25));
  };

  it('ends the run with 130, keeps what finished and says how to go on', async () => {
    project.write(
      'flow.json',
      flow(phase('a', ['echo', 'kept']), phase('b', 'touch started; sleep 30', { dependsOn: ['a'] })),
    );
    const run = start(['run', './flow.json']);
    await waitFor('started');
    run.child.kill('SIGINT');
    expect(await run.ended).toBe(130);
    expect(run.stderr()).toContain('interrupted');
    expect(run.stderr()).toMatch(/taskflow resume \S+/);
    const forecast = JSON.parse((await project.run(['run', './flow.json', '--dry-run', '--json'])).stdout);
    expect(forecast.phases[0]).toMatchObject({ id: 'a', would: 'reuse' });
  });

  it('that comes twice ends everything at once, even a child that ignores the first', async () => {
    project.write('flow.json', flow(phase('stubborn', "trap '' TERM INT; touch started; while :; do sleep 0.2; done")));
    const run = start(['run', './flow.json']);
    await waitFor('started');
    run.child.kill('SIGINT');
    await new Promise((resolve) => setTimeout(resolve, 300));
    const asked = Date.now();
    run.child.kill('SIGINT');
    expect(await run.ended).toBe(130);
    expect(Date.now() - asked).toBeLessThan(2_500);
  });
});

it('resume refuses a phase that the flow does not have, with the nearest name, before anything runs', async () => {
  const project = createTestProject({
    'flow.json': JSON.stringify({
      name: 'demo',
      phases: [{ id: 'alpha', type: 'script', run: 'echo a >> count; false' }],
    }),
  });
  try {
    expect((await project.run(['run', './flow.json'])).status).toBe(1);
    const { status, stderr } = await project.run(['resume', 'last', '--rerun', 'alpah']);
    expect([status, stderr]).toEqual([2, expect.stringMatching(/no phase alpah\n.*did you mean alpha\?/)]);
    expect(readFileSync(join(project.root, 'count'), 'utf8')).toBe('a\n');
  } finally {
    project.remove();
  }
});
