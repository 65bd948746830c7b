import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
beforeEach(() => {
  project = createTestProject({
    'flow.json': JSON.stringify({
      name: 'f',
      phases: [
        { id: 'one', type: 'script', run: 'echo 1' },
        { id: 'two', type: 'script', run: 'echo 2' },
        { id: 'send', type: 'script', run: 'echo sent', idempotent: false },
        { id: 'post', type: 'script', run: 'test -f go', dependsOn: ['one', 'two', 'send'] },
      ],
    }),
  });
});
afterEach(() => project.remove());

interface Phase {
  readonly id: string;
  readonly cacheHit: string | null;
}

async function executed(): Promise<string[]> {
  const { stdout } = await project.run(['run', './flow.json', '--json']);
  const { phases } = JSON.parse(stdout) as { phases: Phase[] };
  return phases.filter((phase) => phase.cacheHit === null).map((phase) => phase.id);
}

test('a continued run does not reuse a cleared phase; an effect that took place stays done', async () => {
  expect(await executed()).toEqual(['one', 'two', 'send', 'post']);
  expect(await executed(), 'the rest is continued').toEqual(['post']);
  for (const phase of ['one', 'send']) {
    const cleared = await project.run(['cache', 'clear', './flow.json', '--phase', phase]);
    expect(cleared.status, cleared.stderr).toBe(0);
  }
  const looked = JSON.parse((await project.run(['run', './flow.json', '--dry-run', '--json'])).stdout) as {
    phases: { id: string; would: string }[];
  };
  expect(looked.phases.map(({ id, would }) => `${id} ${would}`)).toEqual(
    expect.arrayContaining(['one run', 'two reuse', 'send reuse']),
  );
  expect(await executed()).toEqual(['one', 'post']);
  expect(await executed(), 'what was made since is continued again').toEqual(['post']);
  await project.run(['cache', 'clear', './flow.json', '--older-than', '1h']);
  expect(await executed(), 'nothing is as old as that').toEqual(['post']);
  await project.run(['cache', 'clear', './flow.json', '--phase', 'one', '--dry-run']);
  expect(await executed(), 'a dry run clears nothing').toEqual(['post']);
});
