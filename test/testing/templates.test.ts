import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { TEMPLATES } from '../../src/cli/templates/templates.js';
import { localModel } from '../flows/support.js';
import { createTestProject } from '../support/cli.js';
import { startModelServer } from '../support/model-server.js';

it('the test that `taskflow new` writes passes once it is recorded, and then without a call', async () => {
  const server = await startModelServer();
  const project = createTestProject({ '.pi/taskflows/config.yaml': localModel(server.url, 'scripted') });
  execFileSync('git', ['init', '-q'], { cwd: project.root });
  for (const { name } of TEMPLATES) await project.run(['new', `my-${name}`, '--template', name]);
  server.script = ({ prompt }) => ({
    text: prompt.includes('VERDICT') ? 'VERDICT: PASS' : prompt.includes('FINISHED') ? 'FINISHED' : 'An answer.',
  });
  const recorded = await project.run(['test', '--update']);
  expect([recorded.stdout, recorded.status]).toEqual([expect.stringContaining('15 passed'), 0]);
  expect(server.calls.length).toBeGreaterThan(8);
  server.reset();
  const replayed = await project.run(['test']);
  expect([replayed.stdout, replayed.status]).toEqual([expect.stringContaining('15 passed'), 0]);
  expect(server.calls).toHaveLength(0);
  // Tests are no flows.
  const { stdout } = await project.run(['list', '--json']);
  expect(stdout).not.toContain('.test');
  project.remove();
  await server.close();
}, 180_000);
