import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';
import { connectMcp, INITIALIZE, type McpClient, rawMcp } from '../support/mcp.js';

let project: TestProject;
let outside: TestProject;
let mcp: McpClient | undefined;
const FLOW = JSON.stringify({ name: 'demo', phases: [{ id: 'a', type: 'script', run: 'echo x >> ran; echo hello' }] });

beforeEach(() => {
  project = createTestProject({ 'demo.json': FLOW });
  outside = createTestProject({ 'secret.json': FLOW });
});
afterEach(async () => {
  await mcp?.close();
  mcp = undefined;
  project.remove();
  outside.remove();
});

const runs = () => {
  const folder = join(project.root, '.pi/taskflows/runs');
  return existsSync(folder) ? readdirSync(folder).filter((name) => /^\d{8}-/.test(name)) : [];
};

describe('lines that are no messages', () => {
  it('get one clear answer each, and the next message is answered', async () => {
    const raw = rawMcp(project.root);
    raw.write('hello?\n');
    expect(await raw.answer(null)).toMatchObject({ error: { code: -32700, message: 'this line is no JSON' } });
    raw.write('\u0000\u0001\uffff\n');
    expect(await raw.answer(null)).toMatchObject({ error: { code: -32700 } });
    raw.write('[1,2]\n{"id":7,"method":"tools/list"}\n\n');
    expect(await raw.answer(null)).toMatchObject({ error: { code: -32600 } });
    expect(await raw.answer(7)).toMatchObject({ error: { code: -32600 } });
    raw.write('{"jsonrpc":"2.0","id":9}\n{"jsonrpc":"2.0","id":{},"method":"tools/list"}\n');
    expect(await raw.answer(9)).toMatchObject({ error: { code: -32600 } });
    expect(await raw.answer(null)).toMatchObject({ error: { code: -32600 } });
    raw.write(`{"jsonrpc":"2.0","id":8,"method":"${'x'.repeat(9 * 1024 * 1024)}"}\n`);
    expect(await raw.answer(null)).toMatchObject({
      error: { message: expect.stringContaining('at most 8388608 bytes') },
    });
    raw.send(1, 'initialize', INITIALIZE);
    expect(await raw.answer(1)).toMatchObject({ result: { serverInfo: { name: 'taskflow' } } });
    raw.send(2, 'tools/call', { name: 'check_flow', arguments: { flow: 'demo.json' } });
    expect(await raw.answer(2)).toMatchObject({ result: { structuredContent: { ok: true } } });
    raw.send(3, 'no/such/method', {});
    expect(await raw.answer(3)).toMatchObject({ error: { code: -32601 } });
    raw.child.stdin!.end();
    expect(await raw.ended).toBe(0);
  });

  it('half a message at the end of the input ends the server, and nothing else', async () => {
    const raw = rawMcp(project.root);
    raw.send(1, 'initialize', INITIALIZE);
    await raw.answer(1);
    raw.child.stdin!.end('{"jsonrpc":"2.0","id":2,"meth');
    expect(await raw.ended).toBe(0);
    expect(raw.answers).toEqual([]);
  });

  it('a client that reads no answers any more ends it too', async () => {
    const raw = rawMcp(project.root);
    raw.send(1, 'initialize', INITIALIZE);
    await raw.answer(1);
    raw.child.stdout!.destroy();
    for (let id = 2; id < 20; id += 1) raw.send(id, 'tools/list', {});
    expect(await raw.ended).toBe(0);
  });
});

describe('a call that makes no sense', () => {
  beforeEach(async () => {
    mcp = await connectMcp({ cwd: project.root });
  });

  it.each<[string, string, Record<string, unknown>, RegExp]>([
    ['a wrong type', 'check_flow', { flow: 3 }, /flow: .*"number".*"string"/],
    ['something missing', 'run_flow', {}, /flow/],
    ['a name that it does not know', 'run_flow', { flow: 'demo.json', yes: true }, /yes/],
    ['to wait for an hour', 'run_flow', { flow: 'demo.json', wait_seconds: 3_600 }, /wait_seconds/],
    ['a NUL character', 'run_flow', { flow: 'demo.json', args: { a: 'x\0y' } }, /NUL/],
    ['a name of an argument that is none', 'run_flow', { flow: 'demo.json', args: { 'a=b': 1 } }, /"a=b" is no name/],
    ['arguments of a megabyte', 'run_flow', { flow: 'demo.json', args: { a: 'x'.repeat(1e6) } }, /put them in a file/],
    ['a flow that is not there', 'plan_flow', { flow: 'nothing' }, /no saved flow "nothing"/],
    ['a flag for a flow', 'run_flow', { flow: '--help' }, /no saved flow "--help"/],
    ['a flag for a run', 'run_status', { run: '--all' }, /nothing has run|no run --all/],
    ['a path for a run', 'trace_run', { run: '../../etc' }, /nothing has run|no run/],
    ['a word for an age', 'cache_clear', { older_than: 'long' }, /older_than/],
    ['nothing to clear', 'cache_clear', { dry_run: false }, /say what to clear/],
  ])('%s: one clear answer, and nothing runs', async (_what, name, args, words) => {
    const { isError, text } = await mcp!.call(name, args);
    expect([isError, text]).toEqual([true, expect.stringMatching(words)]);
    expect(text.length).toBeLessThan(1_000);
    expect(runs()).toEqual([]);
  });

  it('a tool that is not there', async () => {
    await expect(mcp!.call('rm_rf')).rejects.toThrow(/rm_rf/);
  });

  it.each(['check_flow', 'plan_flow', 'run_flow', 'explain_phase', 'cache_status', 'cache_clear'])(
    '%s takes no file from outside of the project',
    async (name) => {
      const far = join(outside.root, 'secret.json');
      symlinkSync(far, join(project.root, 'link.json'));
      symlinkSync(outside.root, join(project.root, 'folder'));
      const around = `../${outside.root.split('/').at(-1)}/secret.json`;
      for (const flow of [far, around, 'link.json', './folder/secret.json', '/etc/passwd', '/dev/zero.json']) {
        const { isError, text } = await mcp!.call(name, { flow });
        expect([flow, isError, text]).toEqual([flow, true, expect.stringContaining('outside of the project')]);
      }
      expect(runs()).toEqual([]);
    },
  );

  it('a flow of the user is one of theirs by its name, not by a path', async () => {
    project.write('.home/.pi/agent/taskflows/mine.json', FLOW);
    expect((await mcp!.call('check_flow', { flow: 'mine' })).value.ok).toBe(true);
  });
});

