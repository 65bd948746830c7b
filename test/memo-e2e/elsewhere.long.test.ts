import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.js';
import { CACHE, createMemoRig, cross, flow, git, kept, type MemoRig, makeRepository, writeConfig } from './support.js';

let rig: MemoRig;
let clone: string;
const archive = () => join(rig.root, '..', 'cache.tfc');

/** A project with a warm cache, exported, and a fresh clone of it without any. */
beforeEach(async () => {
  rig = createMemoRig();
  rig.write('src/a.txt', 'one\n');
  rig.write('.gitignore', 'dist/\n');
  const build = {
    id: 'build',
    type: 'script',
    run:
      'bin/note build; mkdir -p dist; cat src/a.txt > dist/out.txt; printf "#!/bin/sh\\n" > dist/tool; ' +
      'chmod 755 dist/tool',
    outputs: ['dist/**'],
    cache: cross(['glob:src/**']),
  };
  const agent = {
    id: 'think',
    type: 'agent',
    task: 'NAME: think\nSAY: so',
    context: ['src/a.txt'],
    cache: cross(['git:HEAD']),
  };
  const test = {
    id: 'test',
    type: 'script',
    run: 'bin/note test; cat dist/out.txt',
    dependsOn: ['build'],
    cache: cross(),
  };
  rig.write('flow.json', JSON.stringify(flow([build, agent, test, kept('plain', ['git:worktree'])])));
  makeRepository(rig.root);
  clone = join(realpathSync(join(rig.root, '..')), 'fresh clone');
  git(join(rig.root, '..'), 'clone', '-q', rig.root, clone);
});
afterEach(() => rig.remove());

const env = (more: object = {}) => ({ PATH: rig.project.env['PATH'], HOME: rig.project.home, ...more });
const cli = (cwd: string, args: string[], more: object = {}) => runCli(args, { cwd, env: env(more) });
const counted = async (cwd: string, args: string[] = [], more: object = {}) => {
  rig.forget();
  const { status, stderr } = await cli(cwd, ['run', './flow.json', '--json', ...args], more);
  return { status, stderr, counts: rig.counts() };
};

describe('a fresh clone', () => {
  it('with an imported archive executes nothing, frozen, and has the files', async () => {
    expect((await counted(rig.root)).counts).toEqual({ build: 1, think: 1, test: 1, plain: 1 });
    expect((await cli(rig.root, ['cache', 'export', archive()])).status).toBe(0);
    expect((await cli(clone, ['cache', 'import', archive()])).status).toBe(0);
    expect(await counted(clone, ['--frozen'])).toMatchObject({ status: 0, counts: {} });
    expect(readFileSync(join(clone, 'dist/out.txt'), 'utf8')).toBe('one\n');
    writeFileSync(join(clone, 'src/a.txt'), 'two\n');
    expect((await counted(clone)).counts).toEqual({ build: 1, think: 1, test: 1, plain: 1 });
  });

  it('with the folder copied over executes nothing either', async () => {
    await counted(rig.root);
    cpSync(join(rig.root, CACHE), join(clone, CACHE), { recursive: true });
    expect(await counted(clone)).toMatchObject({ status: 0, counts: {} });
  });

  it('a flow file with other line ends is the same flow', async () => {
    const text =
      'name: memo\nphases:\n  - id: a\n    type: script\n    run: |\n      bin/note a\n      echo "two\n' +
      '      lines"\n    cache: {scope: cross-run, fingerprint: []}\n';
    expect(await rig.executed(text, { file: 'flow.yaml' })).toEqual({ a: 1 });
    expect(await rig.executed(text.replaceAll('\n', '\r\n'), { file: 'flow.yaml' })).toEqual({});
  });
});

