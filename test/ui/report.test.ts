import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256Hex } from '../../src/util/digest.js';
import { CLI, cliEnvironment, createTestProject, INSTALLED, type TestProject } from '../support/cli.js';
import { endLine, RUN_ID, resultLine, runLine, writeJournal } from '../support/written-journal.js';

const FLOW = {
  name: 'made',
  args: { word: { default: 'ARGUMENT-WORD' } },
  phases: [
    { id: 'say', type: 'script', run: ['echo', 'OUTPUT-WORD', '{args.word}'] },
    { id: 'fail', type: 'script', run: 'echo STREAM-WORD >&2; exit 3', optional: true },
    { id: 'ask', type: 'approval', task: 'QUESTION-WORD {steps.say.output}' },
  ],
};

let project: TestProject;
beforeEach(() => {
  project = createTestProject({ 'made.json': JSON.stringify(FLOW) });
});
afterEach(() => project.remove());

const reportOf = (file = 'report.html') => readFileSync(join(project.root, file), 'utf8');
const WORDS = ['ARGUMENT-WORD', 'OUTPUT-WORD', 'STREAM-WORD', 'QUESTION-WORD'];

describe('taskflow report', () => {
  it('writes the last run into one file, and says which', async () => {
    const { stdout } = await project.run(['run', 'made.json', '--json']);
    const { runId } = JSON.parse(stdout) as { runId: string };
    const made = await project.run(['report', '--json']);
    expect([made.status, made.stderr]).toEqual([0, expect.stringContaining(`run ${runId}`)]);
    const file = join(project.root, 'report.html');
    expect(JSON.parse(made.stdout)).toEqual({ runId, file, bytes: statSync(file).size });
    for (const word of WORDS) expect(reportOf()).toContain(word);
  });

  it('leaves contents out with --no-outputs: prompts, outputs, arguments, error streams, questions', async () => {
    await project.run(['run', 'made.json']);
    const { status } = await project.run(['report', '--no-outputs']);
    expect(status).toBe(0);
    // What the flow itself says is no content of a run; the command that is shown in an error is.
    for (const word of WORDS) expect(reportOf()).not.toContain(word);
    expect(reportOf()).toContain('"say"');
  });

  it('holds no value of a variable that the settings name, even one that a journal holds', async () => {
    project.write(
      '.pi/taskflows/config.yaml',
      'runners:\n  far: { type: openai, baseUrl: "http://127.0.0.1:9/v1", model: m, apiKeyEnv: FAR_KEY }\n',
    );
    const output = { text: 'it is hunter2hunter2, really', json: null };
    const line = resultLine('a', {
      output,
      reason: 'because of hunter2hunter2',
      inputs: { task: 'use hunter2hunter2' },
    });
    writeJournal(project.root, [runLine([{ id: 'a' }]), line, endLine()]);
    const { status } = await project.run(['report'], { env: { FAR_KEY: 'hunter2hunter2' } });
    expect(status).toBe(0);
    expect(reportOf()).not.toContain('hunter2hunter2');
    expect(reportOf()).toContain('FAR_KEY');
  });

  it('says what is wrong: no run yet, no such run, a place that cannot be written', async () => {
    const none = await project.run(['report']);
    expect([none.status, none.stderr]).toEqual([2, expect.stringContaining('nothing has run in this project yet')]);
    await project.run(['run', 'made.json']);
    const unknown = await project.run(['report', 'nowhere']);
    expect([unknown.status, unknown.stderr]).toEqual([2, expect.stringContaining('there is no run nowhere')]);
    const beside = await project.run(['report', '--compare', 'nowhere']);
    expect([beside.status, beside.stderr]).toEqual([2, expect.stringContaining('--compare: there is no run nowhere')]);
    mkdirSync(join(project.root, 'taken.html'));
    const folder = await project.run(['report', '--out', 'taken.html']);
    expect([folder.status, folder.stderr]).toEqual([1, expect.stringContaining('taken.html cannot be written')]);
    const missing = await project.run(['report', '--out', 'not/there/report.html']);
    expect([missing.status, existsSync(join(project.root, 'not'))]).toEqual([1, false]);
  });

  it('reports a run that is still going as far as it is', async () => {
    project.write(
      'slow.json',
      JSON.stringify({ name: 'slow', phases: [{ id: 'wait', type: 'script', run: 'sleep 30' }] }),
    );
    const { stdout } = await project.run(['run', 'slow.json', '--detach']);
    const runId = stdout.trim();
    for (let tries = 0; tries < 100 && !journal(runId).includes('"type":"start"'); tries++) await pause(50);
    const { status, stderr } = await project.run(['report', runId]);
    await project.run(['runs', 'cancel', runId]);
    expect([status, stderr]).toEqual([0, expect.stringContaining('still going')]);
    expect(dataOf(reportOf()).view).toMatchObject({ state: 'running', phases: [{ id: 'wait', state: 'running' }] });
  });

  const journal = (runId: string) => {
    const path = join(project.root, '.pi/taskflows/runs', runId, 'journal.jsonl');
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  };
  const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

  it('needs little memory for a journal of 100 MB', () => {
    const text = 'many words '.repeat(9_000);
    const lines = function* () {
      yield runLine([{ id: 'a', kind: 'map' }]);
      for (let at = 1; at <= 1_000; at++) {
        yield resultLine('a', {
          type: 'unit',
          unit: `item ${at}`,
          kind: 'map',
          output: { text: `${at} ${text}`, json: null },
        });
      }
      yield endLine();
    };
    const path = writeJournal(project.root, lines());
    expect(statSync(path).size).toBeGreaterThan(95_000_000);
    const args = ['--max-old-space-size=80', CLI, 'report'];
    const env = cliEnvironment(project.root) as NodeJS.ProcessEnv;
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: project.root, env, encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, expect.stringContaining(RUN_ID)]);
    expect(statSync(join(project.root, 'report.html')).size).toBeLessThan(20_000_000);
  });
});

