import { afterEach, beforeEach, expect, it } from 'vitest';
import { observeSupport } from '../../src/observe/support.js';
import { createTestProject, type TestProject } from '../support/cli.js';

const env = { PATH: process.env['PATH'] };
const canTrace = 'strace' in (await observeSupport({ root: '/nowhere', home: '/nowhere', env }));

const FLOW = `name: f
phases:
  - {id: a, type: script, run: [cat, in/x.txt, in/y.txt], cache: {scope: cross-run, fingerprint: []}}
  - {id: b, type: script, run: [sh, -c, 'date +%s%N'], cache: {scope: cross-run, fingerprint: []}}
`;

let project: TestProject;
beforeEach(async () => {
  project = createTestProject({ 'flow.yaml': FLOW, 'in/x.txt': 'x\n', 'in/y.txt': 'y\n' });
  expect((await project.run(['run', 'flow.yaml'])).status).toBe(0);
});
afterEach(() => project.remove());

it.runIf(canTrace)('cache inputs lists what was read and suggests what to declare', async () => {
  const { stdout } = await project.run(['cache', 'inputs', 'flow.yaml', 'a']);
  expect(stdout).toMatch(/not declared +read +in\/x\.txt/);
  const suggested = await project.run(['cache', 'inputs', 'flow.yaml', 'a', '--suggest']);
  expect(suggested.stdout).toBe('fingerprint:\n  - "glob:in/*.txt"\n');
  const { stdout: json } = await project.run(['cache', 'inputs', 'flow.yaml', 'a', '--json']);
  expect(JSON.parse(json)).toMatchObject({ complete: true, reads: ['in/x.txt', 'in/y.txt'] });
});

it.runIf(canTrace)('check --observed warns of it, and with --strict fails', async () => {
  const warned = await project.run(['check', 'flow.yaml', '--observed']);
  expect([warned.status, warned.stdout]).toEqual([0, expect.stringContaining('"a" looked at in/x.txt and 1 more')]);
  expect((await project.run(['check', 'flow.yaml', '--observed', '--strict'])).status).toBe(2);
});

it('audit executes nothing where nobody says yes, and tells the same from the different', async () => {
  expect((await project.run(['audit', 'flow.yaml', '--sample', '100%'])).status).toBe(2);
  const audited = await project.run(['audit', 'flow.yaml', '--sample', '100%', '--yes', '--json']);
  expect(audited.status).toBe(1);
  expect(JSON.parse(audited.stdout)).toMatchObject([
    {
      hits: 2,
      audited: [
        { phase: 'a', result: 'same' },
        { phase: 'b', result: 'different' },
      ],
    },
  ]);
  // Nothing of it was kept: the next run still has what it had.
  expect((await project.run(['run', 'flow.yaml', '--json'])).stdout).toContain('"crossRun":2');
});
