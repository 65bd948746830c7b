import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TEMPLATES } from '../../src/cli/templates/templates.js';
import { createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
beforeEach(() => {
  project = createTestProject();
});
afterEach(() => project.remove());

const read = (path: string) => readFileSync(join(project.root, path), 'utf8');

describe('taskflow init', () => {
  it('starts a project whose first flow runs without any model, and is reused the second time', async () => {
    project.write('src/a.ts', '// TODO: something\n');
    const init = await project.run(['init', '--json']);
    expect(JSON.parse(init.stdout).map(({ action }: { action: string }) => action)).toEqual(Array(6).fill('created'));
    expect((await project.run(['check', 'overview'])).status).toBe(0);
    const first = await project.run(['run', 'overview']);
    expect(first.status).toBe(0);
    expect(first.stdout).toContain('src/a.ts:1:// TODO: something');
    const second = JSON.parse((await project.run(['run', 'overview', '--json'])).stdout);
    expect(second.reuse).toMatchObject({ executed: 0, crossRun: 5 });
  });

  it('never overwrites and can be called again', async () => {
    mkdirSync(join(project.root, '.pi/taskflows'), { recursive: true });
    writeFileSync(join(project.root, '.pi/taskflows/overview.yaml'), '# mine\n');
    writeFileSync(join(project.root, '.gitignore'), 'node_modules\n/.pi/taskflows/cache');
    await project.run(['init']);
    const again = await project.run(['init']);
    expect(again.status).toBe(0);
    expect(read('.pi/taskflows/overview.yaml')).toBe('# mine\n');
    expect(read('.gitignore')).toBe('node_modules\n/.pi/taskflows/cache\n.pi/taskflows/runs/\n');
  });

  it('leaves nothing for git to see after a run but what people write', async () => {
    execFileSync('git', ['init', '-q'], { cwd: project.root });
    await project.run(['init']);
    await project.run(['run', 'overview', '-q']);
    const seen = execFileSync('git', ['status', '--porcelain', '-uall'], { cwd: project.root, encoding: 'utf8' });
    expect(
      seen
        .split('\n')
        .map((line) => line.slice(3))
        .filter((path) => !path.startsWith('.home'))
        .sort(),
    ).toEqual([
      '',
      '.gitignore',
      '.pi/taskflows/config.yaml',
      '.pi/taskflows/overview.yaml',
      '.pi/taskflows/schema/config.json',
      '.pi/taskflows/schema/flow.json',
      '.pi/taskflows/schema/test.json',
    ]);
  });

  it('renews the schemas of another version and says so, and nothing that a person wrote', async () => {
    await project.run(['init']);
    const current = read('.pi/taskflows/schema/flow.json');
    project.write('.pi/taskflows/schema/flow.json', '{"title": "of an older version"}\n');
    project.write('.pi/taskflows/config.yaml', '# mine\n');
    const { stdout } = await project.run(['init']);
    expect(stdout).toContain('+ .pi/taskflows/schema/flow.json (renewed)\n');
    expect(stdout).toContain('  .pi/taskflows/schema/config.json (left alone)\n');
    expect(read('.pi/taskflows/schema/flow.json')).toBe(current);
    expect(read('.pi/taskflows/config.yaml')).toBe('# mine\n');
  });

  it('writes the schema that the first line of its flows names', async () => {
    await project.run(['init']);
    const [, schema] = /\$schema=(\S+)/.exec(read('.pi/taskflows/overview.yaml'))!;
    expect(JSON.parse(read(join('.pi/taskflows', schema!)))).toHaveProperty('$schema');
    const [, ofSettings] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(read('.pi/taskflows/config.yaml'))!;
    expect(JSON.parse(read(join('.pi/taskflows', ofSettings!)))).toHaveProperty('title', 'taskflow settings');
    expect((await project.run(['config', 'list'])).status).toBe(0);
  });
});

describe('taskflow new', () => {
  it('lists its templates', async () => {
    const { stdout } = await project.run(['new', '--list']);
    for (const { name } of TEMPLATES) expect(stdout).toContain(name);
  });

  it('makes a flow without problems from every template', async () => {
    project.write('a.txt', 'a\n');
    for (const { name } of TEMPLATES) {
      expect(await project.run(['new', `my-${name}`, '--template', name])).toMatchObject({
        status: 0,
        stdout: `.pi/taskflows/my-${name}.yaml\n.pi/taskflows/my-${name}.test.yaml\n`,
      });
    }
    const names = TEMPLATES.flatMap(({ name }) => [`my-${name}`, `.pi/taskflows/my-${name}.test.yaml`]);
    const checked = await project.run(['check', '--strict', ...names]);
    expect(`${checked.stdout}${checked.stderr}`).not.toMatch(/error|warning/);
    expect(checked.status).toBe(0);
  });

  it('runs the templates that need no model', async () => {
    project.write('a.txt', 'one\ntwo\n');
    await project.run(['new', 'count']);
    const counted = await project.run(['run', 'count', '-q']);
    expect(counted).toMatchObject({ status: 0 });
    expect(counted.stdout).toContain('2 ./a.txt');
    await project.run(['new', 'ask', '-t', 'approval']);
    expect(await project.run(['run', 'ask', '--yes', '-q'])).toMatchObject({ status: 0, stdout: 'done\n' });
    const tested = await project.run(['test']);
    expect([tested.stdout, tested.status]).toEqual([expect.stringContaining('6 passed'), 0]);
  });

  it.each([
    ['config', 'is no name for a flow'],
    ['../x', 'is no name for a flow'],
    ['__proto__', 'is no name for a flow'],
    ['taken', 'is there already'],
  ])('refuses the name %s', async (name, message) => {
    project.write('.pi/taskflows/taken.json', '{}');
    const before = readdirSync(join(project.root, '.pi/taskflows'));
    const refused = await project.run(['new', name]);
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain(message);
    expect(readdirSync(join(project.root, '.pi/taskflows'))).toEqual(before);
  });
});

describe('taskflow doctor', () => {
  const findings = async (env = {}) => {
    const { status, stdout } = await project.run(['doctor', '--probe', '--json'], { env });
    const { ok, findings: found } = JSON.parse(stdout) as { ok: boolean; findings: Record<string, string>[] };
    return { status, ok, of: (name: string) => found.filter((finding) => finding['name'] === name) };
  };

  it('is content with a plain project, says which clients are missing and how to get them', async () => {
    const { status, ok, of } = await findings({ PATH: `${join(project.root, 'empty')}:/usr/bin:/bin` });
    expect([status, ok]).toEqual([0, true]);
    expect(of('versions')[0]).toMatchObject({ status: 'ok' });
    expect(of('runner pi')[0]).toMatchObject({ status: 'absent', hint: expect.stringContaining('npm install') });
  });

  it('passes over folders of the PATH that cannot be read, as a run does that looks for its runner', async () => {
    project.write('a-file', '');
    symlinkSync('loop', join(project.root, 'loop'));
    project.write('bin/pi', '#!/bin/sh\nexit 1\n', 0o755);
    project.write('flow.yaml', 'name: f\nphases:\n  - { id: ask, task: hello }\n');
    const bad = [join(project.root, 'a-file/bin'), join(project.root, 'loop'), `/${'x'.repeat(300)}`];
    const PATH = [...bad, join(project.root, 'bin'), '/usr/bin', '/bin'].join(':');
    const { of } = await findings({ PATH });
    expect(of('agents')).toHaveLength(1);
    const { status, stderr } = await project.run(['run', 'flow.yaml'], { env: { PATH } });
    expect(stderr).toMatch(/ask failed .*pi/);
    expect(status).toBe(1);
  });

  it('asks every runner, and fails when one that is configured does not work', async () => {
    project.write('bin/pi', '#!/bin/sh\necho 9.9.9\n', 0o755);
    project.write('.pi/taskflows/config.yaml', 'runner: mine\nrunners: {mine: {command: [no-such-program-here]}}\n');
    const { status, of } = await findings({ PATH: `${join(project.root, 'bin')}:/usr/bin:/bin` });
    expect(status).toBe(1);
    expect(of('runner pi')[0]).toMatchObject({ status: 'ok', message: expect.stringContaining('9.9.9') });
    expect(of('runner mine')[0]).toMatchObject({ status: 'problem' });
    expect(of('agents')[0]).toMatchObject({ status: 'problem', hint: 'taskflow config set runner pi' });
  });

  it('is content when a runner that no flow uses by default does not work, and says so', async () => {
    project.write('bin/pi', '#!/bin/sh\necho 9.9.9\n', 0o755);
    project.write('bin/claude', '#!/bin/sh\nexit 1\n', 0o755);
    project.write(
      '.pi/taskflows/config.yaml',
      'runners: {mine: {command: [no-such-program-here]}, far: {type: openai, baseUrl: "http://127.0.0.1:9/v1", ' +
        'model: m}}\n',
    );
    const { status, ok, of } = await findings({ PATH: `${join(project.root, 'bin')}:/usr/bin:/bin` });
    expect([status, ok]).toEqual([0, true]);
    for (const name of ['claude', 'mine', 'far']) expect(of(`runner ${name}`)[0]).toMatchObject({ status: 'warning' });
    expect(of('agents')[0]).toMatchObject({ status: 'ok', message: expect.stringContaining('flows use pi') });
    project.write('bin/pi', '#!/bin/sh\nexit 1\n', 0o755);
    const broken = await findings({ PATH: `${join(project.root, 'bin')}:/usr/bin:/bin` });
    expect([broken.status, broken.of('runner pi')[0]!['status']]).toEqual([1, 'problem']);
  });

  it('reports settings with problems', async () => {
    project.write('.pi/taskflows/config.yaml', 'cache: {maxAgge: 3d}\n');
    const { status, of } = await findings();
    expect(status).toBe(1);
    expect(of('settings')[0]).toMatchObject({ status: 'problem', hint: 'did you mean maxAge?' });
  });

  it.skipIf(process.getuid?.() === 0)('reports a store that cannot be written', async () => {
    project.write('.pi/taskflows/cache/x', '');
    chmodSync(join(project.root, '.pi/taskflows/cache'), 0o500);
    expect((await findings()).of('store')[0]).toMatchObject({ status: 'problem' });
    chmodSync(join(project.root, '.pi/taskflows/cache'), 0o700);
  });

  it('reports a signing key that is not there, damaged entries and waiting runs', async () => {
    project.write('.pi/taskflows/config.yaml', 'cache: {signingKey: {env: NO_SUCH_KEY}}\n');
    expect((await findings()).of('store')[0]).toMatchObject({ status: 'problem' });
    project.write('.pi/taskflows/config.yaml', '');
    project.write('flow.json', '{"phases": [{"id": "sure", "type": "approval", "task": "ok?"}]}');
    await project.run(['run', './flow.json']);
    expect((await findings()).of('runs')[0]).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('waits'),
    });
  });

  it('says the same for people, with what to do', async () => {
    const { stdout } = await project.run(['doctor'], { env: { PATH: '/usr/bin:/bin' } });
    expect(stdout).toMatch(/✔ versions +taskflow/);
    expect(stdout).toMatch(/→ npm install -g/);
  });
});

