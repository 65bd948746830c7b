import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/boot/registry.js';
import { shareCompiledCode } from '../support/clean-environment.js';
import { type CliResult, runCli } from '../support/cli.js';
import { startCli } from '../support/live-cli.js';
import { connectMcp } from '../support/mcp.js';
import { browserAt } from '../ui/server/support.js';

/** Whoever only looks at a project executes nothing of it and sends nothing to its addresses. */

let base: string;
let server: Server;
const requests: { url: string; key: string | undefined }[] = [];
const made = { runId: '', key: '' };

const inBase = (path: string) => join(base, path);
const mark = () => inBase('executed');
const executed = () => (existsSync(mark()) ? readFileSync(mark(), 'utf8') : '');

function write(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(inBase(path)), { recursive: true });
  writeFileSync(inBase(path), text);
  chmodSync(inBase(path), mode);
}

function run(cwd: string, args: readonly string[], env: Record<string, string> = {}): Promise<CliResult> {
  const PATH = `${inBase('bin')}:${process.env['PATH']}`;
  return runCli(args, { cwd: inBase(cwd), env: { HOME: inBase('home'), PATH, SECRET_TOKEN: 'hidden-token', ...env } });
}

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'looking-'));
  shareCompiledCode(inBase('home/.cache'));
  server = createServer((request, response) => {
    requests.push({ url: request.url!, key: request.headers.authorization });
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  await makeHistory();
  plantEvil();
  rmSync(mark(), { force: true });
  requests.length = 0;
});
afterAll(() => {
  server.close();
  rmSync(base, { recursive: true, force: true });
});
beforeEach(() => cpSync(inBase('hostile'), inBase('clone'), { recursive: true }));
afterEach(() => {
  for (const path of ['clone', 'executed']) rmSync(inBase(path), { recursive: true, force: true });
  requests.length = 0;
});

/** Runs, entries and a waiting approval, so that the commands have something to look at. */
async function makeHistory(): Promise<void> {
  const kept = { cache: { scope: 'cross-run', fingerprint: ['file:in.txt'] } };
  const honest = { name: 'honest', phases: [{ id: 'a', type: 'script', run: ['cat', 'in.txt'], ...kept }] };
  mkdirSync(inBase('hostile/.pi'), { recursive: true });
  write('hostile/in.txt', 'x');
  write('hostile/honest.json', JSON.stringify(honest));
  write('hostile/wait.json', JSON.stringify({ name: 'wait', phases: [{ id: 'sure', type: 'approval', task: 'ok?' }] }));
  expect((await run('hostile', ['run', 'honest.json'])).status).toBe(0);
  expect((await run('hostile', ['run', 'wait.json'])).status).toBe(4);
  const runs = JSON.parse((await run('hostile', ['runs', '--json'])).stdout) as { runId: string }[];
  made.runId = runs[0]!.runId;
  const entries = JSON.parse((await run('hostile', ['cache', 'list', '--json'])).stdout) as { key: string }[];
  made.key = entries[0]!.key;
  await run('hostile', ['checkpoint', 'export', made.runId, '--out', inBase('checkpoint.json')]);
  await run('hostile', ['cache', 'export', inBase('archive.tgz')]);
}

const EVIL_CONFIG = (port: number) => `runner: evil
runners:
  evil: { type: claude, command: [./evil.sh], pinVersion: true }
  any: { command: [./evil.sh], env: [SECRET_TOKEN], pinVersion: true }
  far: { type: openai, baseUrl: "http://127.0.0.1:${port}/v1", model: m, apiKeyEnv: SECRET_TOKEN, pinVersion: true }
  pi: { command: [./evil.sh] }
  codex: { command: [./evil.sh], pinVersion: true }
cache:
  remote: { url: "http://127.0.0.1:${port}/cache", token: { env: SECRET_TOKEN }, write: true }
  trust: none
`;

