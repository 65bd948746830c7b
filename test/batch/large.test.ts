import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { openStore } from '../../src/store/disk-store.js';
import { systemClock } from '../../src/util/clock.js';
import { CLI, cliEnvironment, createTestProject, type TestProject } from '../support/cli.js';
import { effort } from '../support/effort.js';
import { executions, topics } from './support.js';

let project: TestProject;
afterEach(() => project?.remove());

const ROWS = effort(1_000, 10_000);
/** 60 MB of outputs in all. */
const KEPT = `kept ${'x'.repeat(60_000_000 / ROWS)}`;
const FLOW = `name: large
args: { topic: {} }
phases:
  - { id: setup, type: script, run: 'echo x >> setup.count; echo ready' }
  - id: work
    type: script
    run: [sh, -c, 'echo x >> work.count', "{args.topic}"]
    input: "{steps.setup.output}"
    cache: { scope: cross-run, fingerprint: [] }
`;
const ARGS = ['batch', 'flow.yaml', '--over', 'topics.txt', '--quiet'];

it('runs a thousand cached topics and more in bounded memory, and executes only what is not cached', async () => {
  project = createTestProject({ 'flow.yaml': FLOW, 'topics.txt': topics(ROWS) });
  // Nothing may run: every row says which key it would have had.
  expect((await project.run([...ARGS, '--frozen'])).status).toBe(6);
  expect(fillStore()).toBe(ROWS);

  // Outputs of 60 MB go through a heap of 48: whoever held on to them would not get to the end.
  const { status, stdout } = await runWithHeap(48, [...ARGS, '--out', 'out', '--json']);
  expect(status).toBe(0);
  const result = JSON.parse(stdout);
  expect(result).toMatchObject({ total: ROWS, done: ROWS, failed: 0, reuse: { executed: 1, crossRun: ROWS } });
  expect(result.rows.at(-1)).toMatchObject({ output: KEPT, args: { topic: `Topic ${ROWS}` } });
  expect(executions(project, 'work.count')).toBe(0);
  expect(executions(project, 'setup.count')).toBe(2);
  expect(readdirSync(join(project.root, 'out'))).toHaveLength(ROWS + 2);
}, 180_000);

it('keeps no prompt of a map in memory once the journal has it', async () => {
  const big = `{ id: big, type: script, run: [sh, -c, 'head -c 900000 /dev/zero | tr "\\0" x'] }`;
  const items = Array.from({ length: 120 }, (_, index) => index).join(', ');
  const each = `{ id: each, type: map, over: [${items}], task: "{item} {steps.big.output}" }`;
  project = createTestProject({
    'flow.yaml': `name: prompts\nphases:\n  - ${big}\n  - ${each}\n`,
    '.pi/taskflows/config.yaml':
      'runner: deaf\nrunners:\n  deaf: { command: [sh, -c, "cat > /dev/null; echo heard"], format: text }\n',
  });
  // Prompts of 108 MB go through a heap of 64.
  const { status, stdout } = await runWithHeap(64, ['run', './flow.yaml', '--json', '--concurrency', '4']);
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ status: 'success', reuse: { executed: 2 } });
}, 120_000);

/** Puts a result under each of the keys that the frozen batch asked for. */
function fillStore(): number {
  const clock = systemClock;
  const store = openStore({
    dir: join(project.root, '.pi/taskflows/cache'),
    project: { root: project.root, home: project.root, env: {}, clock },
    limits: { maxBytes: 1024 ** 3, maxEntries: 200_000, maxAgeMs: 1e12 },
  });
  const runs = join(project.root, '.pi/taskflows/runs');
  const [runId] = readdirSync(runs).filter((name) => /^\d/.test(name));
  const lines = readFileSync(join(runs, runId!, 'journal.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');
  let stored = 0;
  for (const text of lines) {
    const line = JSON.parse(text);
    if (line.type !== 'phase' || !line.phase.endsWith('/work')) continue;
    const put = store.put({
      format: 1,
      key: line.key,
      identity: line.identity,
      createdAt: clock.now(),
      creator: { taskflow: 'test' },
      runId: runId!,
      flow: 'large',
      phase: 'work',
      output: { text: KEPT, json: null },
      files: [],
      usage: { inputTokens: 10, cachedInputTokens: 0, outputTokens: 10, usd: 0.01 },
      durationMs: 1_000,
    });
    if (put.stored) stored += 1;
  }
  return stored;
}

function runWithHeap(mebibytes: number, args: readonly string[]) {
  return new Promise<{ status: number | null; stdout: string }>((resolve) => {
    const child = spawn(process.execPath, [`--max-old-space-size=${mebibytes}`, CLI, ...args], {
      cwd: project.root,
      env: cliEnvironment(project.root) as NodeJS.ProcessEnv,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const out: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.on('close', (status) => resolve({ status, stdout: Buffer.concat(out).toString() }));
  });
}
