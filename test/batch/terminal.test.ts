import { spawn, spawnSync } from 'node:child_process';
import { afterEach, expect, it } from 'vitest';
import { CLI, cliEnvironment, createTestProject, type TestProject } from '../support/cli.js';
import { topics } from './support.js';

let project: TestProject;
afterEach(() => project?.remove());

const hasScript = spawnSync('script', ['--version']).status === 0;

it.skipIf(!hasScript)('on a terminal a batch is one live bar, and leaves a summary', async () => {
  project = createTestProject({
    'flow.yaml': 'name: slow\nargs: { topic: {} }\nphases:\n  - { id: nap, type: script, run: [sleep, "0.15"] }\n',
    'topics.txt': `${topics(12)}`,
  });
  const line = `'${process.execPath}' '${CLI}' batch flow.yaml --over topics.txt --concurrency 4 --no-cache`;
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    cwd: project.root,
    env: { ...cliEnvironment(project.root), TERM: 'xterm-256color' } as NodeJS.ProcessEnv,
  });
  let screen = '';
  child.stdout.on('data', (chunk: Buffer) => {
    screen += chunk.toString('utf8');
  });
  const status = await new Promise((resolve) => child.on('close', resolve));
  expect(status).toBe(0);
  expect(screen).toMatch(/slow.* .*█.*░.* [1-9]\d? of 12 · .* left/);
  expect(screen).toMatch(/Topic \d+ .*nap/);
  const end = screen.slice(screen.lastIndexOf('\x1b[J'));
  expect(end).not.toMatch(/\x1b\[\d+A/);
  expect(end).toMatch(/✔.*slow.* after .*: 12 of 12 rows done/);
});
