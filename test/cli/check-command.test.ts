import { afterAll, describe, expect, it } from 'vitest';
import { createTestProject } from '../support/cli.js';

const project = createTestProject({
  'good.yaml': 'phases: [{ id: a, task: Say hello }]',
  'warned.yaml': 'phases: [{ id: a, task: "{args.x}" }]',
  'bad.yaml': 'phases:\n  - id: a\n    task: "x {steps.ab.output}"\n  - id: c\n    tsak: x\n',
  '.pi/taskflows/saved.yaml': 'phases: [{ id: a, task: x }]',
});
afterAll(() => project.remove());

describe('taskflow check', () => {
  it('is quiet about a good flow', async () => {
    const { status, stdout } = await project.run(['check', 'good.yaml']);
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'ok good.yaml\n' });
  });

  it('says of a folder that it is one', async () => {
    project.write('folder.yaml/inner.yaml', '');
    const { status, stdout } = await project.run(['check', 'folder.yaml']);
    expect(status).toBe(2);
    expect(stdout).toContain('folder.yaml is a folder, not a flow file');
    const run = await project.run(['run', './folder.yaml']);
    expect(run).toMatchObject({ status: 2, stderr: expect.stringContaining('./folder.yaml is a folder, not a flow') });
  });

  it('reports all problems with file, line and column, the line itself, and what to do', async () => {
    const { status, stdout, stderr } = await project.run(['check', './bad.yaml']);
    expect(status).toBe(2);
    expect(stdout).toBe(
      [
        'bad.yaml:3:14 error there is no phase "ab" [unknown-step]',
        '  3 |     task: "x {steps.ab.output}"',
        '    |              ^^^^^^^^^^^^^^^^^',
        '  did you mean "a"?',
        'bad.yaml:4:5 error the agent phase "c" needs "task" [missing-field]',
        '  4 |   - id: c',
        '    |     ^^^^^',
        '  for example: task: "Review these files and list what is wrong: {steps.scan.output}"',
        'bad.yaml:5:5 error there is no field "tsak" on an agent phase [unknown-field]',
        '  5 |     tsak: x',
        '    |     ^^^^',
        '  did you mean "task"?',
        '',
      ].join('\n'),
    );
    expect(stderr).toBe('3 errors, 0 warnings\n');
  });

  it('--json is for programs', async () => {
    const { status, stdout } = await project.run(['check', 'bad.yaml', 'good.yaml', '--json']);
    expect(status).toBe(2);
    expect(JSON.parse(stdout)[0]).toEqual({
      file: 'bad.yaml',
      line: 3,
      column: 14,
      length: 17,
      severity: 'error',
      code: 'unknown-step',
      message: 'there is no phase "ab"',
      hint: 'did you mean "a"?',
    });
  });

  it('--format github is for annotations, and nothing in a message ends them', async () => {
    project.write('100%.yaml', 'phases: [{ id: a, task: x, "50%\\n::stop": 1 }]');
    const { stdout } = await project.run(['check', '100%.yaml', '--format', 'github']);
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(stdout).toMatch(/^::error file=100%25\.yaml,line=1,col=\d+,endColumn=\d+,title=unknown-field::/);
  });

  it('warnings fail only with --strict', async () => {
    expect((await project.run(['check', 'warned.yaml'])).status).toBe(0);
    expect((await project.run(['check', 'warned.yaml', '--strict'])).status).toBe(2);
  });

  it('without a name checks the saved flows, and an unknown name gets a suggestion', async () => {
    expect((await project.run(['check'])).stdout).toBe('ok saved\n');
    const { status, stdout } = await project.run(['check', 'savde']);
    expect(status).toBe(2);
    expect(stdout).toContain('did you mean "saved"?');
  });

  it('leaves nothing behind', async () => {
    const fresh = createTestProject({ 'a.yaml': 'task: x' });
    await fresh.run(['check', 'a.yaml']);
    const { stdout } = await fresh.run(['check', 'a.yaml', '--json']);
    expect(stdout).toBe('[]\n');
    fresh.remove();
  });
});

describe('taskflow schema', () => {
  it('prints the JSON Schema', async () => {
    const { status, stdout } = await project.run(['schema']);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ title: 'taskflow flow', properties: { phases: { type: 'array' } } });
  });
});
