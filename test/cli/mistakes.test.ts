import { afterEach, describe, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
afterEach(() => project?.remove());

const COUNTING = 'cat > prompt.txt; echo done';

describe('a run tells what a person most easily gets wrong', () => {
  it('a misspelt placeholder, before the first phase starts', async () => {
    project = createTestProject({
      'flow.yaml': `name: misspelt
runner: shell
phases:
  - { id: a, type: script, run: [echo, one] }
  - { id: b, task: "Sum up {stpes.a.output}", dependsOn: [a] }
`,
      '.pi/taskflows/config.yaml': `runners: { shell: { type: command, command: [sh, -c, "${COUNTING}"] } }\n`,
    });
    const { status, stderr } = await project.run(['run', 'flow.yaml']);
    expect(status).toBe(0);
    expect(stderr).toMatch(/\{stpes\.a\.output\} is no placeholder: it would be sent, and paid for, as text/);
    expect(stderr).toContain('did you mean {steps.a.output}?');
    expect(stderr.indexOf('did you mean')).toBeLessThan(stderr.indexOf('✔ a'));
    // Kept checks say it again: nobody reads a warning the first time.
    expect((await project.run(['run', 'flow.yaml'])).stderr).toContain('did you mean {steps.a.output}?');
  });

  it('a JSON argument that is no JSON, with one that is', async () => {
    const flow = { name: 'json', args: { j: { type: 'json' } }, phases: [{ id: 'a', type: 'script', run: ['true'] }] };
    project = createTestProject({ 'flow.json': JSON.stringify(flow) });
    const { status, stderr } = await project.run(['run', './flow.json', 'j={bad']);
    expect(status).toBe(2);
    expect(stderr).toContain('argument "j" has to be JSON');
    expect(stderr).toContain(`for example: 'j=["a", "b"]'`);
    expect(stderr).not.toContain('name=value');
  });

  it('an empty list in a map', async () => {
    const list = { id: 'list', type: 'script', run: ['echo', '[]'], output: 'json' };
    const each = { id: 'each', type: 'map', over: '{steps.list.json}', run: ['echo', '{item}'] };
    project = createTestProject({ 'flow.json': JSON.stringify({ name: 'none', phases: [list, each] }) });
    const { status, stderr } = await project.run(['run', './flow.json']);
    expect(status).toBe(0);
    expect(stderr).toMatch(/each .*the list is empty: there was nothing to do/);
  });
});
