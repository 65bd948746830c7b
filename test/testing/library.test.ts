import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { FlowError, loadFlow, openProject, recorded, runFlow, testFlow } from '../../src/index.js';
import type { TestProject } from '../support/cli.js';
import { type ModelServer, startModelServer } from '../support/model-server.js';
import { answer, createReview } from './support.js';

let server: ModelServer;
let project: TestProject;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
afterEach(() => {
  project.remove();
  server.reset();
});

it('testFlow records and replays; recorded() answers runs of another test framework', async () => {
  project = createReview(server.url);
  server.script = answer;
  const opened = openProject(project.root);
  const missing = await testFlow(opened, 'flows/review.test.yaml');
  expect(missing).toMatchObject({ status: 'failed', failed: 1, skipped: 1, recordings: { made: 0 } });
  expect(server.calls).toHaveLength(0);
  const made = await testFlow(opened, 'flows/review.test.yaml', { mode: 'record' });
  expect(made).toMatchObject({ status: 'passed', passed: 2, recordings: { made: 7, usd: null } });
  server.reset();
  const again = await testFlow(opened, 'flows/review.test.yaml', { only: 'two files' });
  expect(again).toMatchObject({ status: 'passed', passed: 1, recordings: { made: 0, unused: [] } });

  const agent = await recorded(`${project.root}/flows/recordings/review`);
  const flow = await loadFlow(opened, './flows/review.yaml');
  const result = await runFlow(opened, flow, { resolveRunner: agent.resolveRunner }).result;
  expect([result.status, result.output.split('\n')[0], agent.calls]).toEqual(['success', '# Summary', 4]);
  // Those of the second case: its note, its summary, its gate.
  expect(agent.unused).toHaveLength(3);
  project.write('src/c.txt', 'four');
  const failed = await runFlow(opened, flow, { resolveRunner: agent.resolveRunner }).result;
  expect(failed.status).toBe('failed');
  expect(agent.unrecorded.map(({ title }) => title)).toEqual(['Note c.txt in a plain tone.']);
  expect(server.calls).toHaveLength(0);
});

it('testFlow throws FlowError with all diagnostics', async () => {
  project = createReview(server.url, { 'flows/review.test.yaml': 'flow: ./review.yaml\ncases: []\n' });
  const thrown = await testFlow(openProject(project.root), 'flows/review.test.yaml').catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(FlowError);
  expect((thrown as FlowError).message).toBe('flows/review.test.yaml:2:8: "cases" needs at least one entry');
});
