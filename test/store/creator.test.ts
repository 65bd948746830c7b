import { hostname, userInfo } from 'node:os';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { creatorOf } from '../../src/store/creator.js';
import { createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
beforeEach(() => {
  project = createTestProject({
    'flow.json': JSON.stringify({
      name: 'f',
      phases: [
        {
          id: 'a',
          type: 'script',
          run: 'mkdir -p dist && echo x > dist/x.js && ln -s x.js dist/y.js && chmod 755 dist/x.js',
          outputs: ['dist/**'],
          cache: { scope: 'cross-run', fingerprint: [] },
        },
      ],
    }),
  });
});
afterEach(() => project.remove());

const GITHUB = {
  GITHUB_ACTIONS: 'true',
  GITHUB_REPOSITORY: 'us/it',
  GITHUB_RUN_ID: '77',
  GITHUB_JOB: 'audit',
  GITHUB_ACTOR: 'eve',
};

async function shown(env: Record<string, string> = {}): Promise<string> {
  expect((await project.run(['run', './flow.json'], { env })).status).toBe(0);
  const { stdout } = await project.run(['cache', 'list', '--json']);
  const [{ key }] = JSON.parse(stdout) as [{ key: string }];
  return (await project.run(['cache', 'show', key])).stdout;
}

test('cache show says who made a result and what it would restore', async () => {
  const text = await shown();
  expect(text).toMatch(new RegExp(`by +${userInfo().username}@${hostname()}, taskflow \\S+`));
  expect(text).toMatch(/restores +dist\/x\.js 755 /);
  expect(text).toMatch(/restores +dist\/y\.js link /);
});

test('in a CI job, which job', async () => {
  expect(await shown(GITHUB)).toMatch(/by +GitHub Actions us\/it run 77 job audit, eve, taskflow \S+/);
});

test('other systems, and a job that says little', () => {
  expect(creatorOf({ GITLAB_CI: 'true', CI_PROJECT_PATH: 'g/p', CI_JOB_ID: '5', CI_JOB_NAME: 'test' })).toMatchObject({
    ci: 'GitLab CI g/p job 5 test',
  });
  expect(creatorOf({ CI: 'true' })).toMatchObject({ ci: 'CI' });
  expect(creatorOf({ CI: 'false' })).toMatchObject({ host: hostname() });
});
