import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';

const folder = fileURLToPath(new URL('node_modules', import.meta.url));
const nodes = readdirSync(folder)
  .map((name) => ({ name, node: join(folder, name, 'bin/node') }))
  .filter(({ node }) => existsSync(node));

/** Enough for several of them to run at a time. */
const PHASES = 120;
const flow = JSON.stringify({
  name: 'fan',
  phases: Array.from({ length: PHASES }, (_, i) => ({
    id: `p${i}`,
    type: 'script',
    run: `echo p${i} >> ran.log; echo note > /dev/stderr; cat in/p${i}.txt > /dev/stdout`,
    cache: { scope: 'cross-run', fingerprint: [`file:in/p${i}.txt`], observe: { exclude: ['ran.log'] } },
  })),
});

let project: TestProject;
beforeEach(() => {
  project = createTestProject({ 'flow.json': flow });
  for (let i = 0; i < PHASES; i += 1) project.write(`in/p${i}.txt`, `text ${i}\n`);
});
afterEach(() => project.remove());

const executions = () => {
  const path = join(project.root, 'ran.log');
  return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n').length : 0;
};

it('there are some', () => {
  expect(nodes.map(({ name }) => name)).toEqual(process.platform === 'linux' ? ['node-22', 'node-24', 'node-26'] : []);
});

describe.each(nodes)('$name', ({ node }) => {
  const run = () => project.run(['run', './flow.json'], { node });

  it('runs a large flow, reuses what has not changed, and says nothing that is not its own', async () => {
    const cold = await run();
    expect(cold).toMatchObject({ status: 0, stdout: `text ${PHASES - 1}\n` });
    const own = /^(?:fan \S+|▸ p\d+.*|✔ p\d+ .*|✔ fan succeeded .*: 120 executed, 0 reused| {2}spent .*|)$/;
    expect(cold.stderr.split('\n').filter((line) => !own.test(line))).toEqual([]);
    expect(executions()).toBe(PHASES);
    expect((await run()).status).toBe(0);
    expect(executions()).toBe(PHASES);
    project.write('in/p7.txt', 'edited\n');
    expect((await run()).status).toBe(0);
    expect(executions()).toBe(PHASES + 1);
  });

  it('keeps its compiled code and uses it', async () => {
    // Beside the project: code that comes with a project is not believed.
    const cache = mkdtempSync(join(tmpdir(), 'taskflow-user-cache-'));
    const code = join(cache, 'taskflow/code');
    const kept = () =>
      readdirSync(code, { recursive: true, encoding: 'utf8' })
        .map((file) => ({ file, stat: statSync(join(code, file)) }))
        .filter(({ stat }) => stat.isFile())
        .map(({ file, stat }) => `${file} ${stat.mtimeMs}`);
    const runKeeping = () => project.run(['run', './flow.json'], { node, env: { XDG_CACHE_HOME: cache } });
    expect((await runKeeping()).status).toBe(0);
    const before = kept();
    expect(before.length).toBeGreaterThan(0);
    project.write('in/p7.txt', 'edited\n');
    expect((await runKeeping()).status).toBe(0);
    expect(kept()).toEqual(before);
  });
});
