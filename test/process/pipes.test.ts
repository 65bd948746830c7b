import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { giveBack, type Pipe, takePipe } from '../../src/process/pipes.js';
import { runProcess } from '../../src/process/run-process.js';
import { delay } from '../../src/util/timer.js';
import { brand, killAll } from '../support/processes.js';

const env = { PATH: process.env['PATH'] };

async function sh(script: string, input?: string): Promise<string> {
  const result = await runProcess({ argv: ['sh', '-c', script], cwd: '/', env, input });
  expect(result.failure).toBeUndefined();
  return result.stdout.toString();
}

const openFiles = () => readdirSync('/dev/fd').length;

describe('streams can be opened by name, as in a terminal', () => {
  test('stdout, without losing what was said before', async () => {
    expect(await sh('echo one; echo two > /dev/stdout; echo three >> /dev/fd/1; echo four')).toBe(
      'one\ntwo\nthree\nfour\n',
    );
  });

  test('stderr', async () => {
    const result = await runProcess({
      argv: ['sh', '-c', 'echo a >&2; echo b > /dev/stderr; exit 1'],
      cwd: '/',
      env,
    });
    expect(result.stderrTail).toBe('a\nb\n');
  });
});

test('what a process that outlives its parent says later does not end up with another one', async () => {
  const { env: branded, live } = brand();
  const folder = mkdtempSync(join(tmpdir(), 'stray-'));
  const stray = 'echo > gone; until [ -e speak ]; do sleep 0.01; done; while :; do echo stray; sleep 0.01; done';
  const lingering = await runProcess({
    argv: ['sh', '-c', `setsid sh -c '${stray}' & until [ -e gone ]; do :; done; echo mine`],
    cwd: folder,
    env: branded,
  });
  expect(lingering.stdout.toString()).toBe('mine\n');
  expect(live()).not.toEqual([]);
  writeFileSync(`${folder}/speak`, '');
  const until = Date.now() + 500;
  while (Date.now() < until) {
    const outputs = await Promise.all(Array.from({ length: 12 }, (_, i) => sh(`echo ${i}`)));
    expect(outputs).toEqual(outputs.map((_, i) => `${i}\n`));
  }
  killAll(live());
  rmSync(folder, { recursive: true });
});

test('pipes are used again: hundreds of processes need no more open files than a few', async () => {
  await sh('true');
  const before = openFiles();
  for (let round = 0; round < 30; round += 1) {
    await Promise.all(Array.from({ length: 10 }, (_, i) => sh(`echo ${i}`)));
  }
  expect(openFiles()).toBeLessThan(before + 80);
});

test('those of long processes are used again as well, once nobody writes to them', async () => {
  const names = new Set<string>();
  for (let round = 0; round < 8; round += 1) names.add(await sh('sleep 0.05; stat -L -c %i /proc/self/fd/1'));
  expect(names.size).toBeLessThan(4);
});

test('those of long processes are closed with them, and so are those of what could not be started', async () => {
  await sh('true');
  await Promise.all(Array.from({ length: 8 }, () => sh('sleep 0.1; echo', 'in')));
  await delay(20);
  const before = openFiles();
  for (let round = 0; round < 20; round += 1) {
    await Promise.all(Array.from({ length: 8 }, () => sh('sleep 0.02; echo', 'in')));
    const failed = await runProcess({ argv: ['no-such-program'], cwd: '/', env, input: 'in' });
    expect(failed.failure?.code).toBe('spawn');
  }
  await delay(20);
  expect(openFiles()).toBeLessThan(before + 80);
});

test('nothing is left of them in the folder for temporary files, nor of those that a killed process left', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'temporary-'));
  const usual = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  const left = (name: string, hours: number) => {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, '0'), '');
    const then = Date.now() / 1_000 - hours * 3_600;
    utimesSync(join(folder, name), then, then);
  };
  left('taskflow-pipes-killed', 2);
  left('taskflow-pipes-atwork', 0.5);
  left('somebody-else', 2);
  const pipes: Pipe[] = [];
  for (let i = 0; i < 200; i += 1) pipes.push(takePipe()!);
  expect(new Set(pipes.map(({ file }) => file)).size).toBe(200);
  expect(readdirSync(folder)).toEqual(['somebody-else', 'taskflow-pipes-atwork']);
  pipes.forEach(giveBack);
  if (usual === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = usual;
  rmSync(folder, { recursive: true });
});
