import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CLI, cliEnvironment, runCli } from '../support/cli.js';
import { type ModelServer, startModelServer } from '../support/model-server.js';

/** The real clients, with the settings that `taskflow mcp install` writes, and a model that calls our tools. */

const BIN = fileURLToPath(new URL('./node_modules/.bin/', import.meta.url));
let server: ModelServer;
let root: string;

beforeEach(async () => {
  server = await startModelServer();
  root = realpathSync(mkdtempSync(join(tmpdir(), 'client-mcp-')));
  for (const folder of ['.pi/taskflows', 'bin', 'home/.codex']) mkdirSync(join(root, folder), { recursive: true });
  // What the client and the server say to each other is kept.
  const shim = `#!/bin/sh\ntee -a "${root}/asked" | "${process.execPath}" "${CLI}" "$@" | tee -a "${root}/answered"\n`;
  writeFileSync(join(root, 'bin/taskflow'), shim, { mode: 0o755 });
  const say = { id: 'say', type: 'script', run: ['sh', '-c', 'echo x >> said; echo "hello $0"', '{args.who}'] };
  const ask = { id: 'ask', type: 'approval', task: 'Ship {steps.say.output}?' };
  const ship = { id: 'ship', type: 'script', run: 'echo x >> shipped; echo shipped', dependsOn: ['ask'] };
  const flow = { name: 'ship', args: { who: { default: 'you' } }, phases: [say, ask, ship] };
  writeFileSync(join(root, '.pi/taskflows/ship.json'), JSON.stringify(flow));
});
afterEach(async () => {
  await server.close();
  rmSync(root, { recursive: true, force: true });
});

function variables(more: Record<string, string> = {}): Record<string, string | undefined> {
  const PATH = `${join(root, 'bin')}:${BIN}:${process.env['PATH']}`;
  return { PATH, HOME: join(root, 'home'), ...more };
}

async function install(client: string): Promise<void> {
  const { status } = await runCli(['mcp', 'install', client, '--yes'], { cwd: root, env: variables() });
  expect(status).toBe(0);
}