describe('the file', () => {
  it('runs no other script than the one that its policy names', async () => {
    const hostile = '</script><script>alert(1)</script><!-- <style>*{}</style>';
    const output = { text: hostile, json: null };
    writeJournal(project.root, [
      runLine([{ id: 'a' }], { flow: hostile }),
      resultLine('a', { output, reason: hostile }),
      endLine(),
    ]);
    await project.run(['report']);
    const html = reportOf();
    const scripts = [...html.matchAll(/<script\b([^>]*)>([\s\S]*?)<\/script>/g)];
    expect(scripts.map(([, attributes]) => attributes)).toEqual([' type="application/json" id="data"', '']);
    const [, policy = ''] = /Content-Security-Policy" content="([^"]*)"/.exec(html) ?? [];
    const hash = (code: string) => `'sha256-${Buffer.from(sha256Hex(code), 'hex').toString('base64')}'`;
    const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(html) ?? [];
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      `script-src ${hash(scripts[1]![2]!)}`,
      `style-src ${hash(style)}`,
      "base-uri 'none'",
      "form-action 'none'",
    ]);
    expect(dataOf(html).details['a']?.said?.text).toBe(hostile);
  });

  it('names no address on the network', async () => {
    writeJournal(project.root, [runLine([{ id: 'a' }]), resultLine('a'), endLine()]);
    await project.run(['report']);
    const names = [...reportOf().matchAll(/https?:\/\/[^\s"'`]+/g)].map(([address]) => address);
    // How XML and HTML name themselves.
    expect(names.filter((address) => !address.startsWith('http://www.w3.org/'))).toEqual([]);
  });

  it('has a page of less than 60 KB, compressed', () => {
    const read = (name: string) => readFileSync(join(INSTALLED, 'node_modules/taskflow-cli/dist', name));
    const bytes = gzipSync(Buffer.concat([read('page.js'), read('page-style.css')])).length;
    expect(bytes).toBeLessThan(60 * 1024);
    expect(bytes).toBeGreaterThan(10_000);
  });
});

function dataOf(html: string) {
  const [, json = ''] = /<script type="application\/json" id="data">([\s\S]*?)<\/script>/.exec(html) ?? [];
  return JSON.parse(json) as import('../../src/ui/view/types.js').ReportData;
}

it('a report is no change of the worktree: what fingerprints it is reused', async () => {
  project.write(
    'watch.json',
    JSON.stringify({
      name: 'watch',
      phases: [{ id: 'see', type: 'script', run: 'ls', cache: { scope: 'cross-run', fingerprint: ['git:worktree'] } }],
    }),
  );
  spawnSync('git', ['init', '-q'], { cwd: project.root });
  writeFileSync(join(project.root, '.gitignore'), '.home\n.pi\n');
  await project.run(['run', 'watch.json', '--fresh']);
  await project.run(['report']);
  const { stdout } = await project.run(['run', 'watch.json', '--fresh', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ reuse: { executed: 0, crossRun: 1 } });
});