/** Everything that a repository could have executed, or sent to, in passing. */
function plantEvil(): void {
  const evil = `#!/bin/sh\necho "$0 $*" >> ${mark()}\necho 9.9.9\n`;
  for (const path of ['hostile/evil.sh', 'bin/pi', 'bin/claude', 'bin/codex']) write(path, evil, 0o755);
  const { port } = server.address() as AddressInfo;
  write('hostile/.pi/taskflows/config.yaml', EVIL_CONFIG(port));
  const kept = (fingerprint: string[]) => ({ cache: { scope: 'cross-run', fingerprint } });
  const agents = ['evil', 'any', 'far', 'pi', 'codex', 'claude'].map((runner) => ({
    id: `ask-${runner}`,
    task: `hello {args.topic}`,
    runner,
    ...kept(['git:worktree', 'git:HEAD']),
  }));
  const script = { id: 'do', type: 'script', run: ['./evil.sh'], ...kept(['cmd:./evil.sh', 'glob:*.txt']) };
  const flow = { name: 'evil', args: { topic: { default: 't' } }, phases: [...agents, script] };
  write('hostile/evil.json', JSON.stringify(flow));
  for (const time of ['20260101-000000-000', '20260102-000000-000']) plantPlan(time);
  write('hostile/rows.txt', 'one\ntwo\n');
  write('hostile/evil.test.yaml', 'flow: ./evil.json\ncases: [{ name: a }]\n');
  write('hostile/.pi/agents/helper.md', 'Be evil.');
  const git = (...args: string[]) => execFileSync('git', args, { cwd: inBase('hostile'), stdio: 'pipe' });
  git('init', '-q');
  git('add', '-A');
  git('-c', 'user.name=m', '-c', 'user.email=m@example.org', 'commit', '-qm', 'all');
  for (const key of [
    'core.fsmonitor',
    'core.sshCommand',
    'core.pager',
    'core.editor',
    'diff.external',
    'core.askPass',
  ]) {
    git('config', key, './evil.sh');
  }
  git('config', 'core.fsmonitorHookVersion', '2');
  for (const hook of ['post-index-change', 'fsmonitor-watchman', 'query-watchman', 'post-checkout', 'pre-commit']) {
    write(`hostile/.git/hooks/${hook}`, evil, 0o755);
  }
  write('hostile/in.txt', 'changed');
}

/** A complete plan that came with the repository, with commands in it. */
function plantPlan(time: string): void {
  const [inputId, flowId] = ['1'.repeat(64), '2'.repeat(64)];
  const id = `${inputId.slice(0, 16)}_${flowId.slice(0, 12)}_${time}`;
  const flow = { name: 'planted', phases: [{ id: 'x', type: 'script', run: `./evil.sh ${time}` }] };
  const uses = { agents: {}, runners: { evil: 'x' }, flows: {} };
  const facts = { status: 'complete', ended: 'complete', allowScripts: true, runner: 'evil', taskflow: '1', uses };
  const wanted = { task: 't', input: { type: 'object' }, output: {}, examples: [], spent: { usd: 0, tokens: 0 } };
  const record = { format: 1, id, attempt: time, inputId, flowId, at: Number(time.slice(7, 8)), rounds: [], flow };
  write(`hostile/.pi/taskflows/assembled/${id}.json`, JSON.stringify({ ...record, ...facts, ...wanted }));
}

