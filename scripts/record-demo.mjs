// `npm run picture` makes docs/demo.svg: a picture of real runs in a real terminal. Needs tmux and git.
// A clone of this repository is reported on three times: cold, warm, and after an edit.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ansiToSvg } from './ansi-to-svg.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const COLUMNS = 112;
const ROWS = 60;

const folder = mkdtempSync(join(tmpdir(), 'taskflow-demo-'));
const socket = join(folder, 'tmux');
const tmux = (...args) => execFileSync('tmux', ['-S', socket, ...args], { encoding: 'utf8' });

try {
  const clone = join(folder, 'project');
  execFileSync('git', ['clone', '-q', root, clone]);
  mkdirSync(join(folder, 'bin'));
  const shim = `#!/bin/sh\nexec node ${JSON.stringify(join(root, 'dist/taskflow.cjs'))} "$@"\n`;
  writeFileSync(join(folder, 'bin/taskflow'), shim, { mode: 0o755 });
  writeFileSync(
    join(folder, 'rc'),
    `PS1='\\[\\e[36m\\]$\\[\\e[0m\\] '\nPATH="${folder}/bin:$PATH"\ncd ${JSON.stringify(clone)}\nclear\n`,
  );
  const shell = ['env', '-u', 'CI', '-u', 'NO_COLOR', 'bash', '--noprofile', '--rcfile', join(folder, 'rc'), '-i'];
  tmux('-f', '/dev/null', 'new-session', '-d', '-s', 'demo', '-x', String(COLUMNS), '-y', String(ROWS), ...shell);
  await waitFor(/^\$ *$/m, 1);
  const command = 'taskflow run flows/repo-report.yaml > /dev/null';
  await type(command, 1);
  await type(command, 2);
  await type("echo '// TODO: say more about this' >> src/index.ts", 3, /\$ echo .*\n(.*\n)*\$ *$/m);
  await type(command, 3);
  const captured = tmux('capture-pane', '-e', '-p', '-t', 'demo').replace(/\n(\x1b\[[0-9;]*m)*\$ *\n*$/, '\n');
  mkdirSync(join(root, 'docs'), { recursive: true });
  writeFileSync(join(root, 'docs/demo.svg'), ansiToSvg(captured, { columns: COLUMNS, title: 'taskflow' }));
  process.stdout.write('wrote docs/demo.svg\n');
} finally {
  try {
    tmux('kill-server');
  } catch {
    // It never started.
  }
  rmSync(folder, { recursive: true, force: true });
}

/** Types a line and waits until so many runs have ended and the prompt is back. */
async function type(line, runs, until) {
  tmux('send-keys', '-t', 'demo', '-l', line);
  tmux('send-keys', '-t', 'demo', 'Enter');
  if (until) await waitFor(until, 1);
  else await waitFor(/ (?:succeeded|failed) after /g, runs);
}

async function waitFor(pattern, times) {
  for (let attempt = 0; attempt < 600; attempt++) {
    const screen = tmux('capture-pane', '-p', '-t', 'demo').trimEnd();
    const found = screen.match(new RegExp(pattern.source, 'gm'))?.length ?? 0;
    if (found >= times && /(^|\n)\$ *$/.test(screen)) return;
    await sleep(50);
  }
  throw new Error(`the terminal never showed ${pattern}:\n${tmux('capture-pane', '-p', '-t', 'demo')}`);
}
