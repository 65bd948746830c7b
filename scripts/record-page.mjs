// `npm run picture:page` makes docs/report.png and docs/ui.png: pictures of a real report and of `taskflow ui`, in the
// system's Chromium. The flow is run a few times, with an edit between; a program answers in place of a model.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('..', import.meta.url));
const browser = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((path) => existsSync(path));
if (!browser) throw new Error('install the package chromium');

const AGENT = `
const prompt = (await process.stdin.toArray()).join('');
await new Promise((go) => setTimeout(go, 300 + (prompt.length * 37) % 1200));
const words = prompt.split(/\\s+/).length;
const usage = { inputTokens: 2000 + words * 150, cachedInputTokens: 0, outputTokens: 700 + prompt.length % 400 };
const file = /Review the file (\\S+)/.exec(prompt)?.[1];
const text = file
  ? 'No mistake in ' + file + '. One branch is not reached by any test.'
  : /risks/.test(prompt)
    ? '1. A payment that times out is retried twice.\\n2. Nobody has tested the parser with an empty file.'
    : /notes/.test(prompt)
      ? '# 2.1\\n\\n- Payments are retried once.\\n- The parser names the place of every mistake.'
      : 'Say first what a reader has to change.';
const usd = usage.inputTokens * 3e-6 + usage.outputTokens * 15e-6;
console.log(JSON.stringify({ text, model: 'large-1', usage: { ...usage, usd } }));
`;
const FLOW = `
name: release
defaults: { cache: { scope: cross-run, fingerprint: [] } }
phases:
  - id: files
    type: script
    run: [node, -e, "console.log(JSON.stringify(require('fs').readdirSync('src').map((name) => 'src/' + name)))"]
    output: json
    cache: { scope: cross-run, fingerprint: ["glob:src/*"] }
  - { id: style, task: How should release notes for engineers be written? }
  - id: tests
    type: script
    run: "sleep 2; cat src/* | wc -l"
    cache: { scope: cross-run, fingerprint: ["glob!:src/*"] }
  - id: review
    type: map
    over: "{steps.files.json}"
    as: file
    context: ["{file}"]
    task: Review the file {file}
  - { id: risks, dependsOn: [tests], task: "Which risks are left after these reviews? {steps.review.output}" }
  - id: notes
    task: "{steps.style.output} Write the notes. {steps.review.output} {steps.risks.output}"
  - { id: sure, type: approval, task: "Publish?\\n{steps.notes.output}" }
`;
const NAMES = [
  'api',
  'cache',
  'cli',
  'config',
  'graph',
  'parser',
  'payments',
  'queue',
  'report',
  'runner',
  'schema',
  'store',
];

const folder = mkdtempSync(join(tmpdir(), 'taskflow-page-'));
const write = (path, text) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
};
const taskflow = (...args) => {
  try {
    execFileSync(process.execPath, [join(root, 'dist/taskflow.cjs'), ...args], { cwd: folder, stdio: 'ignore' });
  } catch (error) {
    // 4: it waits for the approval, as it should.
    if (error.status !== 4) throw error;
  }
};

try {
  write('agent.mjs', AGENT);
  write('release.yaml', FLOW);
  const runner =
    'runner: demo\nrunners: { demo: { command: [node, agent.mjs], format: json, version: "1", concurrency: 4 } }\n';
  write('.pi/taskflows/config.yaml', runner);
  for (const name of NAMES) write(`src/${name}.ts`, `export const ${name} = 1;\n`);
  taskflow('run', 'release.yaml', '--fresh');
  write('src/payments.ts', 'export const payments = 2;\n');
  taskflow('run', 'release.yaml', '--fresh');
  taskflow('report', '--out', 'report.html');
  for (const name of ['queue', 'store', 'queue']) {
    write(`src/${name}.ts`, `export const ${name} = ${name.length};\n// ${Math.random()}\n`);
    taskflow('run', 'release.yaml', '--fresh', '--yes');
  }
  const chrome = await chromium.launch({ executablePath: browser, args: ['--no-sandbox', '--disable-gpu'] });
  const page = await chrome.newPage({ viewport: { width: 1280, height: 1010 }, colorScheme: 'light' });
  await page.goto(pathToFileURL(join(folder, 'report.html')).href);
  await page.click('[data-phase="risks"]');
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(root, 'docs/report.png') });
  const ui = spawn(process.execPath, [join(root, 'dist/taskflow.cjs'), 'ui', '--no-open'], { cwd: folder });
  const address = await new Promise((resolve) => {
    const read = (chunk) => {
      const [found] = /http:\S+/.exec(String(chunk)) ?? [];
      if (found) resolve(found);
    };
    ui.stdout.on('data', read);
    ui.stderr.on('data', read);
  });
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.goto(address);
  await page.getByText('release').first().waitFor();
  await page.screenshot({ path: join(root, 'docs/ui.png') });
  ui.kill('SIGINT');
  await chrome.close();
  for (const name of ['report', 'ui']) {
    process.stdout.write(
      `wrote docs/${name}.png (${Math.round(statSync(join(root, `docs/${name}.png`)).size / 1024)} KB)\n`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