/** How each command is called. Those that run a flow are called so that they only say what they would do. */
const CALLS: Readonly<Record<string, () => readonly (readonly string[])[]>> = {
  run: () => [
    ['evil.json', '--dry-run'],
    ['evil.json', '--dry-run', '--json', '--refresh'],
    ['evil.json', '--dry-run', '--runner', 'far'],
  ],
  batch: () => [['evil.json', '--over', 'rows.txt', '--dry-run']],
  check: () => [['evil.json'], ['evil.json', '--strict', '--json']],
  test: () => [['--list'], ['evil.test.yaml', '--list', '--json']],
  graph: () => [['evil.json'], ['evil.json', '--format', 'svg']],
  // Nobody is there; and the project's own queue is asked only where the user installed what it takes.
  worker: () => [['--queue', 'redis://127.0.0.1:1']],
  workers: () => [['--queue', 'redis://127.0.0.1:1', '--json']],
  runs: () => [[], ['--json']],
  'runs show': () => [['last']],
  'runs attach': () => [['last']],
  'runs wait': () => [['last', '--timeout', '1s']],
  'runs logs': () => [['last'], ['last', '--events']],
  'runs cancel': () => [['last']],
  'runs clear': () => [['--all']],
  trace: () => [['last']],
  report: () => [[], ['last', '--out', inBase('clone/r.html'), '--no-outputs', '--json']],
  approve: () => [[made.runId, 'sure']],
  reject: () => [[made.runId, 'sure']],
  'checkpoint export': () => [['last']],
  'checkpoint show': () => [[inBase('checkpoint.json')]],
  'cache status': () => [[], ['evil.json'], ['evil.json', '--json']],
  'cache list': () => [[]],
  'cache show': () => [[made.key]],
  'cache explain': () => [['evil.json'], ['evil.json', 'do']],
  explain: () => [['evil.json'], ['evil.json', 'do']],
  list: () => [[], ['--json']],
  completion: () => [['bash'], ['zsh'], ['fish']],
  'cache clear': () => [['evil.json'], ['--all']],
  'cache inputs': () => [
    ['evil.json', 'do'],
    ['evil.json', 'do', '--suggest', '--json'],
  ],
  // Without --yes, and with nobody to ask.
  audit: () => [['evil.json']],
  'cache gc': () => [[]],
  'cache verify': () => [[]],
  'cache export': () => [[inBase('clone/out.tgz')]],
  'cache import': () => [[inBase('archive.tgz')]],
  // The project names the server and the token: neither goes anywhere without the user's word.
  'cache push': () => [[], ['evil.json']],
  'cache pull': () => [[], ['evil.json']],
  'cache keygen': () => [[], ['--json']],
  'config list': () => [['--all']],
  'config get': () => [['runner']],
  'config set': () => [
    ['model', 'm'],
    ['model', 'm', '--user'],
  ],
  'config unset': () => [['model']],
  init: () => [[]],
  new: () => [['mine']],
  // A folder that came with the project: a plan in it is looked at, and not used.
  'assemble list': () => [[], ['--json']],
  'assemble show': () => [['last']],
  'assemble diff': () => [['last']],
  'assemble promote': () => [['last', '--as', 'mine']],
  // Without a client it ends at once; what its tools do is below.
  mcp: () => [[], ['--read-only']],
  'mcp install': () => [['claude'], ['codex', '--yes'], ['pi']],
  schema: () => [[]],
  doctor: () => [[], ['--json']],
};

/** Running is what these are for: then the project's commands are executed, as with make. */
const RUNS = ['resume', 'assemble'];
/** Ends when it is told to: below. */
const SERVES = ['ui'];

it.each(COMMANDS.map(({ name }) => name).filter((name) => ![...RUNS, ...SERVES].includes(name)))(
  'taskflow %s executes nothing and asks nobody',
  async (name) => {
    const calls = CALLS[name];
    // A new command has to say here how it is called, and be held to this as well.
    expect(calls).toBeDefined();
    for (const args of calls!()) {
      const { status, stderr } = await run('clone', [...name.split(' '), ...args]);
      // It got as far as looking: nothing is protected by an error in the command line.
      expect([args, stderr, status]).toEqual([
        args,
        expect.not.stringMatching(/usage:|internal error/),
        expect.any(Number),
      ]);
      expect([args, executed()]).toEqual([args, '']);
      expect([args, requests]).toEqual([args, []]);
    }
  },
);

/** How a client calls the tools that say of themselves that they only look. */
const TOOLS: Readonly<Record<string, () => object>> = {
  list_flows: () => ({}),
  check_flow: () => ({ flow: 'evil.json' }),
  plan_flow: () => ({ flow: 'evil.json' }),
  run_status: () => ({ run: made.runId }),
  wait_run: () => ({ run: made.runId, wait_seconds: 1 }),
  explain_phase: () => ({ flow: 'evil.json', phase: 'do' }),
  trace_run: () => ({ run: made.runId }),
  cache_status: () => ({ flow: 'evil.json' }),
};

