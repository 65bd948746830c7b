import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLI, cliEnvironment, createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
let dist: string;
beforeEach(() => {
  const phases = [{ id: 'a', type: 'script', run: ['echo', 'hi'] }];
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

describe('compiled code that is kept beside the bundle', () => {
  it('is written by a run, once, and used afterwards', () => {
    expect(run('run', './flow.json', '-q').stdout).toBe('hi\n');
    const [name, ...others] = kept();
    expect([name, others]).toEqual([expect.stringMatching(/^hot-path-[0-9a-f]{16}-v[\d.]+-\w+\.bin$/), []]);
    const bytes = readFileSync(join(dist, name!));
    expect(run('run', './flow.json', '-q').stdout).toBe('hi\n');
    expect(readFileSync(join(dist, name!)).equals(bytes)).toBe(true);
  });

  it('never reaches the engine when it is damaged', () => {
    run('run', './flow.json', '-q');
    const path = join(dist, kept()[0]!);
    const good = readFileSync(path);
    const flipped = Buffer.from(good);
    flipped[Math.floor(good.length / 2)]! ^= 0xff;
    for (const damaged of [Buffer.alloc(0), good.subarray(0, 1_000), flipped, Buffer.from('garbage')]) {
      writeFileSync(path, damaged);
      expect(run('run', './flow.json', '-q')).toMatchObject({ status: 0, stdout: 'hi\n' });
    }
  });
});
