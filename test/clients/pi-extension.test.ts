import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { INSTALLED } from '../support/cli.js';
import { linesOf } from '../support/live-cli.js';
import { livingIn } from '../support/living.js';
import { type ModelServer, startModelServer } from '../support/model-server.js';
import { until } from '../support/processes.js';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const PACKAGE = join(INSTALLED, 'node_modules/taskflow-cli');
const NODE_22 = here('node_modules/node-22/bin/node');
const LONG = 40_000;

const CLIENTS = [
  { name: 'pi 0.74 on Node 20', node: process.execPath, pi: here('node_modules/.bin/pi'), trust: [] },
  { name: 'a newer pi on Node 22', node: NODE_22, pi: here('newer/node_modules/.bin/pi'), trust: ['--approve'] },
];

/** Node 22 comes as a package for Linux. */
describe.each(CLIENTS.filter(({ node }) => existsSync(node)))('$name', ({ node, pi, trust }) => {
  let server: ModelServer;
  let root: string;
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    server = await startModelServer();
  });
  afterAll(() => server.close());
  const start = () => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'pi-extension-')));
    const cost = { input: 1, output: 2, cacheRead: 0.5, cacheWrite: 0 };
    const model = { id: 'scripted', reasoning: false, input: ['text'], cost, contextWindow: 900_000, maxTokens: 1_000 };
    const api = 'openai-completions';
    const loopback = { baseUrl: `${server.url}/v1`, api, apiKey: 'LOOPBACK_KEY', models: [model] };
    write('home/.pi/agent/models.json', JSON.stringify({ providers: { loopback } }));
    const step = (id: string, more = '') => ({ id, type: 'script', run: `echo ${id} >> ran.log; ${more}` });
    const flow = {
      name: 'work',
      phases: [step('one', 'sleep 0.5'), { ...step('two', 'echo result'), dependsOn: ['one'] }],
    };
    write('project/.pi/taskflows/work.json', JSON.stringify(flow));
    const sure = { id: 'sure', type: 'approval', task: 'Really?\nAll of it?' };
    const asking = { name: 'asking', phases: [sure, { ...step('two', 'echo went'), dependsOn: ['sure'] }] };
    write('project/.pi/taskflows/asking.json', JSON.stringify(asking));
    const slow = { name: 'slow', phases: [step('one', 'sleep 60')] };
    write('project/.pi/taskflows/slow.json', JSON.stringify(slow));
    const PATH = `${dirname(node)}:${process.env['PATH']}`;
    const offline = { PI_OFFLINE: '1', PI_TELEMETRY: '0' };
    env = { PATH, TMPDIR: process.env['TMPDIR'], HOME: join(root, 'home'), LOOPBACK_KEY: 'k', ...offline };
  };
  afterEach(() => {
    server.reset();
    expect(livingIn(root)).toEqual([]);
    rmSync(root, { recursive: true, force: true });
  });
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const ran = (name: string) => linesOf(join(root, 'project/ran.log')).filter((line) => line === name).length;
  /** As it lies in this repository: a file that only re-exports. */
  const reExport = () =>
    write('project/.pi/extensions/taskflow.ts', `export { default } from '${PACKAGE}/src/pi/extension.ts';\n`);
  const options = () => ({ cwd: join(root, 'project'), env });
  const install = () => spawnSync(node, [pi, 'install', PACKAGE], { ...options(), encoding: 'utf8' });
  const MODEL = ['--no-session', '--provider', 'loopback', '--model', 'scripted'];
  const call = (asked: object) => `[[tool: taskflow ${JSON.stringify(asked)}]] [[reply: done]]`;
  const headless = async (prompt: string, ...flags: string[]) => {
    const child = spawn(node, [pi, '--mode', 'json', '-p', ...MODEL, ...flags], options());
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.stdin.end(prompt);
    await new Promise((resolve) => child.on('close', resolve));
    const events = stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as PiEvent);
    const of = (type: string) => events.filter((event) => event.type === type && event.toolName === 'taskflow');
    return { stderr, of };
  };

  it('loads the extension from the project: the model runs a flow, and its phases are updates', async () => {
    start();
    reExport();
    const { of, stderr } = await headless(call({ action: 'run', flow: 'work' }), ...trust);
    expect([ran('one'), ran('two'), stderr]).toEqual([1, 1, '']);
    const updates = of('tool_execution_update').map(({ partialResult }) => partialResult!.content[0]!.text);
    expect(updates.some((text) => text.includes('▸ one\n· two'))).toBe(true);
    const [end] = of('tool_execution_end');
    expect(end).toMatchObject({ isError: false });
    expect(end!.result!.content[0]!.text).toMatch(/: success\n✔ one\n✔ two\noutput:\nresult$/);
  });

  it.runIf(trust.length > 0)('does not load it from a project that is not trusted', async () => {
    start();
    reExport();
    await headless(call({ action: 'run', flow: 'work' }));
    expect(ran('one')).toBe(0);
  });

  it('has it after `pi install` of the package; what is waiting or wrong is said plainly', async () => {
    start();
    const installed = install();
    expect(installed.status, installed.stderr).toBe(0);
    const [asked] = (await headless(call({ action: 'run', flow: 'asking' }))).of('tool_execution_end');
    expect(asked!.result!.content[0]!.text).toMatch(/Really\?\nAll of it\?\ntaskflow approve \S+ sure/);
    expect(ran('two')).toBe(0);
    const [wrong] = (await headless(call({ action: 'run', flow: 'wrok' }))).of('tool_execution_end');
    expect(wrong).toMatchObject({ isError: true });
    expect(wrong!.result!.content[0]!.text).toContain('did you mean "work"?');
  });

  it('asks the person in a dialog, with exactly the words of the run; /tf:<name> is there', async () => {
    start();
    install();
    const rpc = startRpc(spawn(node, [pi, '--mode', 'rpc', ...MODEL], options()));
    rpc.send({ type: 'get_commands', id: 'c' });
    const commands = await rpc.next(({ type, command }) => type === 'response' && command === 'get_commands');
    expect(JSON.stringify(commands)).toContain('"tf:asking"');
    rpc.send({ type: 'prompt', message: call({ action: 'run', flow: 'asking' }) });
    const dialog = await rpc.next(({ type, method }) => type === 'extension_ui_request' && method === 'confirm');
    expect(dialog).toMatchObject({ title: 'Approve sure?', message: 'Really?\nAll of it?' });
    expect(ran('two')).toBe(0);
    rpc.send({ type: 'extension_ui_response', id: dialog.id, confirmed: true });
    const end = await rpc.next(({ type }) => type === 'tool_execution_end');
    expect(end.result!.content[0]!.text).toContain('went');
    expect(ran('two')).toBe(1);
    await rpc.end();
  });

  it('ends the run with an abort in pi', async () => {
    start();
    install();
    const rpc = startRpc(spawn(node, [pi, '--mode', 'rpc', ...MODEL], options()));
    rpc.send({ type: 'prompt', message: call({ action: 'run', flow: 'slow' }) });
    await until(() => ran('one') === 1, LONG);
    rpc.send({ type: 'abort' });
    const end = await rpc.next(({ type }) => type === 'tool_execution_end');
    expect(end.result!.content[0]!.text).toContain('slow');
    expect(end.result!.content[0]!.text).toContain('interrupted');
    await rpc.end();
  });
});

interface PiEvent {
  readonly type: string;
  readonly id?: string;
  readonly command?: string;
  readonly method?: string;
  readonly toolName?: string;
  readonly partialResult?: Shown;
  readonly result?: Shown;
}

interface Shown {
  readonly content: readonly { readonly text: string }[];
}

function startRpc(child: ChildProcessWithoutNullStreams) {
  const events: PiEvent[] = [];
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    for (const line of lines) if (line.startsWith('{')) events.push(JSON.parse(line));
  });
  return {
    send: (command: object) => child.stdin.write(`${JSON.stringify(command)}\n`),
    next: async (isMeant: (event: PiEvent) => boolean): Promise<PiEvent> => {
      await until(() => events.some(isMeant), LONG);
      return events.find(isMeant)!;
    },
    end: async () => {
      const closed = new Promise((resolve) => child.on('close', resolve));
      child.kill('SIGTERM');
      await closed;
    },
  };
}