describe('an archive that was tampered with', () => {
  /** Everything in the store that could be served or brought back. */
  const taken = (root: string) => {
    const dir = join(root, CACHE);
    const names = existsSync(dir) ? readdirSync(dir, { recursive: true }).map(String) : [];
    return names.filter((name) => /[0-9a-f]{64}/.test(name));
  };

  it('is refused whole, with the reason, wherever a byte of it was changed', async () => {
    await counted(rig.root);
    await cli(rig.root, ['cache', 'export', archive()]);
    const bytes = readFileSync(archive());
    const bad = join(clone, 'bad.tfc');
    for (const [name, change] of [
      ['a byte', (at: number) => Buffer.from(bytes.map((byte, index) => (index === at ? byte ^ 0x20 : byte)))],
      ['its end', (at: number) => bytes.subarray(0, at)],
    ] as const) {
      for (const part of [0.02, 0.35, 0.7, 0.98]) {
        writeFileSync(bad, change(Math.floor(bytes.length * part)));
        const { status, stderr } = await cli(clone, ['cache', 'import', bad]);
        expect([name, part, status]).toEqual([name, part, 2]);
        expect(stderr.trim()).not.toBe('');
        expect(taken(clone)).toEqual([]);
      }
    }
  }, 60_000);

  it('without the signature of the project is refused where a key is set', async () => {
    await counted(rig.root);
    await cli(rig.root, ['cache', 'export', archive()]);
    writeFileSync(
      join(clone, '.pi/taskflows/config.yaml'),
      `${readFileSync(join(clone, '.pi/taskflows/config.yaml'), 'utf8')}cache: { signingKey: { env: KEY } }\n`,
    );
    const refused = await cli(clone, ['cache', 'import', archive()], { KEY: 'a long and secret key of the project' });
    expect(refused.status).toBe(2);
    expect(taken(clone)).toEqual([]);
    writeConfig(rig, 'cache: { signingKey: { env: KEY } }\n');
    rmSync(join(rig.root, CACHE), { recursive: true });
    await counted(rig.root, [], { KEY: 'a long and secret key of the project' });
    await cli(rig.root, ['cache', 'export', archive()], { KEY: 'a long and secret key of the project' });
    expect(
      (await cli(clone, ['cache', 'import', archive()], { KEY: 'a long and secret key of the project' })).status,
    ).toBe(0);
    mkdirSync(join(clone, 'again'), { recursive: true });
    expect(
      (await cli(clone, ['cache', 'import', archive()], { KEY: 'another key that is long enough, too' })).status,
    ).toBe(2);
  });
});

describe('from whichever folder taskflow is called', () => {
  const folders = () => [
    { cwd: rig.root, flow: './flow.json', more: [] },
    { cwd: join(rig.root, 'src'), flow: '../flow.json', more: [] },
    { cwd: join(rig.root, '..'), flow: './flow.json', more: ['--cwd', rig.root] },
  ];
  const called = async ({ cwd, flow, more }: ReturnType<typeof folders>[number]) => {
    rig.forget();
    const { status, stderr } = await cli(cwd, ['run', flow, ...more]);
    expect(status, stderr).toBe(0);
    return rig.counts();
  };

  it('the same files are looked at, and a change is seen', async () => {
    expect(await called(folders()[0]!)).toEqual({ build: 1, think: 1, test: 1, plain: 1 });
    let edits = 0;
    for (const changed of folders()) {
      for (const folder of folders()) expect(await called(folder), JSON.stringify(folder)).toEqual({});
      edits += 1;
      rig.write('src/deep/b.txt', `${edits}\n`);
      expect(await called(changed), JSON.stringify(changed)).toMatchObject({ build: 1 });
    }
  });

  it('the items of a map, too', async () => {
    const over = Array.from({ length: 60 }, (_, index) => `item ${index}`);
    const each = { id: 'each', type: 'map', over, run: 'bin/note each', cache: cross(['glob:src/**']) };
    rig.write('flow.json', JSON.stringify(flow([each])));
    expect(await called(folders()[0]!)).toEqual({ each: 60 });
    for (const folder of folders()) expect(await called(folder)).toEqual({});
    rig.write('src/a.txt', 'another\n');
    expect(await called(folders()[1]!)).toEqual({ each: 60 });
    for (const folder of folders()) expect(await called(folder)).toEqual({});
  });
});
