import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
beforeEach(() => {
  project = createTestProject({ 'flows/research.yaml': RESEARCH });
});
afterEach(() => project.remove());

const RESEARCH = `name: research
description: Looks up a topic and writes it down.
args:
  topic: { type: string, required: true, description: What to look up }
  depth: { type: number, default: 2, minimum: 1, maximum: 5 }
  style: { type: enum, values: [short, long], default: short }
  token: { secret: true, default: s3cr3t }
phases:
  - { id: plan, type: script, run: 'echo plan >> executed' }
  - { id: look, type: script, run: [echo, "{args.topic}"] }
`;

const named = (description: string) =>
  `{"name": "x", "description": "${description}", "phases": [{"id": "a", "task": "t"}]}`;

describe('taskflow list', () => {
  it('lists saved flows of the project and the user and those in flows/, with what they take', async () => {
    project.write('.pi/taskflows/audit.json', named('of the project'));
    project.write('.pi/taskflows/config.yaml', 'concurrency: 2\n');
    project.write('.home/.pi/agent/taskflows/audit.json', named('hidden by the project'));
    project.write('.home/.pi/agent/taskflows/mine.json', named('of the user'));
    const { status, stdout, stderr } = await project.run(['list']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toBe(`Saved in this project (.pi/taskflows)
  audit
      of the project

Saved for all your projects (~/.pi/agent/taskflows)
  mine
      of the user

In flows/
  flows/research.yaml topic=TEXT [depth=NUMBER] [style=short|long] [token=TEXT]
      Looks up a topic and writes it down.

taskflow run flows/research.yaml --help has more
`);
  });

  it('says which flow has problems, and lists the others all the same', async () => {
    project.write('flows/broken.yaml', 'name: broken\nphases: []\n');
    const { status, stdout } = await project.run(['list']);
    expect(status).toBe(0);
    expect(stdout).toMatch(/ {2}flows\/broken\.yaml\n {6}has problems: .+\n {2}flows\/research\.yaml /);
  });

  it('has it all as JSON, without secrets', async () => {
    const { stdout } = await project.run(['list', '--json']);
    expect(stdout).not.toContain('s3cr3t');
    expect(JSON.parse(stdout)).toMatchObject([
      {
        flow: 'flows/research.yaml',
        from: 'flows',
        file: 'flows/research.yaml',
        description: 'Looks up a topic and writes it down.',
        args: { topic: { type: 'string', required: true }, depth: { default: 2, maximum: 5 } },
        phases: ['plan', 'look'],
      },
    ]);
  });

  it('says what to do where there is none', async () => {
    project.remove();
    project = createTestProject();
    expect(await project.run(['list'])).toMatchObject({
      status: 0,
      stdout: '',
      stderr: expect.stringContaining('taskflow init'),
    });
    expect((await project.run(['list', '--json'])).stdout).toBe('[]\n');
  });
});

describe('taskflow run FLOW --help', () => {
  it('shows what the flow does, its arguments and a line to type; it runs nothing', async () => {
    const { status, stdout, stderr } = await project.run(['run', 'flows/research.yaml', '--help']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toBe(`research: Looks up a topic and writes it down.
flows/research.yaml, 2 phases: plan, look

Arguments
  topic=TEXT        What to look up (required)
  depth=NUMBER      (1 to 5; default: 2)
  style=short|long  (default: short)
  token=TEXT        (secret)

Example
  taskflow run flows/research.yaml topic=TEXT

taskflow run --help has all flags
`);
    expect((await project.run(['run', 'flows/research.yaml', 'topic=a', '-h'])).stdout).toBe(stdout);
    expect(existsSync(join(project.root, 'executed'))).toBe(false);
    expect(JSON.parse((await project.run(['run', 'flows/research.yaml', '--help', '--json'])).stdout)).toMatchObject({
      name: 'research',
      args: { topic: { required: true } },
    });
  });

  it('its example is a line that runs', async () => {
    const { stdout } = await project.run(['run', 'flows/research.yaml', '--help']);
    const [, line] = /Example\n {2}taskflow (.*)\n/.exec(stdout)!;
    expect(await project.run([...line!.split(' '), '-q'])).toMatchObject({ status: 0, stdout: 'TEXT\n' });
  });

  it('says what is wrong with a flow that is none; without a flow it is the help of the command', async () => {
    expect(await project.run(['run', 'nothing', '--help'])).toMatchObject({ status: 2, stdout: '' });
    expect((await project.run(['run', '--help'])).stdout).toContain('--dry-run');
    expect((await project.run(['batch', 'flows/research.yaml', '--help'])).stdout).toContain('--over FILE');
  });
});
