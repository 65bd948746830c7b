import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadFlow } from '../../src/check/load-flow.js';
import type { Project } from '../../src/util/project.js';
import { derivedDir } from '../../src/util/user-cache.js';
import { forgedKept } from '../support/kept-file.js';
import { makeProject, writeIn } from './support.js';

const FLOW = 'phases: [{ id: a, task: Say hello }]';
const keptFolder = (project: Project) => derivedDir(project);
const keptFiles = (project: Project) =>
  existsSync(keptFolder(project)) ? readdirSync(keptFolder(project)).filter((name) => name.endsWith('.json')) : [];

async function load(project: Project, ref: string) {
  const loaded = await loadFlow(project, ref);
  if ('diagnostics' in loaded) throw new Error(loaded.diagnostics.map(({ message }) => message).join('\n'));
  return loaded;
}

describe('finding a flow', () => {
  it('takes paths, and names of saved flows: the project before the user', async () => {
    const project = makeProject({
      'flows/a.yaml': FLOW,
      '.pi/taskflows/saved.yml': FLOW,
      '~/.pi/agent/taskflows/saved.json': '{"name": "hidden", "task": "x"}',
      '~/.pi/agent/taskflows/mine.json': '{"task": "x"}',
    });
    expect((await load(project, 'flows/a.yaml')).flow).toMatchObject({ name: 'a', file: 'flows/a.yaml' });
    expect((await load(project, join(project.root, 'flows/a.yaml'))).flow.file).toBe('flows/a.yaml');
    expect((await load(project, 'saved')).flow.name).toBe('saved');
    const mine = await load(project, 'mine');
    expect(mine.flow.file).toBe(mine.file);
    expect(mine.digest).toMatch(/^[0-9a-f]{64}$/);
  });

  it('suggests the saved flow that was meant', async () => {
    const project = makeProject({ '.pi/taskflows/review.yaml': FLOW, '.pi/taskflows/config.yaml': 'runner: pi' });
    expect(await loadFlow(project, 'reveiw')).toMatchObject({
      diagnostics: [{ code: 'no-flow', hint: 'did you mean "review"?' }],
    });
    expect(await loadFlow(project, 'config')).toMatchObject({ diagnostics: [{ code: 'no-flow' }] });
    // Whoever wrote a path knows what a path is: no hint.
    const at = { file: './nothing.yaml', line: 1, column: 1, length: 1 };
    const message = 'there is no flow file ./nothing.yaml';
    expect(await loadFlow(project, './nothing.yaml')).toEqual({
      diagnostics: [{ ...at, severity: 'error', code: 'no-flow', message }],
    });
  });

  it.each(['../x', '..', '/etc', 'a\0b', '__proto__', 'constructor', `${'a'.repeat(10_000)}`, '', '.pi/taskflows'])(
    'refuses %j without an exception',
    async (ref) => {
      expect(await loadFlow(makeProject(), ref)).toMatchObject({ diagnostics: [{ severity: 'error' }] });
    },
  );

  it('reads no more of a huge file than it takes to refuse it', async () => {
    const project = makeProject();
    writeFileSync(join(project.root, 'huge.yaml'), Buffer.alloc(100 * 1024 * 1024, 0x61));
    const start = performance.now();
    expect(await loadFlow(project, './huge.yaml')).toMatchObject({ diagnostics: [{ code: 'too-large' }] });
    expect(performance.now() - start).toBeLessThan(2000);
  });
});

