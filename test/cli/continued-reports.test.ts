import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLI, cliEnvironment, createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
beforeEach(() => {
  project = createTestProject();
});
afterEach(() => {
  project.remove();
  rmSync(counted(), { force: true });
});

/** Beside the project: the count is no change of it. */
const counted = () => `${project.root}.count`;
const executed = () => (existsSync(counted()) ? readFileSync(counted(), 'utf8').length : 0);
const file = (folder: string) => join(folder, 'flow.yaml');

/** `work` reads whatever it likes; `end` fails, so that each run continues the one before. */
function shell(folder: string, line: string): number | null {
  if (!existsSync(join(project.root, file(folder)))) {
    const work = `{ id: work, type: script, run: 'printf x >> ${counted()}; cat in.txt' }`;
    project.write('in.txt', 'one');
    project.write(
      file(folder),
      `name: f\nphases:\n  - ${work}\n  - { id: end, type: script, run: exit 1, dependsOn: [work] }\n`,
    );
  }
  const env = cliEnvironment(project.root) as NodeJS.ProcessEnv;
  const run = `"$0" "$1" run ./${file(folder)}`;
  return spawnSync('sh', ['-c', line.replaceAll('RUN', run), process.execPath, CLI], { cwd: project.root, env }).status;
}

describe.each(['.', 'flows'])('what taskflow writes for people into the project, with a flow in %s', (folder) => {
  it.each([
    ['the output of this run', ['RUN', 'RUN > now.log 2>&1']],
    ['the last words of the run before', ['RUN > before.json 2> before.log', 'RUN']],
    ['a report of it', ['RUN', '"$0" "$1" report last', 'RUN']],
    ['a file for CI', ['RUN --junit junit.xml', 'RUN --junit junit.xml']],
  ])('costs a run that continues nothing: %s', (_what, lines) => {
    for (const line of lines) shell(folder, line);
    expect(executed()).toBe(1);
  });

  it('costs one execution where the first report of a folder changes it, and none after that', () => {
    shell(folder, 'mkdir ci');
    for (const _run of [1, 2, 3, 4]) shell(folder, 'RUN --junit ci/j.xml');
    expect(executed()).toBe(2);
  });

  it('counts once somebody has edited it', () => {
    for (const line of ['RUN', '"$0" "$1" report last', 'RUN']) shell(folder, line);
    appendFileSync(join(project.root, 'report.html'), '<!-- mine -->');
    shell(folder, 'RUN');
    expect(executed()).toBe(2);
  });

  it.each([
    ['appears', () => writeFileSync(join(project.root, 'new.txt'), '')],
    ['is edited', () => writeFileSync(join(project.root, 'in.txt'), 'two')],
    ['is gone', () => rmSync(join(project.root, 'old.txt'))],
  ])('does not hide a file that %s', (_how, change) => {
    project.write('old.txt', '');
    shell(folder, 'RUN');
    change();
    shell(folder, 'RUN > now.log 2>&1');
    expect(executed()).toBe(2);
  });
});
