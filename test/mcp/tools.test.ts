import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';
import { connectMcp, type Era, type McpClient } from '../support/mcp.js';

let project: TestProject;
let mcp: McpClient;

const linesOf = (file: string) => {
  const path = join(project.root, file);
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0;
};
const json = async (...args: string[]) => JSON.parse((await project.run([...args, '--json'])).stdout);

const FLOW = {
  name: 'demo',
  description: 'Says hello',
  args: { topic: { default: 'world' }, list: { type: 'json', default: [] } },
  phases: [
    {
      id: 'say',
      type: 'script',
      run: ['sh', '-c', 'echo x >> said; echo "hello $0"', '{args.topic}'],
      cache: { scope: 'cross-run', fingerprint: [], observe: { exclude: ['said'] } },
    },
    { id: 'after', type: 'script', run: ['echo', 'after {steps.say.output}'] },
  ],
};

beforeEach(() => {
  project = createTestProject({ '.pi/taskflows/demo.json': JSON.stringify(FLOW) });
});
afterEach(async () => {
  await mcp?.close();
  project.remove();
});

describe.each(['legacy', 'modern'] as Era[])('a client of the %s era', (era) => {
  beforeEach(async () => {
    mcp = await connectMcp({ cwd: project.root, era });
    expect(mcp.client.getProtocolEra()).toBe(era);
  });

  it('runs a flow with progress, and reads how it went', async () => {
    const progress: string[] = [];
    const ran = await mcp.call('run_flow', { flow: 'demo', args: { topic: 'sea' } }, (line) => progress.push(line));
    expect(ran.value).toMatchObject({ state: 'success', flow: 'demo' });
    expect(ran.value.phases.map(({ output }: { output: { text: string } }) => output.text)).toEqual([
      'hello sea',
      'after hello sea',
    ]);
    expect(JSON.parse(ran.text)).toEqual(ran.value);
    expect(progress).toEqual([
      expect.stringMatching(/^0.5\/2 say runs: first time/),
      expect.stringMatching(/^1\/2 say done/),
      expect.stringMatching(/^1.5\/2 after runs/),
      expect.stringMatching(/^2\/2 after done/),
    ]);
    expect((await mcp.call('run_flow', { flow: 'demo', args: { topic: 'sea' } })).value.phases[0]).toMatchObject({
      cacheHit: 'cross-run',
    });
    expect(linesOf('said')).toBe(1);
  });

  it('has every tool, with schemas, and says which of them only look', async () => {
    const { tools } = await mcp.client.listTools();
    const looking = tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name);
    expect(looking.sort()).toEqual([
      'cache_status',
      'check_flow',
      'explain_phase',
      'list_flows',
      'plan_flow',
      'run_status',
      'trace_run',
      'wait_run',
    ]);
    const destroying = tools.filter(({ annotations }) => annotations?.destructiveHint).map(({ name }) => name);
    expect(destroying.sort()).toEqual(['approve', 'cache_clear', 'cancel_run', 'resume_run', 'run_flow']);
    expect(tools.map(({ name }) => name)).toContain('assemble');
    for (const { title, description, inputSchema, outputSchema } of tools) {
      expect([title, description, inputSchema.type, outputSchema?.type]).toEqual([
        expect.any(String),
        expect.any(String),
        'object',
        'object',
      ]);
    }
  });
});

interface Shown extends Record<string, unknown> {
  readonly output: { readonly text: string };
}

