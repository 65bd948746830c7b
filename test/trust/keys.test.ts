import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadFlow, openProject, runFlow } from '../../src/index.js';
import { createTestProject, type TestProject } from '../support/cli.js';

/** A key of the user goes to an address that a project chose only with the user's word. */

let project: TestProject;
let server: Server;
let url: string;
let keys: (string | undefined)[];
beforeEach(async () => {
  keys = [];
  server = createServer((request, response) => {
    keys.push(request.headers.authorization);
    const choices = [{ message: { role: 'assistant', content: 'answered' }, finish_reason: 'stop' }];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ choices, model: 'm' }));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  project = createTestProject({ 'flow.yaml': 'phases:\n  - { id: ask, task: hello }\n' });
  settings({ type: 'openai', baseUrl: `${url}/v1`, model: 'm', apiKeyEnv: 'USERS_KEY' });
});
afterEach(() => {
  server.close();
  project.remove();
});

const env = { USERS_KEY: 'the-key-of-the-user' };
const sent = 'Bearer the-key-of-the-user';

const file = (runner: object) => JSON.stringify({ runner: 'far', runners: { far: runner } });
const settings = (runner: object) => project.write('.pi/taskflows/config.yaml', file(runner));
const userSettings = (text: string) => project.write('.home/.pi/agent/taskflows/config.yaml', text);
const run = (...args: string[]) => project.run(['run', 'flow.yaml', '--no-cache', '--fresh', ...args], { env });
const allow = (...args: string[]) => project.run(['config', 'set', '--user', ...args]);

describe('a key for an address that the project chose', () => {
  it('is not sent, and the error says how to allow it', async () => {
    const { status, stderr } = await run();
    expect([status, keys]).toEqual([1, []]);
    expect(stderr).toContain(`would send the key in USERS_KEY to ${url}`);
    expect(stderr).toContain(`taskflow config set --user allow.keys.USERS_KEY ${url}`);
    expect(stderr).toContain(`--allow-key USERS_KEY=${url}`);
    expect(stderr).not.toContain('the-key-of-the-user');
  });

  it('is sent once the user has allowed this pair, by the very command of the hint', async () => {
    expect((await allow('allow.keys.USERS_KEY', url)).status).toBe(0);
    expect([(await run()).status, keys]).toEqual([0, [sent]]);
  });

  it('is sent for one run when the command line allows the pair', async () => {
    expect([(await run('--allow-key', `USERS_KEY=${url}`)).status, keys]).toEqual([0, [sent]]);
    expect((await run()).status).toBe(1);
    expect(keys).toEqual([sent]);
  });

  it.each([
    ['another key', () => ['allow.keys.OTHER_KEY', url]],
    ['another port', () => ['allow.keys.USERS_KEY', url.replace(/\d+$/, '1')]],
    ['another scheme', () => ['allow.keys.USERS_KEY', url.replace('http:', 'https:')]],
    ['a longer host', () => ['allow.keys.USERS_KEY', 'http://127.0.0.1.example.org']],
    ['another path', () => ['allow.keys.USERS_KEY', `${url}/v2`]],
    ['half a path', () => ['allow.keys.USERS_KEY', `${url}/v`]],
  ])('is not sent when %s is allowed', async (_what, args) => {
    expect((await allow(...args())).status).toBe(0);
    expect([(await run()).status, keys]).toEqual([1, []]);
  });

  it('is not sent where another key may go, though it may go elsewhere', async () => {
    await allow('allow.keys.USERS_KEY', 'https://api.example.org');
    await allow('allow.keys.OTHER_KEY', url);
    expect([(await run()).status, keys]).toEqual([1, []]);
  });

  it('is sent below a path that is allowed, and to each of a list', async () => {
    await allow('allow.keys.USERS_KEY', `[https://api.example.org, ${url}/v1]`);
    expect([(await run()).status, keys]).toEqual([0, [sent]]);
  });

  it('cannot be allowed by the project itself', async () => {
    const own = JSON.parse(
      file({ type: 'openai', baseUrl: `${url}/v1`, model: 'm', apiKeyEnv: 'USERS_KEY' }),
    ) as object;
    project.write('.pi/taskflows/config.yaml', JSON.stringify({ ...own, allow: { keys: { USERS_KEY: url } } }));
    const { status, stderr } = await run();
    expect([status, keys]).toEqual([2, []]);
    expect(stderr).toContain('allow.keys.USERS_KEY is for the user to say');
    const set = await project.run(['config', 'set', 'allow.keys.USERS_KEY', url]);
    expect([set.status, set.stderr]).toEqual([2, expect.stringContaining('--user')]);
  });

  it('is not sent when the project moves the address of a runner of the user', async () => {
    userSettings(file({ type: 'openai', baseUrl: 'https://api.example.org/v1', model: 'm', apiKeyEnv: 'USERS_KEY' }));
    project.write('.pi/taskflows/config.yaml', JSON.stringify({ runners: { far: { baseUrl: `${url}/v1` } } }));
    expect([(await run()).status, keys]).toEqual([1, []]);
  });

  it('is not sent when the project names another key for an address of the user', async () => {
    userSettings(file({ type: 'openai', baseUrl: `${url}/v1`, model: 'm', apiKeyEnv: 'OTHER_KEY' }));
    project.write('.pi/taskflows/config.yaml', JSON.stringify({ runners: { far: { apiKeyEnv: 'USERS_KEY' } } }));
    expect([(await run()).status, keys]).toEqual([1, []]);
  });

  it('is not sent by a program that uses the settings of the project', async () => {
    const HOME = join(project.root, '.home');
    const opened = openProject(project.root, { PATH: process.env['PATH'], HOME, ...env });
    const result = await runFlow(opened, await loadFlow(opened, './flow.yaml')).result;
    expect([result.status, keys]).toEqual(['failed', []]);
  });
});

describe('needs no leave', () => {
  it('a runner that the user defined', async () => {
    project.write('.pi/taskflows/config.yaml', '');
    userSettings(file({ type: 'openai', baseUrl: `${url}/v1`, model: 'm', apiKeyEnv: 'USERS_KEY' }));
    expect([(await run()).status, keys]).toEqual([0, [sent]]);
  });

  it('a server of the project that gets no key', async () => {
    settings({ type: 'openai', baseUrl: `${url}/v1`, model: 'm' });
    expect([(await run()).status, keys]).toEqual([0, [undefined]]);
  });

  it('a key that is not set', async () => {
    const { status } = await project.run(['run', 'flow.yaml', '--no-cache']);
    expect([status, keys]).toEqual([0, [undefined]]);
  });
});

it('--allow-key has to be a name and an address', async () => {
  const { status, stderr } = await run('--allow-key', 'USERS_KEY');
  expect([status, stderr]).toEqual([2, expect.stringContaining('--allow-key is NAME=URL')]);
});
