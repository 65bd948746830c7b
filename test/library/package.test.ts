import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cliEnvironment, createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
beforeEach(() => {
  project = createTestProject();
  mkdirSync(join(project.root, 'node_modules'));
  symlinkSync(fileURLToPath(new URL('../..', import.meta.url)), join(project.root, 'node_modules/taskflow'));
});
afterEach(() => project.remove());

/** A program of somebody who has installed the package. */
function runProgram(text: string): unknown {
  project.write('program.mjs', text);
  const { stdout, stderr, status } = spawnSync(process.execPath, ['program.mjs'], {
    cwd: project.root,
    env: cliEnvironment(project.root) as NodeJS.ProcessEnv,
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout);
}

it('the built package runs a flow over rows, with a runner of the program’s own', () => {
  const flow = { name: 'ask', args: { topic: {} }, phases: [{ id: 'a', task: 'About {args.topic}', runner: 'mine' }] };
  project.write('flow.json', JSON.stringify(flow));
  const told = runProgram(`
    import { FlowError, loadFlow, openProject, RowsError, runBatch, runFlow } from 'taskflow';
    const project = openProject('.');
    const config = { runners: { mine: { type: 'command', command: ['tr', 'a-z', 'A-Z'], format: 'text' } } };
    const unknown = await loadFlow(project, './flow.json').catch((error) => error instanceof FlowError);
    const flow = await loadFlow(project, './flow.json', { config });
    const one = await runFlow(project, flow, { args: { topic: 'one' } }).result;
    const { events, result } = runBatch(project, flow, ['cats', { topic: 'dogs' }]);
    const types = new Set();
    for await (const { type } of events) types.add(type);
    const batch = await result;
    const bad = await runBatch(project, flow, [null]).result.catch((error) => error instanceof RowsError);
    console.log(JSON.stringify({
      unknown, bad, one: one.output, status: batch.status, rows: batch.rows.map(({ row }) => batch.outputOf(row).text),
      types: [...types].filter((type) => type.startsWith('row')),
    }));
  `);
  expect(told).toEqual({
    unknown: true,
    bad: true,
    one: 'ABOUT ONE',
    status: 'success',
    rows: ['ABOUT CATS', 'ABOUT DOGS'],
    types: ['row-start', 'row-end'],
  });
});
