import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';
import { linesOf } from '../support/live-cli.js';

let project: TestProject;
beforeEach(() => {
  project = createTestProject();
});
afterEach(() => project.remove());

const executions = () => linesOf(join(project.root, 'log')).length;
const run = async (phase: object, ...flags: string[]) => {
  project.write('flow.json', JSON.stringify({ name: 'one', phases: [{ id: 'a', type: 'script', ...phase }] }));
  return (await project.run(['run', './flow.json', ...flags])).status;
};

describe('a flag that does for one run what the flow could say for all', () => {
  it('--incremental: what is unchanged is reused by the next run with it, and by no other', async () => {
    const phase = { run: 'echo ran >> log', cache: { fingerprint: [], observe: 'off' } };
    expect([await run(phase, '--incremental'), executions()]).toEqual([0, 1]);
    expect([await run(phase, '--incremental'), executions()]).toEqual([0, 1]);
    expect([await run(phase), executions()]).toEqual([0, 2]);
  });

  it('--retries: so many more attempts, and none without it', async () => {
    const phase = { run: 'echo ran >> log; test "$(wc -l < log)" -ge 3' };
    expect([await run(phase), executions()]).toEqual([1, 1]);
    expect([await run(phase, '--retries', '1'), executions()]).toEqual([0, 3]);
  });
});
