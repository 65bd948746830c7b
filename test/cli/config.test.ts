import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
beforeEach(() => {
  project = createTestProject();
});
afterEach(() => project.remove());

const file = () => join(project.root, '.pi/taskflows/config.yaml');
const text = () => readFileSync(file(), 'utf8');

describe('taskflow config', () => {
  it('sets a value that get and list then show with its origin', async () => {
    expect((await project.run(['config', 'set', 'cache.maxAge', '30d'])).status).toBe(0);
    expect((await project.run(['config', 'get', 'cache.maxAge'])).stdout).toBe('30d\n');
    const listed = await project.run(['config', 'list']);
    expect(listed.stdout).toMatch(/cache\.maxAge +30d +\.pi\/taskflows\/config\.yaml/);
    expect(listed.stdout).toMatch(/iteration\.mode +auto +default/);
  });

  it('keeps comments and order of the file', async () => {
    project.write(
      '.pi/taskflows/config.yaml',
      '# mine\nmodel: a # why\n\n# the store\ncache:\n  dir: elsewhere # far away\n',
    );
    await project.run(['config', 'set', 'model', 'b']);
    await project.run(['config', 'set', 'cache.maxBytes', '500MB']);
    expect(text()).toBe(
      '# mine\nmodel: b # why\n\n# the store\ncache:\n  dir: elsewhere # far away\n  maxBytes: 500MB\n',
    );
  });

  it('knows the short form of iteration, in both directions', async () => {
    await project.run(['config', 'set', 'iteration', 'off']);
    expect((await project.run(['config', 'get', 'iteration'])).stdout).toBe('off\n');
    project.write('.pi/taskflows/config.yaml', 'iteration: off\n');
    await project.run(['config', 'set', 'iteration.ttl', '2h']);
    const listed = JSON.parse((await project.run(['config', 'list', '--json'])).stdout) as {
      key: string;
      value: unknown;
    }[];
    expect(listed.find(({ key }) => key === 'iteration.mode')?.value).toBe('off');
    expect(listed.find(({ key }) => key === 'iteration.ttl')?.value).toBe('2h');
  });

  it('sets lists and runners of your own', async () => {
    const set = await project.run(['config', 'set', 'runners.mine.command', '[node, agent.mjs]']);
    expect(set).toMatchObject({ status: 0 });
    expect((await project.run(['config', 'get', 'runners.mine.command'])).stdout).toBe('["node","agent.mjs"]\n');
    expect(await project.run(['config', 'set', 'runner', 'mine', '--user'])).toMatchObject({ status: 0 });
    expect((await project.run(['config', 'get', 'runner'])).stdout).toBe('mine\n');
  });

  it('removes a runner as a whole, and what is left of one without its last field', async () => {
    const rest = '# mine\nrunners:\n  # the one\n  a: { command: [ x ] } # yes\n';
    project.write('.pi/taskflows/config.yaml', `${rest}  b:\n    command: [ y ]\n    format: text\n`);
    expect((await project.run(['config', 'unset', 'runners.bb'])).stderr).toContain('did you mean runners.b?');
    expect(await project.run(['config', 'unset', 'runners.b'])).toMatchObject({ status: 0 });
    expect(text()).toBe(rest);
    await project.run(['config', 'unset', 'runners.a.command']);
    expect(text()).toBe('# mine\n');
    await project.run(['config', 'set', 'model', 'm']);
    expect(text()).toBe('# mine\n\nmodel: m\n');
  });

  it('keeps a runner that is chosen, in whichever file, unless it is defined in the other', async () => {
    await project.run(['config', 'set', 'runners.mine.command', '[x]']);
    await project.run(['config', 'set', 'runner', 'mine', '--user']);
    const before = text();
    const refused = await project.run(['config', 'unset', 'runners.mine', '--json']);
    expect(refused.status).toBe(2);
    expect(JSON.parse(refused.stdout).error.hint).toContain('taskflow config unset runner --user');
    expect(text()).toBe(before);
    await project.run(['config', 'set', 'runners.mine.command', '[y]', '--user']);
    expect(await project.run(['config', 'unset', 'runners.mine'])).toMatchObject({ status: 0 });
    expect((await project.run(['config', 'get', 'runners.mine.command'])).stdout).toBe('["y"]\n');
  });

  it('--json says what was changed and where, and what counts instead', async () => {
    const json = async (...args: string[]) => JSON.parse((await project.run(['config', ...args, '--json'])).stdout);
    const file = '.pi/taskflows/config.yaml';
    const set = { key: 'concurrency', value: 3, file, changed: true, overriddenBy: null, problems: [] };
    expect(await json('set', 'concurrency', '3')).toEqual(set);
    expect(await json('set', 'concurrency', '3')).toEqual({ ...set, changed: false });
    expect(await json('set', 'concurrency', '4', '--user')).toMatchObject({ value: 4, overriddenBy: file });
    expect(await json('unset', 'concurrency')).toEqual({ ...set, value: null });
    expect(await json('unset', 'concurrency')).toEqual({ ...set, value: null, changed: false });
  });

  it.each([
    [['cache.maxAge', 'soon'], 'cache.maxAge must be a duration'],
    [['cache.maxAg', '3d'], 'did you mean cache.maxAge?'],
    [['runners.x.comand', '[a]'], 'did you mean runners.x.command?'],
    [['concurrency', '0'], 'concurrency must be a whole number from 1 on'],
    [['runner', 'cluade'], 'did you mean claude?'],
    [['runner', 'cluade', '--user'], 'did you mean claude?'],
    [['iteration', 'maybe'], 'iteration.mode must be one of always, auto, off'],
  ])('refuses %j and writes nothing', async (args, message) => {
    const refused = await project.run(['config', 'set', ...args]);
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain(message);
    expect(existsSync(file())).toBe(false);
    expect(existsSync(join(project.root, '.home/.pi'))).toBe(false);
  });

  it('will not edit a file that it cannot read whole', async () => {
    project.write('.pi/taskflows/config.yaml', 'model: [\n');
    const refused = await project.run(['config', 'set', 'model', 'x']);
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('has to be put right first: line');
    expect(text()).toBe('model: [\n');
  });

  it('forgets a value', async () => {
    await project.run(['config', 'set', 'model', 'x']);
    await project.run(['config', 'unset', 'model']);
    expect(await project.run(['config', 'get', 'model'])).toMatchObject({ status: 1, stdout: '' });
  });

  it.each([
    [undefined, 'cache.dir'],
    [undefined, 'runners.mine.command'],
    ['model: x\n', 'cache.signingKey.env'],
    ['iteration:\n  ttl: 2h\n', 'iteration'],
    ['# nothing yet\n', 'model'],
  ])('with %j in the file, it says that %s is not set, and writes nothing', async (before, key) => {
    if (before !== undefined) project.write('.pi/taskflows/config.yaml', before);
    const { status, stderr } = await project.run(['config', 'unset', key]);
    expect(stderr).toMatch(/^\S+ is not set in \.pi\/taskflows\/config\.yaml\n$/);
    expect(status).toBe(0);
    expect(existsSync(file()) ? text() : undefined).toBe(before);
  });

  it('forgets a setting that stands there in its short form', async () => {
    project.write('.pi/taskflows/config.yaml', 'model: x\niteration: off\n');
    expect((await project.run(['config', 'unset', 'iteration.mode'])).status).toBe(0);
    expect(text()).toBe('model: x\n');
  });

  it('writes the user file with --user and says when the project overrides it', async () => {
    await project.run(['config', 'set', 'model', 'mine', '--user']);
    expect(readFileSync(join(project.root, '.home/.pi/agent/taskflows/config.yaml'), 'utf8')).toContain('model: mine');
    await project.run(['config', 'set', 'model', 'ours']);
    const again = await project.run(['config', 'set', 'model', 'mine2', '--user']);
    expect(again.stderr).toContain('says otherwise');
  });
});