describe('a checked flow is kept', () => {
  it('and an unchanged file is not checked again: its kept form is what comes back', async () => {
    const project = makeProject({ 'a.yaml': FLOW });
    const first = await load(project, './a.yaml');
    const [kept] = keptFiles(project);
    const path = join(keptFolder(project), kept!);
    writeFileSync(path, forgedKept(path, 'Say hello', 'KEPT FORM'));
    const second = await load(project, './a.yaml');
    expect(second.flow.phases[0]).toMatchObject({ body: { task: 'KEPT FORM' } });
    expect(second.digest).toBe(first.digest);
    expect(second.file).toBe(first.file);
  });

  it('with its warnings', async () => {
    const project = makeProject({ 'a.yaml': 'phases: [{ id: a, task: "{args.x}" }]' });
    const first = await load(project, './a.yaml');
    expect(first.warnings).toHaveLength(1);
    expect((await load(project, './a.yaml')).warnings).toEqual(first.warnings);
  });

  it('until the file changes', async () => {
    const project = makeProject({ 'a.yaml': FLOW });
    await load(project, './a.yaml');
    writeIn(project, 'a.yaml', FLOW.replace('hello', 'bye'));
    expect((await load(project, './a.yaml')).flow.phases[0]).toMatchObject({ body: { task: 'Say bye' } });
  });

  it('until a flow that it uses changes, appears or goes', async () => {
    const project = makeProject({
      'a.yaml': 'phases: [{ id: a, type: flow, use: inner, cache: { scope: cross-run } }]',
      '.pi/taskflows/inner.yaml': FLOW,
    });
    await load(project, './a.yaml');
    writeIn(project, '.pi/taskflows/inner.yaml', 'phases: [{ id: g, type: gate, eval: ["1"] }]');
    expect(await loadFlow(project, './a.yaml')).toMatchObject({ diagnostics: [{ code: 'cross-run' }] });
    writeIn(project, '.pi/taskflows/inner.yaml', FLOW);
    await load(project, './a.yaml');
    rmSync(join(project.root, '.pi/taskflows/inner.yaml'));
    expect(await loadFlow(project, './a.yaml')).toMatchObject({ diagnostics: [{ code: 'unknown-flow' }] });
    writeIn(project, '~/.pi/agent/taskflows/inner.yaml', FLOW);
    await load(project, './a.yaml');
    writeIn(project, '.pi/taskflows/inner.yaml', 'phases: [{ id: g, type: gate, eval: ["1"] }]');
    expect(await loadFlow(project, './a.yaml')).toMatchObject({ diagnostics: [{ code: 'cross-run' }] });
  });

  it('until an agent that it names goes', async () => {
    const project = makeProject({
      'a.yaml': 'phases: [{ id: a, task: x, agent: mine }]',
      '.pi/agents/mine.md': 'Be kind.',
    });
    await load(project, './a.yaml');
    rmSync(join(project.root, '.pi/agents/mine.md'));
    expect(await loadFlow(project, './a.yaml')).toMatchObject({ diagnostics: [{ code: 'unknown-agent' }] });
  });

  it('privately, and under another name for another project folder', async () => {
    const project = makeProject({ 'a.yaml': FLOW, 'sub/a.yaml': FLOW });
    await load(project, './a.yaml');
    await load(project, './sub/a.yaml');
    expect(keptFiles(project)).toHaveLength(2);
    expect(statSync(keptFolder(project)).mode & 0o777).toBe(0o700);
    for (const name of keptFiles(project)) expect(statSync(join(keptFolder(project), name)).mode & 0o777).toBe(0o600);
  });

  it.each(['', '{', 'null', '[]', '{"format":1,"flow":{"phases":[]}}', '{"format":99}', '\0\0\0\0'])(
    'and a damaged one (%j) is made again',
    async (damage) => {
      const project = makeProject({ 'a.yaml': FLOW });
      await load(project, './a.yaml');
      const path = join(keptFolder(project), keptFiles(project)[0]!);
      writeFileSync(path, damage);
      expect((await load(project, './a.yaml')).flow.phases).toHaveLength(1);
      expect(readFileSync(path, 'utf8')).toContain('Say hello');
    },
  );

  it('or not at all where nothing can be written', async () => {
    const project = makeProject({ 'a.yaml': FLOW });
    mkdirSync(dirname(keptFolder(project)), { recursive: true });
    writeFileSync(keptFolder(project), 'a file where a folder should be');
    expect((await load(project, './a.yaml')).flow.phases).toHaveLength(1);
    const readOnly = makeProject({ 'a.yaml': FLOW });
    chmodSync(readOnly.home, 0o500);
    expect((await load(readOnly, './a.yaml')).flow.phases).toHaveLength(1);
    chmodSync(readOnly.home, 0o700);
  });

  it('only when it has no errors', async () => {
    const project = makeProject({ 'a.yaml': 'phases: [{ id: a }]' });
    await loadFlow(project, './a.yaml');
    expect(keptFiles(project)).toEqual([]);
  });
});

describe('links', () => {
  it('a path that leads out of the project through a link is refused', async () => {
    const project = makeProject({
      'a.yaml':
        'phases: [{ id: a, task: x, cwd: out, context: [out/x], cache: { scope: cross-run, ' +
        'fingerprint: ["file:out/x", "glob:out/*.ts"] } }]',
    });
    symlinkSync('/', join(project.root, 'out'));
    const loaded = await loadFlow(project, './a.yaml');
    const codes = 'diagnostics' in loaded ? loaded.diagnostics.map(({ code }) => code) : [];
    expect(codes).toEqual(Array(4).fill('outside-project'));
  });

  it('a link inside the project is fine', async () => {
    const project = makeProject({ 'a.yaml': 'phases: [{ id: a, task: x, cwd: link }]', 'real/x': '' });
    symlinkSync('real', join(project.root, 'link'));
    await load(project, './a.yaml');
  });
});
