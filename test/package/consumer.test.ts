import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cliEnvironment, createTestProject, INSTALLED, type TestProject } from '../support/cli.js';

const OURS = fileURLToPath(new URL('../../node_modules', import.meta.url));

let project: TestProject;
beforeEach(() => {
  project = createTestProject({ 'package.json': '{ "private": true, "type": "module" }' });
  symlinkSync(join(INSTALLED, 'node_modules'), join(project.root, 'node_modules'));
});
afterEach(() => project.remove());

function node(...args: string[]) {
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    cwd: project.root,
    env: cliEnvironment(project.root) as NodeJS.ProcessEnv,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('a program of somebody who has installed the package', () => {
  const flow = { name: 'ask', args: { topic: {} }, phases: [{ id: 'a', task: 'About {args.topic}', runner: 'mine' }] };

  it('runs a flow once and over rows, with a runner of its own', () => {
    project.write('flow.json', JSON.stringify(flow));
    project.write(
      'program.js',
      `
      import { FlowError, loadFlow, openProject, RowsError, runBatch, runFlow } from 'taskflow-cli';
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
        unknown, bad, one: one.output, status: batch.status,
        rows: batch.rows.map(({ row }) => batch.outputOf(row).text),
        types: [...types].filter((type) => type.startsWith('row')),
      }));
    `,
    );
    const { status, stdout, stderr } = node('program.js');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      unknown: true,
      bad: true,
      one: 'ABOUT ONE',
      status: 'success',
      rows: ['ABOUT CATS', 'ABOUT DOGS'],
      types: ['row-start', 'row-end'],
    });
  });

  it('says which version made a result, as the command does', () => {
    const phase = { id: 'a', type: 'script', run: ['echo', 'x'], cache: { scope: 'cross-run', fingerprint: [] } };
    project.write('flow.json', JSON.stringify({ name: 'versions', phases: [phase] }));
    project.write(
      'program.js',
      `
      import { loadFlow, openProject, runFlow } from 'taskflow-cli';
      import about from 'taskflow-cli/package.json' with { type: 'json' };
      const project = openProject('.');
      const { status } = await runFlow(project, await loadFlow(project, './flow.json')).result;
      console.log(status, about.version);
    `,
    );
    const [status, version] = node('--no-warnings', 'program.js').stdout.trim().split(' ');
    expect(status).toBe('success');
    const [entry] = JSON.parse(node(bin(), 'cache', 'list', '--json').stdout);
    expect(JSON.parse(node(bin(), 'cache', 'show', entry.key, '--json').stdout)).toMatchObject({
      creator: { taskflow: version },
    });
    expect(node(bin(), '--version').stdout).toBe(`${version}\n`);
  });
});

const bin = () => join(project.root, 'node_modules/.bin/taskflow');

describe('types', () => {
  const consumer = (model: string) => `
    import { type Config, type Diagnostic, FlowError, type GivenConfig, KINDS, type Kind, loadFlow, openProject,
      type PhaseResult, type RunEvent, type RunResult, runBatch, runFlow } from 'taskflow-cli';
    const config: GivenConfig = { runners: { mine: { type: 'openai', baseUrl: 'http://x', model: ${model} } } };
    export async function run(): Promise<readonly string[]> {
      const project = openProject('.');
      try {
        const { events, result } = runFlow(project, await loadFlow(project, './flow.json', { config }));
        for await (const event of events) told(event);
        const { phases, status }: RunResult = await result;
        const batch = await runBatch(project, await loadFlow(project, 'x'), [{ topic: 1 }]).result;
        return [status, batch.status, ...phases.map(({ id, output }: PhaseResult) => id + String(output))];
      } catch (error) {
        if (error instanceof FlowError) return error.diagnostics.map(({ message }: Diagnostic) => message);
        throw error;
      }
    }
    function told(event: RunEvent): string {
      return event.type === 'phase-end' ? event.outcome.status : event.runId;
    }
    export const kinds: readonly Kind[] = KINDS;
    export const settings = (given: Config): string | undefined => given.runner;
  `;
  const check = (options: object, text: string) => {
    const compilerOptions = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true };
    const target = { target: 'es2022', lib: ['es2022'], types: ['node'], typeRoots: [join(OURS, '@types')] };
    project.write('tsconfig.json', JSON.stringify({ compilerOptions: { ...compilerOptions, ...target, ...options } }));
    project.write('consumer.ts', text);
    return node(join(OURS, 'typescript/bin/tsc'), '-p', '.');
  };
  const ways = [
    { module: 'node16', moduleResolution: 'node16' },
    { module: 'esnext', moduleResolution: 'bundler' },
  ];

  it.each(ways)('are there for a strict consumer with $module and $moduleResolution', (options) => {
    expect(check(options, consumer("'m'"))).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  it.each(ways)('say what is wrong to a consumer with $moduleResolution', (options) => {
    const { status, stdout } = check(options, consumer('7'));
    expect(stdout).toContain("Type 'number' is not assignable to type 'string'");
    expect(status).not.toBe(0);
  });
});