describe('many calls at once', () => {
  it('are all answered, and the server stays', async () => {
    mcp = await connectMcp({ cwd: project.root });
    const calls = Array.from({ length: 500 }, () => mcp!.call('check_flow', { flow: 'demo.json' }));
    const answers = await Promise.all(calls);
    for (const { value, text } of answers) if (!value) expect(text).toContain('calls are waiting already');
    expect(answers.filter(({ value }) => value?.ok).length).toBeGreaterThan(200);
    expect((await mcp.call('check_flow', { flow: 'demo.json' })).value.ok).toBe(true);
  });

  it('start only so many runs', { timeout: 120_000 }, async () => {
    const wait = { id: 'a', type: 'script', run: 'until [ -e go ]; do sleep 0.2; done; echo x >> ran' };
    writeFileSync(join(project.root, 'wait.json'), JSON.stringify({ name: 'wait', args: { n: {} }, phases: [wait] }));
    mcp = await connectMcp({ cwd: project.root });
    const start = (n: number) => mcp!.call('run_flow', { flow: 'wait.json', args: { n: `${n}` }, wait_seconds: 0 });
    const started = await Promise.all(Array.from({ length: 20 }, (_, n) => start(n)));
    const refused = started.filter(({ isError }) => isError);
    expect(refused.map(({ text }) => text)).toEqual(
      Array(4).fill('16 runs of this project are under way: wait for one, or cancel it'),
    );
    project.write('go', '');
    for (const { value } of started.filter(({ isError }) => !isError)) {
      expect((await mcp.call('wait_run', { run: value.runId })).value.state).toBe('success');
    }
    expect(readFileSync(join(project.root, 'ran'), 'utf8')).toBe('x\n'.repeat(16));
    expect(runs()).toHaveLength(16);
  });
});

it('with --read-only there is nothing that runs, changes or decides', async () => {
  mcp = await connectMcp({ cwd: project.root, args: ['--read-only'] });
  const { tools } = await mcp.client.listTools();
  expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
  expect(tools.map(({ name }) => name)).toContain('plan_flow');
  for (const name of ['run_flow', 'resume_run', 'approve', 'cache_clear', 'cancel_run', 'assemble']) {
    await expect(mcp.call(name, { flow: 'demo.json' })).rejects.toThrow(name);
  }
  expect(runs()).toEqual([]);
});

it('resources and prompts are there, and one that is not says so', async () => {
  mcp = await connectMcp({ cwd: project.root });
  await mcp.call('run_flow', { flow: 'demo.json' });
  const read = async (uri: string) => {
    const { contents } = await mcp!.client.readResource({ uri });
    return (contents[0] as { text: string }).text;
  };
  expect(await read('taskflow://language')).toBe(readFileSync('docs/language.md', 'utf8'));
  expect(JSON.parse(await read('taskflow://schema'))).toEqual(JSON.parse((await project.run(['schema'])).stdout));
  const { items } = JSON.parse(await read('taskflow://runs'));
  expect(items).toMatchObject([{ flow: 'demo', state: 'success' }]);
  expect(JSON.parse(await read(`taskflow://runs/${items[0].runId}`))).toMatchObject({ phases: [{ status: 'done' }] });
  expect(JSON.parse(await read('taskflow://flows'))).toEqual({ items: [] });
  await expect(read('taskflow://runs/nothing')).rejects.toThrow(/no run nothing/);
  await expect(read('file:///etc/passwd')).rejects.toThrow();
  const { messages } = await mcp.client.getPrompt({ name: 'write_flow', arguments: { task: 'count the files' } });
  const [, example] = /An example:\n\n(.*)$/s.exec((messages[0]!.content as { text: string }).text)!;
  expect((messages[0]!.content as { text: string }).text).toContain('count the files');
  project.write('example.yaml', example!);
  expect(await project.run(['check', '--strict', 'example.yaml'])).toMatchObject({ status: 0 });
  const why = await mcp.client.getPrompt({ name: 'why_again', arguments: { flow: 'demo', phase: 'a' } });
  expect((why.messages[0]!.content as { text: string }).text).toContain('the phase a of the taskflow flow demo');
});
