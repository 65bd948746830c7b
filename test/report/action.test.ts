import { execFileSync, spawn } from 'node:child_process';
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
    GITHUB_STEP_SUMMARY: join(project.root, 'summary'),
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

interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}
const action = parse(readFileSync(join(ACTION, 'action.yml'), 'utf8'));
const steps = action.runs.steps as readonly Step[];

/** What the runner knows of a step in a composite action; anything else refuses the whole action. */
const OF_ANY = ['name', 'id', 'if', 'env', 'continue-on-error'];
const OF_RUN = [...OF_ANY, 'run', 'shell', 'working-directory'];
const OF_USES = [...OF_ANY, 'uses', 'with'];
/** As `actions/upload-artifact` declares them. */
const UPLOAD = { inputs: ['name', 'path'], outputs: ['artifact-id', 'artifact-url', 'artifact-digest'] };

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

  it('keeps the page as an artifact, and links to it below the table of the run', async () => {
    project = createTestProject({ 'flow.yaml': FLOW });
    await step({ FLOW: 'flow.yaml', ARGS: 'name=Zaphod', REPORT: 'no-outputs' });
    const upload = steps.find(({ uses }) => uses?.startsWith('actions/upload-artifact@'))!;
    expect(Object.keys(upload.with!)).toEqual(UPLOAD.inputs);
    expect(upload).toMatchObject({ id: 'report', if: "always() && steps.run.outputs.report != ''" });
    expect(upload.with!['path']).toBe('${{ steps.run.outputs.report }}');
    expect(existsSync(outputs()['report']!)).toBe(true);
    const link = steps.find(({ env }) => env?.['REPORT_URL'] !== undefined)!;
    expect(steps.indexOf(link)).toBeGreaterThan(steps.indexOf(upload));
    expect(link.env!['REPORT_URL']).toBe('${{ steps.report.outputs.artifact-url }}');
    const summary = join(project.root, 'summary');
    const table = readFileSync(summary, 'utf8');
    expect(table).toContain('hello');
    const url = 'https://github.com/o/r/actions/runs/1/artifacts/2';
    execFileSync('bash', ['-e', '-o', 'pipefail', '-c', link.run!], {
      env: { PATH: process.env['PATH'], REPORT_URL: url, GITHUB_STEP_SUMMARY: summary },
    });
    expect(readFileSync(summary, 'utf8')).toBe(
      `${table}[report.html](${url}): why each phase ran, and what it cost\n\n`,
    );
  });

  it('has only what the runner knows, and names only inputs, steps and outputs that there are', async () => {
    project = createTestProject({ 'flow.yaml': FLOW });
    await step({ FLOW: 'flow.yaml', ARGS: 'name=x', REPORT: 'full' });
    expect(action.runs.using).toBe('composite');
    for (const each of steps) {
      const known = each.run === undefined ? OF_USES : OF_RUN;
      expect(Object.keys(each).filter((name) => !known.includes(name))).toEqual([]);
      if (each.run !== undefined) expect(each).toHaveProperty('shell', 'bash');
      expect(each.uses ?? '').not.toContain('${{');
    }
    const made: Readonly<Record<string, readonly string[]>> = { run: Object.keys(outputs()), report: UPLOAD.outputs };
    const named = [...JSON.stringify(action).matchAll(/steps\.([\w-]+)\.outputs\.([\w-]+)/g)];
    expect(named.length).toBeGreaterThan(6);
    for (const [, id, output] of named) expect(made[id!]).toContain(output);
    for (const [, input] of JSON.stringify(steps).matchAll(/inputs\.([\w-]+)/g))
      expect(Object.keys(action.inputs)).toContain(input);
  });

  it('hands every input to the step, declares every output of it, and pins what it uses', () => {
    const script = readFileSync(join(ACTION, 'run.sh'), 'utf8');
    const run = steps.find(({ id }) => id === 'run')!;
    for (const name of Object.keys(run.env!)) expect(script).toContain(name);
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
