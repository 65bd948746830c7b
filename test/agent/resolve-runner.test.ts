import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { detectRunner } from '../../src/agent/detect.js';
import { resolveRunner } from '../../src/agent/resolve-runner.js';
import { CONFIG_DEFAULTS, type Config } from '../../src/model/config.js';
import { projectIn, requestIn } from '../support/runner-request.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'resolve-runner-'));
  mkdirSync(join(root, 'first'));
  mkdirSync(join(root, 'second'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A program that leaves a trace when it is started. */
function install(folder: string, name: string, mode = 0o755): void {
  const path = join(root, folder, name);
  writeFileSync(path, `#!/bin/sh\ntouch ${root}/started\n`);
  chmodSync(path, mode);
}

const projectOf = () => projectIn(root, { PATH: `${root}/first::${root}/missing:${root}/second` });
const config = (more: Partial<Config> = {}): Config => ({ ...CONFIG_DEFAULTS, ...more });
const nameOf = async (choice: Partial<Parameters<typeof resolveRunner>[0]>) => {
  const resolved = await resolveRunner({ project: projectOf(), config: config(), ...choice });
  return 'runner' in resolved ? `${resolved.runner.name}:${resolved.runner.type}` : resolved.failure;
};

test('the first installed of pi, claude and codex is used, wherever it is on PATH', async () => {
  install('first', 'codex');
  expect(await nameOf({})).toBe('codex:codex');
  install('second', 'claude');
  expect(await nameOf({})).toBe('claude:claude');
  install('second', 'pi');
  expect(await nameOf({})).toBe('pi:pi');
  expect(detectRunner(projectOf())).toEqual({ name: 'pi', path: join(root, 'second', 'pi') });
});

test('looking starts nothing, and a file or folder that is no program does not count', () => {
  install('first', 'pi', 0o644);
  mkdirSync(join(root, 'second', 'pi'));
  expect(detectRunner(projectOf())).toHaveProperty('failure');
  install('second', 'claude');
  expect(detectRunner(projectOf())).toMatchObject({ name: 'claude' });
  expect(() => rmSync(join(root, 'started'))).toThrow(/ENOENT/);
});

test('without any, the error says how to get one', async () => {
  const failure = await nameOf({});
  expect(failure).toMatchObject({ code: 'no-runner' });
  expect(JSON.stringify(failure)).toMatch(/npm install -g .*pi-coding-agent.*claude-code.*codex.*config\.yaml/);
});

test('the command line overrides the phase, the phase its flow, the flow the configuration', async () => {
  const runners = {
    a: { type: 'command', command: ['a'] },
    b: { type: 'openai', baseUrl: 'http://127.0.0.1:1', model: 'm' },
    c: { type: 'codex' },
    d: { type: 'claude' },
  } as const;
  const all = { config: config({ runner: 'd', runners }) };
  expect(await nameOf(all)).toBe('d:claude');
  expect(await nameOf({ ...all, flowRunner: 'c' })).toBe('c:codex');
  expect(await nameOf({ ...all, flowRunner: 'c', phaseRunner: 'b' })).toBe('b:openai');
  expect(await nameOf({ ...all, flowRunner: 'c', phaseRunner: 'b', cliRunner: 'a' })).toBe('a:command');
});

test('a built-in client needs no configuration to be named; a configured one keeps its own', async () => {
  expect(await nameOf({ phaseRunner: 'codex' })).toBe('codex:codex');
  const runners = { pi: { type: 'command', command: ['my-pi'] } } as const;
  expect(await nameOf({ phaseRunner: 'pi', config: config({ runners }) })).toBe('pi:command');
});

test('an unknown name is an error with the known ones; names of objects are not known', async () => {
  const runners = { mine: { type: 'command', command: ['x'] } } as const;
  expect(await nameOf({ phaseRunner: 'mien', config: config({ runners }) })).toMatchObject({
    code: 'no-runner',
    hint: expect.stringContaining('pi, claude, codex, mine'),
  });
  for (const name of ['constructor', '__proto__', 'toString']) {
    expect(await nameOf({ phaseRunner: name })).toMatchObject({ code: 'no-runner' });
  }
});

test('a client that is configured but not installed says how to get it when it is called', async () => {
  const project = projectOf();
  const resolved = await resolveRunner({ project, config: config(), phaseRunner: 'claude' });
  if ('failure' in resolved) throw new Error('a named client needs not be installed to be resolved');
  const { failure, stopReason } = await resolved.runner.run(requestIn(project));
  expect(stopReason).toBe('error');
  expect(failure).toMatchObject({ code: 'no-runner', hint: expect.stringContaining('npm install -g @anthropic-ai') });
  expect(await resolved.runner.version()).toMatchObject({ failure: { hint: expect.stringContaining('npm install') } });
});
