import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { CLI, cliEnvironment } from '../support/cli.js';

it('another build of the same length is run as it is, not as it was compiled before', () => {
  const folder = mkdtempSync(join(tmpdir(), 'taskflow-code-'));
  try {
    for (const name of ['taskflow.cjs', 'cli.cjs', 'yaml.cjs']) cpSync(join(dirname(CLI), name), join(folder, name));
    const list = () =>
      spawnSync(process.execPath, [join(folder, 'taskflow.cjs'), 'config', 'list'], {
        cwd: folder,
        env: cliEnvironment(folder) as NodeJS.ProcessEnv,
        encoding: 'utf8',
      }).stdout;
    // The second one is compiled from what the first one kept.
    expect(list()).toContain('90d');
    expect(list()).toContain('90d');
    const source = readFileSync(join(folder, 'cli.cjs'), 'latin1');
    writeFileSync(join(folder, 'cli.cjs'), source.replaceAll('"90d"', '"91d"'), 'latin1');
    expect(list()).toContain('91d');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it('each file of the command is evaluated once, however often it is asked for', () => {
  const folder = mkdtempSync(join(tmpdir(), 'taskflow-code-'));
  try {
    for (const name of readdirSync(dirname(CLI)).filter((file) => file.endsWith('.cjs')))
      cpSync(join(dirname(CLI), name), join(folder, name));
    const yaml = join(folder, 'yaml.cjs');
    writeFileSync(
      yaml,
      `require('node:fs').appendFileSync('evaluated', 'x');${readFileSync(yaml, 'latin1')}`,
      'latin1',
    );
    const flows = ['a.yaml', 'b.yaml', 'c.yaml'];
    for (const flow of flows) writeFileSync(join(folder, flow), 'phases: [{ id: a, type: script, run: echo a }]\n');
    const { status } = spawnSync(process.execPath, [join(folder, 'taskflow.cjs'), 'check', ...flows], {
      cwd: folder,
      env: cliEnvironment(folder) as NodeJS.ProcessEnv,
    });
    expect([status, readFileSync(join(folder, 'evaluated'), 'utf8')]).toEqual([0, 'x']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it('compiled code that a project would bring is not used: the folder lies in it, or others can reach it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'taskflow-code-'));
  const list = (cwd: string, cache: string) =>
    spawnSync(process.execPath, [CLI, 'config', 'list'], {
      cwd: join(folder, cwd),
      env: cliEnvironment(folder, { XDG_CACHE_HOME: join(folder, cache) }) as NodeJS.ProcessEnv,
    }).status;
  const compiled = (cache: string) => {
    const code = join(folder, cache, 'taskflow/code');
    return existsSync(code) ? readdirSync(code).length : 0;
  };
  try {
    for (const path of ['project/.git', 'project/sub', 'open/taskflow/code'])
      mkdirSync(join(folder, path), { recursive: true });
    expect([list('project/sub', 'outside'), compiled('outside')]).toEqual([0, 1]);
    expect([list('project/sub', 'project/.cache'), compiled('project/.cache')]).toEqual([0, 0]);
    expect([list('project', 'open'), compiled('open')]).toEqual([0, 0]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
