import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { annotationLine } from '../../src/report/github/annotation.js';
import { createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
afterEach(() => project?.remove());

const FLOW = `name: checks
phases:
  - id: quick
    type: script
    run: [echo, fine]
    cache: { scope: cross-run, fingerprint: [] }

  - id: broken
    type: script
    dependsOn: [quick]
    run: 'echo "50% | <b>done</b>" >&2; exit 7'
`;

/** As a step of a job sees it. */
const job = () => ({
  CI: 'true',
  GITHUB_ACTIONS: 'true',
  GITHUB_WORKSPACE: project.root,
  GITHUB_STEP_SUMMARY: join(project.root, 'summary.md'),
});

describe('in a job of GitHub Actions', () => {
  it('a failing phase is annotated at its line, and the summary says what ran, what was reused and why', async () => {
    project = createTestProject({ 'sub/flow.yaml': FLOW });
    await project.run(['run', 'sub/flow.yaml'], { env: job() });
    const { status, stderr, stdout } = await project.run(['run', 'sub/flow.yaml', '--fresh', '--json'], { env: job() });
    expect(status).toBe(1);
    expect(stderr).toContain('::error file=sub/flow.yaml,line=8,title=broken failed::sh exited with status 7');
    expect(stderr).toContain('50%25 | <b>done</b>');
    expect(() => JSON.parse(stdout)).not.toThrow();
    // Two runs, one after the other: a summary is added to, never replaced.
    const [, first = '', second = ''] = readFileSync(join(project.root, 'summary.md'), 'utf8').split('### ');
    expect(first).toMatch(/^❌ checks: failed/);
    expect(first).toMatch(/\| `quick` \| ✅ done \| {2}\| {2}\| {2}\| .* \| first time \|/);
    expect(second).toMatch(/\| `quick` \| ✅ done \| cross-run, .* old \|/);
    expect(second).toMatch(/\| `broken` \| ❌ failed \| .* \| sh exited with status 7 \|/);
    expect(second).toContain('50% | <b>done</b>');
  });

  it('a flow with problems is annotated where they are', async () => {
    project = createTestProject({ 'flow.yaml': FLOW.replace('dependsOn: [quick]', 'dependsOn: [quik]') });
    const { status, stderr } = await project.run(['run', 'flow.yaml'], { env: job() });
    expect(status).toBe(2);
    expect(stderr).toMatch(/::error file=flow\.yaml,line=10,col=\d+,endColumn=\d+,title=unknown-step::/);
  });

  it('an approval pauses with status 4, warns at its line, and never approves itself', async () => {
    const flow = 'name: ask\nphases:\n  - { id: sure, type: approval, task: "really?" }\n';
    project = createTestProject({ 'flow.yaml': flow });
    const { status, stderr } = await project.run(['run', 'flow.yaml'], { env: job() });
    expect(status).toBe(4);
    expect(stderr).toContain('::warning file=flow.yaml,line=3,title=sure waits for an approval::');
    expect(readFileSync(join(project.root, 'summary.md'), 'utf8')).toContain('⏸️ paused');
  });

  it('a failure that is allowed is a warning and a skipped test, and turns nothing red', async () => {
    const may = "  - { id: lint, type: script, run: 'echo untidy >&2; exit 1', optional: true }\n";
    project = createTestProject({
      'flow.yaml': `name: checks\nphases:\n${may}  - { id: a, type: script, run: [echo] }\n`,
    });
    const { status, stderr } = await project.run(['run', 'flow.yaml', '--junit', 'r.xml'], { env: job() });
    expect(status).toBe(0);
    expect(stderr).not.toContain('::error');
    expect(stderr).toContain('::warning file=flow.yaml,line=3,title=lint failed%2C and is optional::sh exited with');
    const report = readFileSync(join(project.root, 'r.xml'), 'utf8');
    expect(report).toContain('tests="2" failures="0" errors="0" skipped="1"');
    expect(report).toContain('<skipped message="failed, and is optional: sh exited with status 1">untidy</skipped>');
    expect(readFileSync(join(project.root, 'summary.md'), 'utf8')).toContain('| `lint` | ⚠️ failed (optional) |');
  });

  it('a batch has a summary of its rows and annotates those that failed at their line', async () => {
    project = createTestProject({
      'flow.yaml':
        'name: rows\nargs: { topic: {} }\n' +
        'phases:\n  - { id: work, type: script, run: ["test", "{args.topic}", "!=", bad] }\n',
      'topics.txt': 'good\nbad\n',
    });
    const { status, stderr } = await project.run(['batch', 'flow.yaml', '--over', 'topics.txt', '--junit', 'r.xml'], {
      env: job(),
    });
    expect(status).toBe(1);
    expect(stderr).toContain('::error file=topics.txt,line=2,title=bad failed::work: ');
    const summary = readFileSync(join(project.root, 'summary.md'), 'utf8');
    expect(summary).toContain('### ❌ rows over topics.txt: failed');
    expect(summary.indexOf('| 2 | bad |')).toBeLessThan(summary.indexOf('| 1 | good |'));
    expect(readFileSync(join(project.root, 'r.xml'), 'utf8')).toContain('tests="2" failures="1"');
  });

  it('is quiet about GitHub everywhere else, and makes the folder of a test report', async () => {
    project = createTestProject({ 'flow.yaml': FLOW.replace('exit 7', 'true') });
    const { status, stderr } = await project.run(['run', 'flow.yaml', '--junit', 'reports/ci/report.xml']);
    expect(stderr).not.toContain('::');
    expect(status).toBe(0);
    expect(readFileSync(join(project.root, 'reports/ci/report.xml'), 'utf8')).toContain('file="flow.yaml" line="8"');
  });

  it.each([
    ['sub', 'it is a folder'],
    ['flow.yaml/report.xml', 'its folder is no folder'],
  ])('says before anything runs that the test report %s cannot be written', async (file, why) => {
    const phase = '  - { id: work, type: script, run: [touch, ran] }\n';
    project = createTestProject({
      'flow.yaml': `name: f\nargs: { topic: { default: x } }\nphases:\n${phase}`,
      'sub/rows.txt': 'x\n',
    });
    for (const command of [['run'], ['batch', '--over', 'sub/rows.txt']]) {
      const { status, stderr } = await project.run([...command, 'flow.yaml', '--junit', file]);
      expect([status, stderr]).toEqual([2, `taskflow ${command[0]}: --junit ${file} cannot be written: ${why}\n`]);
    }
    expect(existsSync(join(project.root, 'ran'))).toBe(false);
  });

  it('says of a report that could not be written afterwards only what people know', async () => {
    const phase = '  - { id: work, type: script, run: [rm, -r, reports] }\n';
    project = createTestProject({ 'flow.yaml': `name: f\nphases:\n${phase}` });
    const { status, stderr } = await project.run(['run', 'flow.yaml', '--junit', 'reports/r.xml']);
    expect(status).toBe(1);
    expect(stderr).toContain('taskflow: --junit reports/r.xml cannot be written: its folder does not exist\n');
  });
});

it('what means something in a command of a workflow is escaped', () => {
  const line = annotationLine({
    severity: 'error',
    file: 'a,b:c.yaml',
    line: 1,
    title: 'x\ny',
    message: '::set-env\r\n100%',
  });
  expect(line).toBe('::error file=a%2Cb%3Ac.yaml,line=1,title=x%0Ay::::set-env%0A100%25');
});