describe('taskflow graph', () => {
  beforeEach(() => {
    const phases = [
      { id: 'a', type: 'script', run: ['true'] },
      { id: 'b', type: 'script', run: ['cat'], input: '{steps.a.output}' },
    ];
    project.write('flow.json', JSON.stringify({ name: 'demo', phases }));
  });

  it('draws references as edges in every format', async () => {
    expect((await project.run(['graph', 'flow.json'])).stdout).toBe('●  a     script\n●  b     script · result  ← a\n');
    expect(JSON.parse((await project.run(['graph', 'flow.json', '--json'])).stdout)).toEqual({
      nodes: [
        { id: 'a', kind: 'script' },
        { id: 'b', kind: 'script' },
      ],
      edges: [{ from: 'a', to: 'b' }],
    });
    expect((await project.run(['graph', 'flow.json', '--format', 'svg'])).stdout).toMatch(/^<svg .*<\/svg>\n$/s);
    expect((await project.run(['graph', 'flow.json', '-f', 'dot'])).stdout).toContain('"a" -> "b"');
    expect((await project.run(['graph', 'flow.json', '-f', 'mermaid'])).stdout).toContain('n0 --> n1');
    expect((await project.run(['graph', 'flow.json', '-f', 'png'])).status).toBe(2);
  });
});
