import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli } from '../support/cli.js';
import { type ModelServer, startModelServer } from '../support/model-server.js';
import { createRepository, localModel } from './support.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const KEPT = join(ROOT, 'flows/recordings');

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

/** Every file below a folder with its text. */
function textsIn(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {};
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.json'));
  return Object.fromEntries(files.sort().map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}

interface Report {
  readonly status: string;
  readonly passed: number;
  readonly files: readonly { readonly file: string; readonly cases: readonly object[] }[];
  readonly recordings: { readonly made: number; readonly unused: readonly string[] };
}

it('the tests of flows/ pass from their recordings, all of which are used', async () => {
  const { status, stdout, stderr } = await runCli(['test', 'flows', '--json'], { cwd: ROOT });
  const report = JSON.parse(stdout) as Report;
  expect(report.files.map(({ file }) => file)).toEqual([
    'flows/code-review.test.yaml',
    'flows/topic-research.test.yaml',
  ]);
  expect({ status, stderr, cases: report.files.flatMap(({ cases }) => cases) }).toEqual({
    status: 0,
    stderr: '',
    cases: expect.arrayContaining([expect.objectContaining({ status: 'passed' })]),
  });
  expect(report).toMatchObject({ status: 'passed', passed: 7, recordings: { made: 0, unused: [] } });
}, 180_000);

/** `UPDATE_FIXTURES=1` writes them anew: after a change of a flow, of a built-in agent or of the prompts. */
it('the recordings are what the scripted model says, call by call', async () => {
  const repository = createRepository('code-review.yaml', {
    '.pi/taskflows/config.yaml': localModel(server.url, 'scripted'),
  });
  for (const name of readdirSync(join(ROOT, 'flows'))) {
    if (name !== 'recordings') cpSync(join(ROOT, 'flows', name), join(repository.root, 'flows', name));
  }
  server.script = answer;
  const { status, stdout } = await repository.run(['test', '--record', '--json']);
  expect(JSON.parse(stdout), stdout).toMatchObject({ status: 'passed' });
  expect(status).toBe(0);
  const made = join(repository.root, 'flows/recordings');
  expect(Object.keys(textsIn(made))).toHaveLength(server.calls.length);
  if (process.env['UPDATE_FIXTURES']) {
    rmSync(KEPT, { recursive: true, force: true });
    mkdirSync(KEPT, { recursive: true });
    cpSync(made, KEPT, { recursive: true });
  }
  expect(textsIn(made)).toEqual(textsIn(KEPT));
  server.reset();
  expect((await repository.run(['test'])).status).toBe(0);
  expect(server.calls).toHaveLength(0);
  repository.remove();
}, 180_000);

const ANSWERS: readonly (readonly [RegExp, string])[] = [
  [/findings of a code review[\s\S]*pay\.js/, '## Before merging\n- shop/pay.js:1 runs what a visitor sends.'],
  [/findings of a code review/, '## Good to do\n- shop/log.js:1 says nothing about its level.'],
  [/eval\(/, '[{"line": 1, "severity": "serious", "problem": "runs code of a visitor", "advice": "use Number"}]'],
  [/log = /, '[{"line": 1, "severity": "minor", "problem": "no level", "advice": "add one"}]'],
  [/^Review this change/, '[]'],
  [/^In at most ten lines/, 'Say first what it is good for. Give numbers. Say how sure you are.'],
  [/as a JSON list[\s\S]*/, '["What drives it?", "Who is affected?"]'],
  [/^Topic: (.*)\nQuestion: (.*)/, 'Several things do, and we are fairly sure of most of them.'],
];

let asked = 0;

/** The model that the recordings are from. It gives its questions as prose first, when it is asked about marshes. */
function answer({ prompt }: { readonly prompt: string }): { text: string } {
  if (prompt.includes('as a JSON list') && prompt.includes('Salt marshes')) {
    asked += 1;
    return { text: asked === 1 ? 'Why do they grow?' : '["Why do they grow?"]' };
  }
  const [, topic] = /Write one article in Markdown about "(.*?)"/.exec(prompt) ?? [];
  if (topic !== undefined) return { text: `# ${topic}\n\nMuch is known.\n\n## What is still open\n\nThe rest.` };
  return { text: ANSWERS.find(([pattern]) => pattern.test(prompt))?.[1] ?? 'What?' };
}
