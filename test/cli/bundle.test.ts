import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLI, cliEnvironment, createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
let dist: string;
beforeEach(() => {
  const phases = [
    { id: 'a', type: 'script', run: ['echo', 'hi'], cache: { scope: 'cross-run', fingerprint: ['file:flow.json'] } },
  ];
  project = createTestProject({ 'flow.json': JSON.stringify({ name: 'demo', phases }) });
  dist = join(project.root, 'dist');
  cpSync(dirname(CLI), dist, { recursive: true });
  for (const name of kept()) rmSync(join(dist, name));
});
afterEach(() => project.remove());

const kept = () => readdirSync(dist).filter((name) => /\.bin(\.|$)/.test(name));
const run = (...args: string[]) => {
  const env = cliEnvironment(project.root) as NodeJS.ProcessEnv;
  return spawnSync(process.execPath, [join(dist, 'taskflow.cjs'), ...args], {
    cwd: project.root,
    env,
    encoding: 'utf8',
  });
};

const NAME = /^([a-z]+)-[0-9a-f]{16}-v[\d.]+-\w+\.bin$/;

describe('compiled code that is kept beside the bundle', () => {
  it('is written by the first runs, each with what it needed besides, and then left as it is', () => {
    const again = () => expect(run('run', './flow.json', '-q').stdout).toBe('hi\n');
    const code = (pack: string) => readFileSync(join(dist, kept().find((name) => name.startsWith(pack))!));
    again();
    expect(kept().map((name) => NAME.exec(name)?.[1])).toEqual(['check', 'engine', 'process', 'start', 'world']);
    const before = new Map(kept().map((name) => [name, readFileSync(join(dist, name))]));
    again();
    // Answering an unchanged run takes functions that were not compiled before.
    const changed = kept().filter((name) => !before.get(name)!.equals(readFileSync(join(dist, name))));
    expect(changed.map((name) => NAME.exec(name)?.[1])).toEqual(['start']);
    for (let i = 0; i < 4; i++) again();
    const enough = code('start');
    again();
    expect([kept().length, code('start').equals(enough)]).toEqual([5, true]);
    // What the engine compiles to look something up was not needed when it was first run.
    const first = code('engine');
    expect(run('run', './flow.json', '-q', '--concurrency', '2').stdout).toBe('hi\n');
    expect(code('engine').length).toBeGreaterThan(first.length);
  });

  it('is good for every run, although the engine is told to work differently for large flows', () => {
    const phases = Array.from({ length: 220 }, (_, i) => ({ id: `p${i}`, type: 'script', run: ['true'] }));
    writeFileSync(join(project.root, 'large.json'), JSON.stringify({ name: 'large', phases }));
    const both = () => {
      for (const flow of ['./large.json', './flow.json'])
        expect(run('run', flow, '-q', '--concurrency', '4')).toMatchObject({ status: 0 });
    };
    for (let i = 0; i < 4; i++) both();
    const files = () => kept().map((name) => [name, statSync(join(dist, name)).ino]);
    const before = files().filter(([name]) => /^(engine|process)-/.test(String(name)));
    expect(before).toHaveLength(2);
    both();
    // Code that is refused would be compiled and kept again.
    expect(files()).toEqual(expect.arrayContaining(before));
  });

  it('never reaches the engine when it is damaged', () => {
    run('run', './flow.json', '-q');
    for (const name of kept()) {
      const path = join(dist, name);
      const good = readFileSync(path);
      const flipped = Buffer.from(good);
      flipped[Math.floor(good.length / 2)]! ^= 0xff;
      for (const damaged of [Buffer.alloc(0), good.subarray(0, 1_000), flipped, Buffer.from('garbage')]) {
        writeFileSync(path, damaged);
        expect(run('run', './flow.json', '-q', '--concurrency', '2')).toMatchObject({ status: 0, stdout: 'hi\n' });
      }
    }
  });
});