function start(argv: readonly string[], more: Record<string, string>): Promise<string> {
  const env = cliEnvironment(root, variables(more)) as NodeJS.ProcessEnv;
  return new Promise((resolve, reject) => {
    const child = spawn(argv[0]!, argv.slice(1), { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    const hear = (text: string) => {
      said += text;
    };
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', hear);
    child.on('error', reject);
    child.on('close', () => resolve(said));
  });
}

const TASK = [
  '[[tool: mcp__taskflow__list_flows {}]]',
  '[[tool: mcp__taskflow__run_flow {"flow":"ship","args":{"who":"world"}}]]',
  '[[tool: mcp__taskflow__approve {"run":"last"}]]',
  '[[tool: mcp__taskflow__run_status {"run":"last"}]]',
  '[[reply: done]]',
].join(' ');

// biome-ignore lint/suspicious/noExplicitAny: messages as they come.
const lines = (file: string): any[] => {
  const text = readFileSync(join(root, file), 'utf8');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
};

/** It listed, ran with progress, asked for a decision that nobody could give, and looked. */
function expectAll(said: string, action: 'cancel' | 'decline'): void {
  const answers = lines('answered').flatMap(({ result }) => result?.structuredContent ?? []);
  expect([said, answers.length]).toEqual([said, 4]);
  const [listed, ran, decided, status] = answers;
  expect(listed.flows).toMatchObject([{ flow: 'ship', phases: ['say', 'ask', 'ship'] }]);
  expect(ran).toMatchObject({ state: 'paused', waiting: [{ phase: 'ask', text: 'Ship hello world?' }] });
  expect(decided).toMatchObject({
    decision: null,
    text: 'Ship hello world?',
    next: expect.stringContaining('approve'),
  });
  expect(status).toMatchObject({ runId: ran.runId, state: 'paused' });
  expect(readFileSync(join(root, 'said'), 'utf8')).toBe('x\n');
  const progress = lines('answered').filter(({ method }) => method === 'notifications/progress');
  expect(progress.map(({ params }) => params.message)).toEqual(
    expect.arrayContaining([expect.stringContaining('say runs'), expect.stringContaining('say done')]),
  );
  // It was given the form, and sent it back by itself, as there is no person.
  const [form] = lines('answered').filter(({ method }) => method === 'elicitation/create');
  expect(form.params.message).toContain('Ship hello world?');
  expect(lines('asked').find(({ id, result }) => id === form.id && result)?.result.action).toBe(action);
  // The model has read what the tools answered.
  const last = JSON.stringify(server.calls.at(-1)!.body);
  expect(last).toContain(ran.runId);
  expect(last).toContain('hello world');
}

it('claude lists, runs with progress, and cannot decide by itself', async () => {
  await install('claude');
  const flags = ['--output-format', 'stream-json', '--verbose', '--no-session-persistence'];
  const servers = ['--mcp-config', '.mcp.json', '--strict-mcp-config', '--allowedTools', 'mcp__taskflow'];
  const env = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'k' };
  expectAll(await start(['claude', '-p', ...flags, ...servers, '--', TASK], env), 'cancel');
});

it('codex lists, runs with progress, and cannot decide by itself', async () => {
  const env = await setUpCodex();
  const flags = ['--json', '--skip-git-repo-check', '--ephemeral', '--color', 'never', '--model', 'scripted'];
  // On a slow machine the first question to the model would come before the tools are known.
  const more = ['--dangerously-bypass-approvals-and-sandbox', '-c', 'mcp_servers.taskflow.required=true'];
  const said = await start(['codex', 'exec', ...flags, ...more, TASK], env);
  expectAll(said, 'decline');
});

it('codex with a person: the form that they send decides, and the run goes on', async () => {
  const env = await setUpCodex();
  const shown: string[] = [];
  await codexSession(env, (message) => {
    shown.push(message);
    const isOurs = message.startsWith('Ship hello world?');
    return { action: 'accept', content: isOurs ? { decision: 'approve', note: 'by hand' } : null, _meta: null };
  });
  expect(shown.at(-1)).toContain('Ship hello world?');
  const answers = lines('answered').flatMap(({ result }) => result?.structuredContent ?? []);
  const decided = answers.find(({ decision }) => decision);
  expect(decided).toMatchObject({ decision: 'approve', note: 'by hand' });
  expect(decided.by).toMatch(/ via mcp:codex-mcp-client$/);
  const { status } = await runCli(['runs', 'wait', decided.goesOnAs], { cwd: root, env: variables() });
  expect([status, readFileSync(join(root, 'shipped'), 'utf8')]).toEqual([0, 'x\n']);
});

/** One turn of Codex as a program drives it that shows its questions to a person. */
async function codexSession(env: Record<string, string>, answer: (message: string) => object): Promise<void> {
  const all = cliEnvironment(root, variables(env)) as NodeJS.ProcessEnv;
  const child = spawn('codex', ['app-server'], { cwd: root, env: all, stdio: ['pipe', 'pipe', 'ignore'] });
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'test', title: null, version: '1' };
  send({ id: 1, method: 'initialize', params: { clientInfo, capabilities: null } });
  for await (const line of createInterface({ input: child.stdout })) {
    const { id, method, params, result } = JSON.parse(line);
    if (id === 1) {
      send({ method: 'initialized' });
      const settings = { approvalPolicy: 'on-request', sandbox: 'danger-full-access', ephemeral: true };
      send({ id: 2, method: 'thread/start', params: { cwd: root, model: 'scripted', ...settings } });
    } else if (id === 2 && result) {
      const input = [{ type: 'text', text: TASK, text_elements: [] }];
      send({ id: 3, method: 'turn/start', params: { threadId: result.thread.id, input } });
    } else if (method === 'mcpServer/elicitation/request') send({ id, result: answer(params.message) });
    else if (method === 'turn/completed') break;
  }
  child.kill();
}

async function setUpCodex(): Promise<Record<string, string>> {
  const settings = [
    'model_provider = "loopback"',
    '[model_providers.loopback]',
    'name = "loopback"',
    `base_url = "${server.url}/v1"`,
    'wire_api = "responses"',
    'env_key = "LOOPBACK_KEY"',
  ];
  writeFileSync(join(root, 'home/.codex/config.toml'), settings.join('\n'));
  await install('codex');
  return { LOOPBACK_KEY: 'k', CODEX_HOME: join(root, 'home/.codex') };
}
