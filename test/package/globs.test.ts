import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
beforeEach(() => {
  project = createTestProject();
  for (const name of ['a.js', 'b.ts', 'c.css', 'd.md']) project.write(name, `${name}\n`);
});
afterEach(() => project.remove());

/** What the pattern selects, and a file that it does not. */
const PATTERNS: [pattern: string, selected: string, other: string][] = [
  ['*.{js,ts}', 'b.ts', 'c.css'],
  ['[ab].*', 'a.js', 'c.css'],
  ['[^ab].*', 'd.md', 'a.js'],
  ['@(a|c).*', 'c.css', 'b.ts'],
  ['!(a|b).{css,md}', 'd.md', 'a.js'],
  ['+([a-c]).?(c|t)s', 'b.ts', 'd.md'],
];

it.each(PATTERNS)('the installed command reuses by glob:%s', async (pattern, selected, other) => {
  const cache = { scope: 'cross-run', fingerprint: [`glob:${pattern}`] };
  // What is declared is not observed a second time: that it is read changes nothing.
  const run = `cat ${selected}`;
  project.write('flow.json', JSON.stringify({ name: 'globs', phases: [{ id: 'a', type: 'script', run, cache }] }));
  const executed = async () => {
    const { status, stdout, stderr } = await project.run(['run', './flow.json', '--json']);
    expect({ status, stderr: stderr.match(/bug|error/)?.[0] }).toEqual({ status: 0, stderr: undefined });
    const { reuse, phases, output } = JSON.parse(stdout);
    return { executed: reuse.executed, reason: phases[0].reason, output };
  };
  expect(await executed()).toMatchObject({ executed: 1, output: selected });
  expect(await executed()).toMatchObject({ executed: 0, output: selected });
  project.write(other, 'edited\n');
  expect(await executed()).toMatchObject({ executed: 0, output: selected });
  project.write(selected, 'edited\n');
  // By the glob, not because it was seen to be read.
  const reason = `input changed: glob:${pattern} (${selected})`;
  expect(await executed()).toEqual({ executed: 1, reason, output: 'edited' });
});

it.each(PATTERNS)('the installed command attaches context by %s', async (pattern, selected, other) => {
  project.write('.pi/taskflows/config.yaml', 'runner: me\nrunners: { me: { command: [cat], format: text } }\n');
  const phase = { id: 'a', task: 'Read these.', context: [pattern] };
  project.write('flow.json', JSON.stringify({ name: 'globs', phases: [phase] }));
  const { status, stdout } = await project.run(['run', './flow.json', '-q']);
  expect(status).toBe(0);
  expect(stdout).toContain(selected);
  expect(stdout).not.toContain(other);
});
