import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestProject, runCli, type TestProject } from '../support/cli.js';

/** Runs and caches that came with a clone: what somebody else decided, and where their links lead. */

let project: TestProject;
let outside: string;
beforeEach(() => {
  project = createTestProject();
  outside = mkdtempSync(join(tmpdir(), 'taskflow-outside-'));
});
afterEach(() => {
  project.remove();
  rmSync(outside, { recursive: true, force: true });
});

const inside = (path: string) => join(project.root, path);

/** As the attacker or as the victim: each has a home of their own. */
const as = (who: string, repo: string, ...args: string[]) =>
  runCli(args, { cwd: inside(repo), env: { HOME: inside(`${who}-home`) } });

describe('a run that came with a clone', () => {
  const flow = JSON.stringify({
    name: 'ship',
    phases: [
      { id: 'test', type: 'script', run: 'echo ran >> "$(git rev-parse --git-dir)/tests"; echo green' },
      { id: 'tell', type: 'script', run: ['echo', 'it is {steps.test.output}'] },
      { id: 'ask', type: 'approval', task: 'Ship?', dependsOn: ['test'] },
      { id: 'deploy', type: 'script', run: 'echo done >> ../deployed', idempotent: false, dependsOn: ['ask'] },
    ],
  });
  const git = (repo: string, ...args: string[]) => execFileSync('git', args, { cwd: inside(repo), stdio: 'pipe' });

  beforeEach(async () => {
    project.write('evil/.pi/agents/.keep', '');
    project.write('evil/flow.json', flow);
    git('evil', 'init', '-q');
    expect((await as('attacker', 'evil', 'run', './flow.json')).status).toBe(4);
    expect((await as('attacker', 'evil', 'approve', 'last', 'ask')).status).toBe(0);
    // Without what was noted of the environment, nothing of it seems to have changed.
    const [runId] = readdirSync(inside('evil/.pi/taskflows/runs')).filter((name) => /^\d/.test(name));
    rmSync(inside(`evil/.pi/taskflows/runs/${runId}/environment`));
    git('evil', 'add', '-f', '-A');
    git('evil', '-c', 'user.name=m', '-c', 'user.email=m@example.org', 'commit', '-qm', 'all');
    execFileSync('git', ['clone', '-q', inside('evil'), inside('clone')], { stdio: 'pipe' });
  });

  it('is not continued by itself: its results and its approval are not those of the user', async () => {
    const { status, stderr } = await as('victim', 'clone', 'run', './flow.json');
    expect([status, existsSync(inside('deployed'))]).toEqual([4, false]);
    expect(stderr).toMatch(/run \S+ of this flow is not one of yours: starting afresh; taskflow resume/);
    expect(readFileSync(inside('clone/.git/tests'), 'utf8')).toBe('ran\n');
  });

  it('gives no outputs to a part of the flow either', async () => {
    expect((await as('attacker', 'evil', 'run', './flow.json', '--only', 'tell')).stdout).toBe('it is green\n');
    const { status, stdout } = await as('victim', 'clone', 'run', './flow.json', '--only', 'tell');
    expect([status, stdout]).toEqual([expect.any(Number), expect.not.stringContaining('green')]);
  });

  it("is gone on with by a person who names it; and one's own run goes on by itself", async () => {
    const [named] = readdirSync(inside('clone/.pi/taskflows/runs')).filter((name) => /^\d/.test(name));
    await as('victim', 'clone', 'run', './flow.json');
    await as('victim', 'clone', 'approve', 'last', 'ask');
    expect((await as('victim', 'clone', 'run', './flow.json')).status).toBe(0);
    expect(readFileSync(inside('deployed'), 'utf8')).toBe('done\n');
    cpSync(inside('evil'), inside('again'), { recursive: true });
    expect((await as('victim', 'again', 'resume', named!)).status).toBe(0);
  });
});

describe('an approval in a checkpoint', () => {
  const flow = JSON.stringify({
    name: 'ship',
    phases: [
      { id: 'test', type: 'script', run: ['echo', 'green'] },
      { id: 'ask', type: 'approval', task: 'Ship?', dependsOn: ['test'] },
      { id: 'deploy', type: 'script', run: 'test -e ../ok && echo done >> ../deployed', dependsOn: ['ask'] },
    ],
  });

  /** What somebody approved, and did or did not use, exported and given to somebody else. */
  async function handOver(used: boolean): Promise<number | null> {
    for (const repo of ['theirs', 'mine']) {
      project.write(`${repo}/.pi/agents/.keep`, '');
      project.write(`${repo}/flow.json`, flow);
    }
    await as('attacker', 'theirs', 'run', './flow.json');
    await as('attacker', 'theirs', 'approve', 'last', 'ask');
    if (used) expect((await as('attacker', 'theirs', 'run', './flow.json')).status).toBe(1);
    await as('attacker', 'theirs', 'checkpoint', 'export', 'last', '--out', inside('checkpoint.json'));
    project.write('ok', '');
    return (await as('victim', 'mine', 'run', './flow.json', '--resume-from', inside('checkpoint.json'))).status;
  }

  it.each([false, true])('is not that of whoever resumes from it (used: %s)', async (used) => {
    expect(await handOver(used)).toBe(4);
    expect(existsSync(inside('deployed'))).toBe(false);
  });

  it('holds where both sign with the same key', async () => {
    for (const who of ['attacker', 'victim']) {
      project.write(`${who}-home/key`, 'k'.repeat(64));
      project.write(`${who}-home/.pi/agent/taskflows/config.yaml`, 'cache: { signingKey: { file: ~/key } }\n');
    }
    expect(await handOver(false)).toBe(0);
  });
});

describe('links in a state folder that came with a clone lead nobody elsewhere', () => {
  const old = () => {
    project.write('.keep', '');
    const file = join(outside, 'thesis.txt');
    cpSync(inside('.keep'), file);
    utimesSync(file, 1, 1);
    return file;
  };

  it.each(['damaged', 'blobs', 'blobs/ab', 'restoring', 'index.log'])('cache/%s', async (part) => {
    const file = old();
    mkdirSync(inside('.pi/taskflows/cache/blobs'), { recursive: true });
    rmSync(inside(`.pi/taskflows/cache/${part}`), { recursive: true, force: true });
    symlinkSync(part === 'index.log' ? file : outside, inside(`.pi/taskflows/cache/${part}`));
    project.write(
      'flow.json',
      JSON.stringify({ name: 'f', phases: [{ id: 'a', type: 'script', run: ['echo', 'a'] }] }),
    );
    for (const args of [
      ['cache', 'gc'],
      ['cache', 'verify'],
      ['cache', 'clear', '--all'],
      ['run', './flow.json'],
    ]) {
      const { status, stderr } = await project.run(args);
      expect([args, status, stderr]).toEqual([
        args,
        2,
        expect.stringContaining(`cache/${part} in the cache folder is a link`),
      ]);
    }
    expect([readdirSync(outside), readFileSync(file, 'utf8')]).toEqual([['thesis.txt'], '']);
  });

  it('runs/.last', async () => {
    old();
    mkdirSync(inside('.pi/taskflows/runs'), { recursive: true });
    symlinkSync(outside, inside('.pi/taskflows/runs/.last'));
    await project.run(['runs', 'clear', '--all']);
    await project.run(['cache', 'clear', '--all']);
    expect(readdirSync(outside)).toEqual(['thesis.txt']);
  });
});
