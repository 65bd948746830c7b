import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { holderIdentity, holderState, identityOf, isAlive } from '../../src/process/process-identity.js';
import { parseStat, readProcessRow } from '../../src/process/process-table.js';
import { until } from '../support/processes.js';

test('a process is alive until it ends', async () => {
  const child = spawn('sleep', ['60']);
  const identity = identityOf(child.pid ?? -1);
  expect(identity.startTicks).toBeGreaterThan(0);
  expect(isAlive(identity)).toBe(true);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(isAlive(identity)).toBe(false);
});

test('a zombie is dead, though its id still answers', async () => {
  // The parent never waits for its child.
  const parent = spawn('sh', ['-c', 'sleep 0.01 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const identity = identityOf(Number(line.toString()));
  await until(() => readProcessRow(identity.pid)?.zombie === true);
  expect(() => process.kill(identity.pid, 0)).not.toThrow();
  expect(isAlive(identity)).toBe(false);
  parent.kill('SIGKILL');
  await once(parent, 'exit');
});

test('another process under the same id is not the one that was meant', () => {
  const self = identityOf(process.pid);
  expect(isAlive(self)).toBe(true);
  expect(isAlive({ ...self, startTicks: (self.startTicks ?? 0) - 1 })).toBe(false);
});

test('a program name full of parentheses and spaces does not shift the fields', () => {
  const stat = `7 (a) S 1 (b c) S 5 6 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 0 0`;
  expect(parseStat(7, stat)).toEqual({ pid: 7, parent: 5, group: 6, session: 7, zombie: false, startTicks: 4242 });
});

test('a holder is alive, dead (also: before the last boot), or unknown on another machine', () => {
  const self = holderIdentity();
  expect(holderState(self)).toBe('alive');
  expect(holderState({ ...self, startTicks: 1 })).toBe('dead');
  expect(holderState({ ...self, boot: 'an earlier one' })).toBe('dead');
  expect(holderState({ ...self, host: 'elsewhere' })).toBe('unknown');
});
