import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runCli, type TestProject } from '../support/cli.js';
import { startCli } from '../support/live-cli.js';
import { type ModelServer, startModelServer } from '../support/model-server.js';
import { answer, createReview, FLOW, recordingsOf, TEST } from './support.js';

let server: ModelServer;
let project: TestProject;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
beforeEach(() => {
  server.script = answer;
});
afterEach(() => {
  project.remove();
  server.reset();
});

/** Temporary files of these commands are in a folder of their own: other tests run beside this one. */
const own = mkdtempSync(join(tmpdir(), 'own-'));
const env = { TMPDIR: own };
const leftBehind = () => readdirSync(own).filter((name) => name.startsWith('taskflow-cases-'));

describe('taskflow test', () => {
  it('records each call once, replays without a call, and updates only what has no recording', async () => {
    project = createReview(server.url);
    const unrecorded = await project.run(['test']);
    expect([unrecorded.status, server.calls.length]).toEqual([1, 0]);
    expect(unrecorded.stdout).toContain('no recording of this call: "Note a.txt in a plain tone."');

    const recorded = await project.run(['test', '--record']);
    expect([recorded.stdout, recorded.status]).toEqual([expect.stringContaining('recorded 7 calls'), 0]);
    expect(server.calls).toHaveLength(7);
    server.reset();

    const replayed = await project.run(['test']);
    expect([replayed.stdout, replayed.status]).toEqual([expect.stringContaining('2 passed'), 0]);
    expect(server.calls).toHaveLength(0);

    // Only the gate's question is another one: the summary and the notes are recorded.
    project.write('flows/review.yaml', FLOW.replace('Is this good?', 'Is this very good?'));
    const changed = await project.run(['test']);
    expect(changed.status).toBe(1);
    expect(changed.stdout).toMatch(/nearest: flows\/recordings\/review\/is-this-good-\S+\.json/);
    expect(changed.stdout).toMatch(/task: ".*Is this good.*" → ".*Is this very good/);
    expect(server.calls).toHaveLength(0);
    server.script = answer;
    expect((await project.run(['test', '--update'])).status).toBe(0);
    expect(server.calls).toHaveLength(2);
    server.reset();
    const named = await project.run(['test']);
    expect([named.status, server.calls.length]).toEqual([0, 0]);
    expect(named.stdout.match(/nothing uses this recording: \S*is-this-good-\S+\.json/g)).toHaveLength(2);

    server.script = answer;
    const anew = await project.run(['test', '--record'], { env });
    expect(anew.stdout.match(/removed, since nothing uses it/g)).toHaveLength(2);
    expect(Object.keys(recordingsOf(project))).toHaveLength(7);
    expect(leftBehind()).toEqual([]);
  }, 120_000);

  it('a call is known by what is asked, not by the model, the runner, the client or the folder', async () => {
    project = createReview(server.url);
    await project.run(['test', '--record']);
    server.reset();
    // Nobody is installed or configured here, and it is another folder.
    const elsewhere = join(tmpdir(), 'elsewhere');
    cpSync(project.root, elsewhere, { recursive: true });
    rmSync(join(elsewhere, '.pi/taskflows/config.yaml'));
    const replayed = await runCli(['test'], { cwd: elsewhere });
    expect([replayed.stdout, replayed.status]).toEqual([expect.stringContaining('2 passed'), 0]);
    rmSync(elsewhere, { recursive: true });

    const withPrompt = (more: string) => FLOW.replace('as: file', `as: file\n    ${more}`);
    for (const [more, says] of [
      ['systemPrompt: Be brief.', 'systemPrompt: "" → "Be brief."'],
      ['tools: [read]', 'tools: none → read'],
      ['thinking: high', 'thinking: none → high'],
    ] as const) {
      project.write('flows/review.yaml', withPrompt(more));
      const { status, stdout } = await project.run(['test', '-t', 'two files']);
      expect([stdout, status]).toEqual([expect.stringContaining(says), 1]);
    }
    project.write('flows/review.yaml', withPrompt('model: another'));
    expect((await project.run(['test'])).status).toBe(0);
    expect(server.calls).toHaveLength(0);
  }, 120_000);

  it('equal calls are told apart by their number, and an answer that comes later is found later', async () => {
    const flow = `phases:
  - id: list
    task: Say a JSON list.
    output: json
    retry: { max: 2, backoffMs: 1 }
`;
    const test = `flow: ./again.yaml
cases:
  - name: the second answer counts
    expect: { calls: 2, phases: { list: { json: [1] } } }
`;
    project = createReview(server.url, { 'flows/again.yaml': flow, 'flows/again.test.yaml': test });
    let count = 0;
    server.script = () => ({ text: ++count === 1 ? 'no list' : '[1]' });
    const recorded = await project.run(['test', 'flows/again.yaml', '--record']);
    expect([recorded.stdout, recorded.status]).toEqual([expect.stringContaining('recorded 2 calls'), 0]);
    const files = Object.entries(recordingsOf(project, 'again'));
    expect(files.map(([, text]) => JSON.parse(text).request.ordinal ?? 1).sort()).toEqual([1, 2]);
    server.reset();
    expect((await project.run(['test', 'flows/again.test.yaml'])).status).toBe(0);
    const [second] = files.find(([, text]) => text.includes('"ordinal": 2'))!;
    rmSync(join(project.root, 'flows/recordings/again', second));
    const { stdout, status } = await project.run(['test', 'flows/again.test.yaml']);
    expect([stdout, status]).toEqual([expect.stringContaining('recorded once; this is call 2'), 1]);
    expect(server.calls).toHaveLength(0);
  }, 120_000);

  it('a refused connection is not recorded: the next --update asks again', async () => {
    project = createReview(server.url);
    server.script = (call) => (call.prompt.startsWith('Sum up') ? { status: { code: 401, times: 9 } } : answer(call));
    const broken = await project.run(['test', '--record', '-t', 'two files']);
    expect(broken.status).toBe(1);
    expect(Object.values(recordingsOf(project)).filter((text) => text.includes('Sum up'))).toEqual([]);
    expect(Object.keys(recordingsOf(project))).toHaveLength(2);
    server.reset();
    server.script = answer;
    expect((await project.run(['test', '--update', '-t', 'two files'])).status).toBe(0);
    expect(server.calls).toHaveLength(2);
  }, 120_000);

  it('secrets are in no recording, and another secret finds the same recording', async () => {
    const flow = `name: secret
args: { token: { secret: true } }
phases:
  - { id: ask, task: "Use {args.token}." }
`;
    const test = (token: string) => `flow: ./secret.yaml\ncases:\n  - { name: a secret, args: { token: ${token} } }\n`;
    project = createReview(server.url, {
      'flows/secret.yaml': flow,
      'flows/secret.test.yaml': test('hunter2-hunter2'),
    });
    server.script = ({ prompt }) => ({ text: `You said: ${prompt} and env-key-value-1` });
    const key = { MY_API_KEY: 'env-key-value-1' };
    const recorded = await project.run(['test', 'flows/secret.yaml', '--record'], { env: key });
    expect([recorded.stdout, recorded.status]).toEqual([expect.stringContaining('1 passed'), 0]);
    expect(server.calls[0]!.prompt).toContain('hunter2-hunter2');
    const [text] = Object.values(recordingsOf(project, 'secret'));
    expect(text).not.toMatch(/hunter2|env-key-value/);
    expect(text).toContain('Use (secret token).');
    expect(text).toContain('(secret MY_API_KEY)');
    server.reset();
    project.write('flows/secret.test.yaml', test('another-secret-value'));
    expect((await project.run(['test', 'flows/secret.yaml'])).status).toBe(0);
    expect(server.calls).toHaveLength(0);
  }, 120_000);

  it('files that the agent wrote and removed are recorded, and are there again in a replay', async () => {
    const agent = `#!/bin/sh
cat > /dev/null
echo call >> "$HOME/calls"
mkdir -p out
pwd > out/where.txt
printf '\\377' > out/raw.bin
rm -f src/a.txt
echo done
`;
    const flow = `name: write
phases:
  - { id: make, task: "Write it.", runner: mine }
  - { id: show, type: script, dependsOn: [make], run: [cat, out/where.txt] }
`;
    const test = `flow: ./write.yaml
cases:
  - name: files
    expect:
      phases: { show: { matches: "project$" } }
      files: { out/where.txt: project, out/raw.bin: {}, src/a.txt: null, src/b.txt: two }
`;
    project = createReview(server.url, {
      '.pi/taskflows/config.yaml': 'runners: { mine: { command: [./agent.sh], env: [HOME] } }\n',
      'flows/write.yaml': flow,
      'flows/write.test.yaml': test,
      '.home/calls': '',
    });
    project.write('agent.sh', agent, 0o755);
    const calls = () => callsIn(project.root);
    const recorded = await project.run(['test', 'flows/write.yaml', '--record']);
    expect([recorded.stdout, recorded.status, calls()]).toEqual([expect.stringContaining('1 passed'), 0, 1]);
    const [text] = Object.values(recordingsOf(project, 'write'));
    expect(JSON.parse(text!).files).toEqual({
      'out/raw.bin': { base64: '/w==' },
      'out/where.txt': ['‹project›', ''],
      'src/a.txt': null,
    });
    expect(text).not.toContain('taskflow-cases');
    const replayed = await project.run(['test', 'flows/write.yaml']);
    expect([replayed.stdout, replayed.status, calls()]).toEqual([expect.stringContaining('1 passed'), 0, 1]);
  }, 120_000);
});

function callsIn(root: string): number {
  return readFileSync(join(root, '.home/calls'), 'utf8').split('\n').filter(Boolean).length;
}

describe('cases', () => {
  it('two cases after one both begin with what it left; -t runs what a case follows', async () => {
    const fork = `${TEST}  - name: a file less costs nothing
    after: two files
    edit: { src/b.txt: null }
    expect: { reused: ["notes[a.txt]"], executed: [files, summary, gate], files: { src/a.txt: one } }
`;
    project = createReview(server.url, { 'flows/review.test.yaml': fork });
    const recorded = await project.run(['test', '--record', '--json']);
    expect(JSON.parse(recorded.stdout)).toMatchObject({ status: 'passed', passed: 3, recordings: { made: 9 } });
    // The first case ran twice, and was recorded once.
    expect(server.calls).toHaveLength(9);
    server.reset();
    const { stdout, status } = await project.run(['test', '-t', 'a file LESS', '--json']);
    const report = JSON.parse(stdout);
    expect(status).toBe(0);
    expect(report.files[0].cases.map(({ name }: { name: string }) => name)).toEqual(['a file less costs nothing']);
    expect(report.recordings.unused).toEqual([]);
    expect(server.calls).toHaveLength(0);
  }, 120_000);

  it('an expectation that is not met fails the case at its line, and what follows it is not run', async () => {
    project = createReview(server.url);
    await project.run(['test', '--record']);
    project.write(
      'flows/review.test.yaml',
      TEST.replace('output: a.txt', 'output: z.txt').replace('calls: 4', 'calls: 5'),
    );
    const { stdout, status } = await project.run(['test', '--json', '--junit', 'out/report.xml']);
    expect(status).toBe(1);
    const [failed, skipped] = JSON.parse(stdout).files[0].cases;
    expect(failed.differences).toEqual([
      { what: 'output', line: 5, message: expect.stringMatching(/^lacks "z.txt"; it is "# Summary/) },
      { what: 'calls', line: 8, message: 'were 4, not 5' },
    ]);
    expect(skipped).toMatchObject({ status: 'skipped', reason: 'it follows "two files", which failed' });
    const xml = readFileSync(join(project.root, 'out/report.xml'), 'utf8');
    expect(xml).toContain('<testsuite name="flows/review.test.yaml" tests="2" failures="1" errors="0" skipped="1"');
    expect(xml).toMatch(
      /name="two files" time="[^"]+" file="flows\/review.test.yaml" line="3">\n +<failure type="difference" mess/,
    );
  }, 120_000);

  it('hooks are not called: nobody hears of a run that is only a test', async () => {
    const hook = 'hooks: { onEnd: [sh, -c, "echo told >> $HOME/told"] }';
    project = createReview(server.url, { 'flows/review.yaml': `${FLOW}${hook}\n`, '.home/keep': '' });
    const told = () => readdirSync(join(project.root, '.home')).includes('told');
    expect((await project.run(['test', '--record'])).status).toBe(0);
    expect(told()).toBe(false);
    await project.run(['run', 'flows/review.yaml']);
    expect(told()).toBe(true);
  }, 60_000);

  it('Ctrl-C ends what runs, removes the temporary projects and keeps what was recorded', async () => {
    project = createReview(server.url);
    server.script = (call) => (call.prompt.startsWith('Sum up') ? { end: 'hang' } : answer(call));
    const live = startCli(['test', '--record'], { cwd: project.root, env });
    for (const end = Date.now() + 60_000; server.calls.length < 3 && Date.now() < end; ) await sleep(50);
    expect(leftBehind()).toHaveLength(1);
    live.kill('SIGINT');
    const { status, stdout } = await live.done;
    expect([status, stdout]).toEqual([130, expect.stringContaining('interrupted: what was recorded is kept')]);
    expect(leftBehind()).toEqual([]);
    expect(Object.keys(recordingsOf(project))).toHaveLength(2);
  }, 120_000);
});
