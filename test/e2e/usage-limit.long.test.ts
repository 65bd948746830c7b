import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';
import { LIMITED_CONFIG, limitedAgent, readCalls } from '../support/limited-agent.js';
import { startCli } from '../support/live-cli.js';

let project: TestProject;
beforeEach(() => {
  project = createTestProject({ '.pi/taskflows/config.yaml': LIMITED_CONFIG });
});
afterEach(async () => {
  await project.run(['runs', 'cancel', 'last']);
  project.remove();
});

const limit = (ms: number) => project.write('bin/limited', limitedAgent({ ms }), 0o755);
const flow = JSON.stringify({ name: 'demo', phases: [{ id: 'a', type: 'agent', task: 'do it' }] });
const calls = () => readCalls(readFileSync(join(project.root, 'calls'), 'utf8'));

describe('taskflow run at a usage limit', () => {
  it('says how long it waits, on the terminal and as an event, and goes on', async () => {
    limit(1_500);
    project.write('flow.json', flow);
    const { status, stdout, stderr } = await project.run(['run', './flow.json', '--events']);
    expect(status).toBe(0);
    const line =
      /‖ limited's usage limit is reached \(limited: enough for now\): waiting until \d\d:\d\d, \S+ from now/;
    expect(stderr).toMatch(line);
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const until = Number(readFileSync(join(project.root, 'until'), 'utf8'));
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'limit', runner: 'limited', phase: 'a', until, known: true, waits: true }),
    );
    const logs = await project.run(['runs', 'logs', 'last']);
    expect(logs.stdout).toMatch(line);
    expect(calls()).toMatchObject({ refused: 1, answered: 1 });
  });

  it('--no-wait ends with status 4, says what to do, and the next run goes on', async () => {
    limit(1_000);
    project.write('flow.json', flow);
    const first = await project.run(['run', './flow.json', '--no-wait']);
    expect(first.status).toBe(4);
    expect(first.stderr).toMatch(/‖ a paused .*waits for a usage limit to reset/);
    expect(first.stderr).toMatch(/‖ demo waits for a usage limit to reset after/);
    expect(first.stderr).toMatch(/taskflow resume \S+\s+goes on when it has reset/);
    const list = await project.run(['runs']);
    expect(list.stdout).toMatch(/paused \(usage limit (?:resets at \d\d:\d\d|has reset)\)/);
    const shown = await project.run(['runs', 'show', 'last']);
    expect(shown.stdout).toMatch(/goes on \(usage limit/);
    const json = await project.run(['runs', 'show', 'last', '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      state: 'paused',
      limit: { until: expect.any(Number), known: true },
    });
    expect((await project.run(['doctor'])).stdout).toContain('demo waits for a usage limit to reset');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect((await project.run(['run', './flow.json'])).status).toBe(0);
    expect(calls()).toMatchObject({ refused: 1, answered: 1 });
    expect((await project.run(['runs'])).stdout).toContain('paused (went on)');
  });

  it('a detached run waits on its own, and its list and page say for what', async () => {
    limit(4_000);
    project.write('flow.json', flow);
    const { stdout } = await project.run(['run', './flow.json', '--detach']);
    const runId = stdout.trim();
    const attached = startCli(['runs', 'attach', runId], { cwd: project.root });
    for (let i = 0; i < 200 && !existsSync(join(project.root, 'calls')); i += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const [list, shown, json] = await Promise.all([
      project.run(['runs']),
      project.run(['runs', 'show', runId]),
      project.run(['runs', 'show', runId, '--json']),
    ]);
    expect(list.stdout).toMatch(/running \(waiting until \d\d:\d\d for limited's limit\)/);
    expect(shown.stdout).toMatch(/running · waiting until \d\d:\d\d for limited's limit/);
    expect(JSON.parse(json.stdout)).toMatchObject({ limit: { runner: 'limited', until: expect.any(Number) } });
    expect((await attached.done).status).toBe(0);
    expect(attached.stderr()).toContain('waiting until');
    expect((await project.run(['runs'])).stdout).not.toContain('waiting until');
    expect(calls()).toMatchObject({ refused: 1, answered: 1 });
  });

  it('a batch says it one time, and --no-wait pauses its rows', async () => {
    limit(60_000);
    project.write(
      'row.json',
      JSON.stringify({ name: 'rows', args: { n: {} }, phases: [{ id: 'a', type: 'agent', task: 'do {args.n}' }] }),
    );
    project.write('rows.txt', '1\n2\n3\n4\n5\n');
    const { status, stderr } = await project.run([
      'batch',
      './row.json',
      '--over',
      'rows.txt',
      '--no-wait',
      '--concurrency',
      '1',
    ]);
    expect(status).toBe(4);
    expect(stderr.match(/usage limit is reached/g)).toHaveLength(1);
    expect(stderr).toMatch(/0 of 5 rows done, 5 waiting for a usage limit to reset/);
    expect(calls()).toMatchObject({ refused: 1, answered: 0 });
  });
});