describe('an answer', () => {
  beforeEach(async () => {
    mcp = await connectMcp({ cwd: project.root });
  });

  it('is that of the command', async () => {
    await mcp.call('run_flow', { flow: 'demo' });
    const answers = async (name: string, args: object) => (await mcp.call(name, args as never)).value;
    const { next: _next, ...status } = await answers('run_status', { run: 'last' });
    const { phases, ...shown } = await json('runs', 'show', 'last');
    // Without what an agent pays for and cannot use: keys, and what is nothing.
    const useful = phases.map(({ key: _key, cacheHit: _hit, files: _files, usage: _usage, ...phase }: Shown) => {
      return { ...phase, output: { text: phase.output.text } };
    });
    expect(status).toEqual({ ...shown, phases: useful });
    expect((await answers('list_flows', {})).flows).toEqual(await json('list'));
    expect((await answers('check_flow', { flow: 'demo' })).problems).toEqual(await json('check', 'demo'));
    expect(await answers('trace_run', { run: 'last', phase: 'say' })).toEqual(await json('trace', 'last', 'say'));
    expect(await answers('cache_status', {})).toEqual(await json('cache', 'status'));
    const ageless = (phases: { reason: string }[]) => {
      return phases.map((phase) => ({ ...phase, ageMs: 0, reason: phase.reason.replace(/age .*/, '') }));
    };
    const plan = await answers('plan_flow', { flow: 'demo' });
    expect(ageless(plan.phases)).toEqual(ageless((await json('run', 'demo', '--dry-run')).phases));
    const explained = await answers('explain_phase', { flow: 'demo', phase: 'after' });
    expect(ageless(explained.phases)).toEqual(ageless(await json('explain', 'demo', 'after')));
    expect(linesOf('said')).toBe(1);
  });

  it('says what is wrong with a flow, at its place', async () => {
    project.write('bad.yaml', 'name: bad\nphases:\n  - { id: a, tsk: x }\n');
    const { value } = await mcp.call('check_flow', { flow: './bad.yaml' });
    expect(value).toMatchObject({
      ok: false,
      problems: expect.arrayContaining([expect.objectContaining({ line: 3, column: 14, code: 'unknown-field' })]),
    });
    const ran = await mcp.call('run_flow', { flow: './bad.yaml' });
    expect([ran.isError, ran.text]).toEqual([true, expect.stringContaining('did you mean "task"?')]);
    expect((await mcp.call('run_status', { run: 'last' })).text).toContain('nothing has run in this project yet');
  });

  it('that is too long is cut, with the command that shows the whole', async () => {
    const run = ['node', '-e', 'process.stdout.write("a".repeat(300000))'];
    project.write('long.json', JSON.stringify({ name: 'long', phases: [{ id: 'say', type: 'script', run }] }));
    const { value, text } = await mcp.call('run_flow', { flow: 'long.json' });
    expect(text.length).toBeLessThan(25_000);
    expect(value.cut).toBe(`shortened; the whole: taskflow runs show ${value.runId} --json`);
    expect(value.phases[0].output.text).toMatch(/^a{8000}… \(300,000 characters\)$/);
    const whole = await json('runs', 'show', value.runId);
    expect(whole.phases[0].output.text.length).toBe(300_000);
  });

  it('of clearing says first what would go', async () => {
    await mcp.call('run_flow', { flow: 'demo' });
    const preview = await mcp.call('cache_clear', { flow: 'demo' });
    expect(preview.value).toMatchObject({ removed: false, entries: 1 });
    expect((await mcp.call('cache_status')).value.entries).toBe(1);
    const cleared = await mcp.call('cache_clear', { flow: 'demo', dry_run: false });
    expect(cleared.value).toMatchObject({ removed: true, entries: 1 });
    expect((await mcp.call('cache_status')).value.entries).toBe(0);
  });

  it('gives arguments as they are: texts, numbers and JSON, whatever they begin with', async () => {
    const echo = { id: 'a', type: 'script', run: ['echo', '{args.text} {args.number} {args.list}'] };
    const args = { text: {}, number: { type: 'number' }, list: { type: 'json' } };
    project.write('args.json', JSON.stringify({ name: 'args', args, phases: [echo] }));
    const given = { text: '--yes', number: -3, list: ['-x', { a: 1 }] };
    const { value } = await mcp.call('run_flow', { flow: 'args.json', args: given });
    expect(value).toMatchObject({ state: 'success', args: given });
    expect(value.phases[0].output.text).toBe('--yes -3 ["-x",{"a":1}]');
  });
});

describe('a run', () => {
  const waiting = { id: 'a', type: 'script', run: 'echo a >> begun; until [ -e go ]; do sleep 0.05; done; echo done' };
  beforeEach(async () => {
    project.write('slow.json', JSON.stringify({ name: 'slow', phases: [waiting] }));
    mcp = await connectMcp({ cwd: project.root });
  });
  afterEach(() => project.run(['runs', 'cancel', 'last']));

  it('that takes longer is waited for again', async () => {
    const { value } = await mcp.call('run_flow', { flow: 'slow.json', wait_seconds: 0 });
    expect(value).toMatchObject({ state: 'running', next: expect.stringContaining('wait_run') });
    expect((await mcp.call('wait_run', { run: value.runId, wait_seconds: 0.3 })).value.state).toBe('running');
    project.write('go', '');
    expect((await mcp.call('wait_run', { run: value.runId })).value.state).toBe('success');
    expect(linesOf('begun')).toBe(1);
  });

  it('is cancelled and goes on', async () => {
    const { value } = await mcp.call('run_flow', { flow: 'slow.json', wait_seconds: 0.5 });
    expect((await mcp.call('cancel_run', { run: value.runId })).value).toMatchObject({ state: 'interrupted' });
    project.write('go', '');
    const resumed = await mcp.call('resume_run', { run: value.runId });
    expect(resumed.value).toMatchObject({ state: 'success', continues: value.runId });
  });

  it('goes on when the client hangs up in the middle, also without a word', async () => {
    const call = mcp.call('run_flow', { flow: 'slow.json', wait_seconds: 60 }).catch(() => {});
    while (linesOf('begun') === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    process.kill(mcp.pid, 'SIGKILL');
    await call;
    project.write('go', '');
    expect((await project.run(['runs', 'wait', 'last', '--timeout', '20s'])).status).toBe(0);
    expect(linesOf('begun')).toBe(1);
  });
});
