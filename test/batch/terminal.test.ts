import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { CLI, cliEnvironment, createTestProject, type TestProject } from '../support/cli.js';
import { topics } from './support.js';

let project: TestProject;
afterEach(() => project?.remove());

const hasScript = spawnSync('script', ['--version']).status === 0;

/** A batch on a real terminal; `Ctrl-C` is typed once `until` has appeared. */
function batchOnTerminal(flags: string, until?: RegExp): Promise<{ status: number | null; screen: string }> {
  const line = `'${process.execPath}' '${CLI}' batch flow.yaml --over topics.txt --no-cache ${flags}`;
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    cwd: project.root,
    env: { ...cliEnvironment(project.root), TERM: 'xterm-256color', NO_COLOR: '1' } as NodeJS.ProcessEnv,
  });
  let screen = '';
  let isTyped = false;
  child.stdout.on('data', (chunk: Buffer) => {
    screen += chunk.toString('utf8');
    if (isTyped || !until?.test(screen)) return;
    isTyped = true;
    child.stdin.write('\x03');
  });
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, screen })));
}

/** What stays on the screen. */
function endOf(screen: string): string {
  return screen.slice(screen.lastIndexOf('\x1b[J')).replaceAll('\r', '');
}

describe.skipIf(!hasScript)('on a terminal a batch', () => {
  it('is one live bar, and leaves a summary', async () => {
    project = createTestProject({
      'flow.yaml': 'name: slow\nargs: { topic: {} }\nphases:\n  - { id: nap, type: script, run: [sleep, "0.15"] }\n',
      'topics.txt': `${topics(12)}`,
    });
    const { status, screen } = await batchOnTerminal('--concurrency 4 --out results');
    expect(status).toBe(0);
    expect(screen).toMatch(/slow.* .*█.*░.* [1-9]\d? of 12 · .* left/);
    expect(screen).toMatch(/Topic \d+ .*nap/);
    expect(endOf(screen)).not.toMatch(/\x1b\[\d+A/);
    expect(endOf(screen)).toMatch(/✔.*slow.* after .*: 12 of 12 rows done/);
    expect(endOf(screen)).toContain('→ results/summary.md ');
  });

  it('names the rows that fail while it goes, and says after Ctrl-C what was under way', async () => {
    const script = 'case "$0" in *2) echo "no page for $0" >&2; exit 3;; *1) exit 0;; esac; exec sleep 60';
    const run = `[sh, -c, '${script}', "{args.topic}"]`;
    project = createTestProject({
      'flow.yaml': `name: slow\nargs: { topic: {} }\nphases:\n  - { id: look, type: script, run: ${run} }\n`,
      'topics.txt': topics(9),
    });
    const { status, screen } = await batchOnTerminal(
      '--concurrency 3 --jobs 3 --out results',
      /✖ Topic 2[\s\S]*Topic 5/,
    );
    expect(status).toBe(130);
    expect(screen).toContain('✖ Topic 2   look: sh exited with status 3: no page for Topic 2');
    const counts = '1 of 9 rows done, 1 failed, 3 under way, 4 not run';
    expect(endOf(screen)).toMatch(new RegExp(`✖ slow was interrupted after .*: ${counts}`));
    expect(readFileSync(join(project.root, 'results/summary.md'), 'utf8')).toContain(
      'Interrupted: 1 of 9 rows done, 1 failed, 3 under way when it stopped, 4 not run.',
    );
    expect((await project.run(['runs', 'show', 'last'])).stdout).toContain(`\n${counts}\n`);
    const shown = JSON.parse((await project.run(['runs', 'show', 'last', '--json'])).stdout);
    expect(shown).toMatchObject({ total: 9, done: 1, failed: 1, underWay: 3, left: 4 });
  });
});
