import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ElicitResult } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';
import { connectMcp, type Era, type McpClient } from '../support/mcp.js';

let project: TestProject;
let mcp: McpClient;
let runId: string;
const shown: string[] = [];

const TEXT = 'Ship "it"?\nIt has\ttabs and \u001b[31mcolours\u001b[0m.';
const FLOW = {
  name: 'ship',
  phases: [
    { id: 'ask', type: 'approval', task: TEXT },
    { id: 'ship', type: 'script', run: 'echo x >> shipped; cat', input: '{steps.ask.output}', dependsOn: ['ask'] },
  ],
};

beforeEach(() => {
  project = createTestProject({ 'ship.json': JSON.stringify(FLOW) });
  shown.length = 0;
});
afterEach(async () => {
  await mcp?.close();
  project.remove();
});

const shipped = () => existsSync(join(project.root, 'shipped'));
const decisions = () => {
  const journal = readFileSync(join(project.root, '.pi/taskflows/runs', runId, 'journal.jsonl'), 'utf8');
  const lines = journal.split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line)).filter(({ type }) => type === 'decision');
};

async function paused(era: Era, result?: ElicitResult): Promise<void> {
  const onForm = (message: string): ElicitResult => {
    shown.push(message);
    return result!;
  };
  mcp = await connectMcp({ cwd: project.root, era, env: { USER: 'kim' }, ...(result && { onForm }) });
  const { value } = await mcp.call('run_flow', { flow: 'ship.json' });
  expect(value).toMatchObject({ state: 'paused', next: expect.stringContaining('approve with run') });
  runId = value.runId;
}

describe.each(['legacy', 'modern'] as Era[])('with a client of the %s era', (era) => {
  it('a form that a person sends decides, about exactly the text of the run; then the run goes on', async () => {
    await paused(era, { action: 'accept', content: { decision: 'approve', note: 'with care' } });
    const { value } = await mcp.call('approve', { run: runId, phase: 'ask' });
    expect(shown).toEqual([expect.stringMatching(/^Ship "it"\?\nIt has\ttabs/)]);
    expect(shown[0]!.startsWith(value.text)).toBe(true);
    expect(shown[0]).toContain(value.digest.slice(0, 12));
    expect(value).toMatchObject({ decision: 'approve', by: 'kim via mcp:test-client', note: 'with care' });
    expect(decisions()).toMatchObject([{ decision: 'approve', by: 'kim via mcp:test-client', digest: value.digest }]);
    const done = await mcp.call('wait_run', { run: value.goesOnAs });
    expect(done.value).toMatchObject({ state: 'success', continues: runId });
    expect(readFileSync(join(project.root, 'shipped'), 'utf8')).toBe('x\n');
  });

  it('a form can say no', async () => {
    await paused(era, { action: 'accept', content: { decision: 'reject' } });
    const { value } = await mcp.call('approve', { run: runId });
    expect(value).toMatchObject({ decision: 'reject', by: 'kim via mcp:test-client' });
    expect((await mcp.call('wait_run', { run: value.goesOnAs })).value.state).toBe('blocked');
    expect(shipped()).toBe(false);
  });

  it.each<[string, ElicitResult]>([
    ['declined', { action: 'decline' }],
    ['closed', { action: 'cancel' }],
    ['declined though it is filled in', { action: 'decline', content: { decision: 'approve' } }],
    ['sent with nothing in it', { action: 'accept', content: {} }],
    ['sent with something else', { action: 'accept', content: { decision: 'yes' } }],
  ])('a form that is %s leaves the run waiting', async (_how, result) => {
    await paused(era, result);
    const { value, text } = await mcp.call('approve', { run: runId });
    // The library may refuse what does not fit the form before we see it.
    if (value) expect(value).toMatchObject({ decision: null, next: expect.stringContaining(`approve ${runId} ask`) });
    else expect(text).toMatch(/decision/);
    expect(decisions()).toEqual([]);
    expect((await mcp.call('run_status', { run: runId })).value.state).toBe('paused');
    expect(shipped()).toBe(false);
  });

  it('a client without forms is told what to type, and that works', async () => {
    await paused(era);
    const { value } = await mcp.call('approve', { run: runId });
    expect(value).toMatchObject({ decision: null, next: expect.stringContaining('this client cannot ask a person') });
    expect(value.text).toContain('Ship "it"?');
    expect(decisions()).toEqual([]);
    const [, command] = /terminal: taskflow (approve \S+ \S+),/.exec(value.next)!;
    expect((await project.run(command!.split(' '))).status).toBe(0);
    expect(decisions()).toHaveLength(1);
  });
});

it('only what waits can be decided', async () => {
  await paused('modern', { action: 'accept', content: { decision: 'approve' } });
  expect((await mcp.call('approve', { run: runId, phase: 'ship' })).text).toContain('waiting: ask');
  expect((await mcp.call('approve', { run: 'nothing' })).text).toContain('there is no run nothing');
  expect(shown).toEqual([]);
  expect(decisions()).toEqual([]);
});

it('an answer to another text is not taken', async () => {
  await paused('modern', { action: 'accept', content: { decision: 'approve' } });
  const params = {
    name: 'approve',
    arguments: { run: runId },
    inputResponses: { decision: { action: 'accept', content: { decision: 'approve' } } },
    requestState: 'the digest of another text',
  };
  const answer = await mcp.client.callTool(params as never);
  expect(answer).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('asks something else') }] });
  expect(decisions()).toEqual([]);
});