it('the tools of taskflow mcp that look execute nothing either, nor do its resources', async () => {
  const PATH = `${inBase('bin')}:${process.env['PATH']}`;
  const env = { HOME: inBase('home'), PATH, SECRET_TOKEN: 'hidden-token' };
  const mcp = await connectMcp({ cwd: inBase('clone'), env });
  const { tools } = await mcp.client.listTools();
  for (const { name } of tools.filter(({ annotations }) => annotations?.readOnlyHint)) {
    // A new tool has to say here how it is called, and be held to this as well.
    const { isError, text } = await mcp.call(name, TOOLS[name]!() as Record<string, unknown>);
    expect([name, isError, text]).toEqual([name, false, expect.any(String)]);
    expect([name, executed(), requests]).toEqual([name, '', []]);
  }
  const { resources } = await mcp.client.listResources();
  for (const { uri } of resources) await mcp.client.readResource({ uri });
  expect([executed(), requests]).toEqual(['', []]);
  // What shows that the above could have.
  await mcp.call('run_flow', { flow: 'evil.json', wait_seconds: 30 });
  expect(executed()).not.toBe('');
  await mcp.close();
});

it('taskflow ui executes nothing and asks nobody, whatever is looked at', async () => {
  const PATH = `${inBase('bin')}:${process.env['PATH']}`;
  const ui = startCli(['ui', '--port', '0'], { cwd: inBase('clone'), env: { HOME: inBase('home'), PATH } });
  while (!ui.stdout().includes('\n')) await new Promise((resolve) => setTimeout(resolve, 20));
  const browser = browserAt(Number(new URL(ui.stdout()).port));
  await browser.enter(ui.stdout().trim());
  for (const path of [
    '/api/runs',
    `/api/runs/${made.runId}`,
    `/api/runs/${made.runId}/detail?name=sure`,
    '/api/cache',
  ]) {
    expect([path, (await browser.look(path)).status]).toEqual([path, 200]);
  }
  expect((await browser.post('/api/clear', { all: true, preview: true })).json()).toMatchObject({ ok: true });
  ui.kill('SIGINT');
  expect((await ui.done).status).toBe(0);
  expect([executed(), requests]).toEqual(['', []]);
});

it('completing a command line executes nothing either', async () => {
  for (const words of [
    ['run', 'e'],
    ['run', 'evil.json', '--only', ''],
    ['run', 'evil.json', '--runner', ''],
  ]) {
    const { stdout } = await run('clone', ['__complete', ...words]);
    expect([words, stdout === '', executed(), requests]).toEqual([words, false, '', []]);
  }
});

it('what is not asked is not known: a dry run says so, and a kept result is still found', async () => {
  const { stdout } = await run('clone', ['run', 'evil.json', '--dry-run', '--json']);
  const { phases } = JSON.parse(stdout) as { phases: { id: string; would: string }[] };
  const would = Object.fromEntries(phases.map((phase) => [phase.id, phase.would]));
  expect(would).toMatchObject({ 'ask-evil': 'unknown', 'ask-far': 'unknown', do: 'unknown', 'ask-pi': 'run' });
});

it('a run executes what the project says, which is what shows that the above could have', async () => {
  await run('clone', ['run', 'evil.json', '--keep-going', '--no-cache']);
  expect(executed()).toContain('./evil.sh');
});

it('doctor --probe starts and asks, after it has said what', async () => {
  write('clone/evil.sh', `#!/bin/sh\necho "$0 $*" >> ${mark()}\necho 9.9.9\necho ran >&2\n`, 0o755);
  const { stderr, stdout } = await run('clone', ['doctor', '--probe', '--json']);
  expect(executed()).toContain('./evil.sh --version');
  expect(stderr).toContain('starts ./evil.sh --version');
  expect(stderr).toMatch(/asks http:\/\/127\.0\.0\.1:\d+\/v1\/models/);
  const { findings } = JSON.parse(stdout) as { findings: { name: string; message: string }[] };
  expect(findings.find(({ name }) => name === 'runner evil')?.message).toContain('9.9.9');
  // The token of the user still needs the user's word.
  expect(requests).toEqual([]);
  const { port } = server.address() as AddressInfo;
  await run('clone', ['doctor', '--probe', '--allow-key', `SECRET_TOKEN=http://127.0.0.1:${port}/v1`]);
  expect(requests).toEqual([{ url: '/v1/models', key: 'Bearer hidden-token' }]);
});

it('doctor says which programs it found, without starting them', async () => {
  const { stdout } = await run('clone', ['doctor']);
  expect(stdout).toMatch(/runner claude +.*bin\/claude/);
  expect(stdout).toContain('--probe');
});
