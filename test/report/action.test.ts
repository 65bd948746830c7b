import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { cliEnvironment, createTestProject, type TestProject } from '../support/cli.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ACTION = join(ROOT, '.github/actions/taskflow');

let project: TestProject;
afterEach(() => project?.remove());

/** Runs the action's step as the runner does: inputs in the environment, outputs in a file. */
function step(inputs: Readonly<Record<string, string>>): Promise<{ status: number | null; stderr: string }> {
  const variables = Object.fromEntries(Object.entries(inputs).map(([name, value]) => [`TASKFLOW_${name}`, value]));
  const env = cliEnvironment(project.root, {
    ...variables,
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_OUTPUT: join(project.root, 'outputs'),
    RUNNER_TEMP: project.root,
  });
  return new Promise((resolve) => {
    const child = spawn(join(ACTION, 'run.sh'), { cwd: project.root, env: env as NodeJS.ProcessEnv });
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.on('close', (status) => resolve({ status, stderr }));
  });
}

function outputs(): Record<string, string> {
  const lines = readFileSync(join(project.root, 'outputs'), 'utf8').trimEnd().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
}

const FLOW = `name: greet
args: { name: {} }
phases:
  - id: hello
    type: script
    run: [echo, "hello {args.name}"]
    cache: { scope: cross-run, fingerprint: [] }
`;

describe('the action for GitHub workflows', () => {
  it('runs a flow with arguments exactly as they are, and reports to the job what happened', async () => {
    project = createTestProject({ 'my flow.yaml': FLOW });
    const name = `$(touch hacked) "q" 'x' ; & é`;
    const first = await step({
      FLOW: 'my flow.yaml',
      ARGS: `\nname=${name}\n`,
      JUNIT: 'r.xml',
      FLAGS: '--keep-going\n',
    });
    expect(first).toMatchObject({ status: 0 });
    expect(outputs()).toMatchObject({ status: 'success', executed: '1', reused: '0' });
    expect(JSON.parse(readFileSync(outputs()['result']!, 'utf8')).output).toBe(`hello ${name}`);
    expect(existsSync(join(project.root, 'hacked'))).toBe(false);
    expect(existsSync(join(project.root, 'r.xml'))).toBe(true);

    await step({ FLOW: 'my flow.yaml', ARGS: `name=${name}`, FROZEN: 'true' });
    expect(outputs()).toMatchObject({ executed: '0', reused: '1' });
    expect(await step({ FLOW: 'my flow.yaml', ARGS: 'name=other', FROZEN: 'true' })).toMatchObject({ status: 6 });
  });

  it('writes the page of the run for an artifact: without contents unless they are asked for', async () => {
    project = createTestProject({ 'flow.yaml': FLOW });
    const page = () => readFileSync(outputs()['report']!, 'utf8');
    expect((await step({ FLOW: 'flow.yaml', ARGS: 'name=Zaphod', REPORT: 'no-outputs' })).status).toBe(0);
    expect(page()).toContain(outputs()['run-id']);
    expect(page()).not.toContain('Zaphod');
    await step({ FLOW: 'flow.yaml', ARGS: 'name=Zaphod', REPORT: 'full' });
    expect(page()).toContain('Zaphod');
    await step({ FLOW: 'flow.yaml', ARGS: 'name=Zaphod', REPORT: 'false' });
    expect(outputs()['report']).toBe('');
    // A flow that does not even start has no page, and keeps its status.
    expect((await step({ FLOW: 'none.yaml', REPORT: 'full' })).status).toBe(2);
  });

  it('runs a batch, and passes the status on', async () => {
    project = createTestProject({ 'flow.yaml': FLOW, 'names.txt': 'a\nb\n' });
    expect((await step({ FLOW: 'flow.yaml', OVER: 'names.txt', OUT: 'out' })).status).toBe(0);
    expect(readFileSync(join(project.root, 'out/a.md'), 'utf8')).toBe('hello a\n');
    expect((await step({ FLOW: 'flow.yaml', OVER: 'none.txt' })).status).toBe(2);
  });

  it('hands every input to the step, declares every output of it, and pins what it uses', () => {
    const action = parse(readFileSync(join(ACTION, 'action.yml'), 'utf8'));
    const script = readFileSync(join(ACTION, 'run.sh'), 'utf8');
    const run = action.runs.steps.find(({ id }: { id?: string }) => id === 'run');
    for (const name of Object.keys(run.env)) expect(script).toContain(name);
    const given = JSON.stringify(action.runs.steps);
    for (const name of Object.keys(action.inputs)) expect(given).toContain(`inputs.${name}`);
    // An input inside of the text of a command would be code.
    expect(run.run).not.toContain('inputs.');
    const files = ['.github/actions/taskflow/action.yml', '.github/workflows/ci.yml', '.github/examples/taskflow.yml'];
    for (const file of files) {
      const uses = [...readFileSync(join(ROOT, file), 'utf8').matchAll(/uses: (\S+)/g)].map(([, name]) => name!);
      const foreign = uses.filter((name) => name.startsWith('actions/'));
      expect(foreign.filter((name) => !/@[0-9a-f]{40}$/.test(name))).toEqual([]);
    }
    expect(readFileSync(join(ROOT, '.github/workflows/ci.yml'), 'utf8')).toContain('run: .ci/run');
  });
});
