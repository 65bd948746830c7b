import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
beforeEach(() => {
  project = createTestProject();
});
afterEach(() => project.remove());

const count = (text: string, words: string) => text.split(words).length - 1;
const flow = (phases: object[]) => project.write('flow.json', JSON.stringify({ name: 'told', phases }));
const run = (...args: string[]) => project.run(['run', './flow.json', ...args]);
const failing = { id: 'bad', type: 'script', run: 'echo first >&2; echo "no such table" >&2; exit 7' };

describe('a failure in a log', () => {
  it('is told once, where it happened, with what was said and what to do', async () => {
    flow([failing, { id: 'after', type: 'script', run: ['true'], dependsOn: ['bad'] }]);
    const { status, stderr } = await run();
    expect(status).toBe(1);
    expect(count(stderr, 'sh exited with status 7')).toBe(1);
    expect(count(stderr, 'no such table')).toBe(1);
    expect(stderr).toMatch(/✖ bad failed {2}\S+ · sh exited with status 7\n {2}│ first\n {2}│ no such table\n/);
    expect(stderr).toMatch(/✖ told failed after .*: 1 executed, 0 reused, 1 failed\n/);
  });

  it('is told once, however deep it happened', async () => {
    flow([{ id: 'outer', type: 'flow', def: { phases: [{ id: 'inner', type: 'flow', def: { phases: [failing] } }] } }]);
    const { stderr } = await run();
    expect(count(stderr, 'sh exited with status 7')).toBe(1);
    expect(count(stderr, 'no such table')).toBe(1);
    expect(stderr).toMatch(/✖ outer failed .* · see outer\/inner\/bad above\n/);
  });

  it('of the whole is told, although a part of it had failed and need not do well', async () => {
    const def = {
      phases: [
        { ...failing, optional: true },
        { id: 'say', type: 'script', run: ['echo', 'text'] },
      ],
    };
    flow([{ id: 'outer', type: 'flow', def, output: 'json' }]);
    expect((await run()).stderr).toMatch(/✖ outer failed .*JSON/);
  });

  it('is told in full at the end for who wants it quiet', async () => {
    flow([failing]);
    const { stderr } = await run('-q');
    expect(count(stderr, 'sh exited with status 7')).toBe(1);
    expect(stderr).toContain('│ no such table');
  });
});

describe('an item that failed', () => {
  it('has its own name and the last line of what it said', async () => {
    const over = ['unit', 'e2e', { name: 'third', secret: 1 }];
    const script = 'test "$0" = unit && exit 0; echo "in $0" >&2; exit 1';
    flow([{ id: 'each', type: 'map', over, run: ['sh', '-c', script, '{item}'] }]);
    const { stdout, stderr } = await run('--json');
    const message = '2 of 3 failed; item 2 (e2e): sh exited with status 1: in e2e';
    expect(JSON.parse(stdout).error.message).toBe(message);
    expect(count(stderr, message)).toBe(1);
    expect(stderr).toContain('│ item 3 (third): sh exited with status 1');
  });

  it('that said one line has it told once', async () => {
    flow([{ id: 'each', type: 'map', over: ['x'], run: ['sh', '-c', 'echo "all of it" >&2; exit 1'] }]);
    expect(count((await run()).stderr, 'all of it')).toBe(1);
  });

  it('does not show a secret in its name, however it is cut', async () => {
    const token = `tok-${'x'.repeat(60)}`;
    const phases = [
      { id: 'each', type: 'map', over: ['{args.token}'], run: ['sh', '-c', 'echo "$0" >&2; exit 1', '{item}'] },
    ];
    project.write(
      'flow.json',
      JSON.stringify({ name: 'told', args: { token: { secret: true, default: '' } }, phases }),
    );
    const { stdout, stderr } = await run('--json', `token=${token}`);
    expect(stdout + stderr).toContain('item 1 (');
    expect(stdout + stderr).not.toContain('tok-xxx');
  });
});

describe('money', () => {
  it('is not spoken of where no model is involved; time that was saved is', async () => {
    const cache = { scope: 'cross-run', fingerprint: [] };
    flow([{ id: 'a', type: 'script', run: 'sleep 0.05', cache }]);
    expect((await run()).stderr).not.toMatch(/spent|saved/);
    const { stderr } = await run();
    expect(stderr).toMatch(/\n {2}saved \d+ms\n/);
    expect(stderr).not.toContain('spent');
    expect((await project.run(['runs'])).stdout).not.toContain('spent');
    expect((await project.run(['trace', 'last'])).stdout).not.toContain('spent');
  });

  it('is spoken of where one is, and what nobody knows is said once', async () => {
    project.write(
      '.pi/taskflows/config.yaml',
      'runner: r\nrunners:\n  r: { command: [cat], format: text, model: m }\n',
    );
    flow([{ id: 'a', type: 'agent', task: 'hello', cache: { scope: 'cross-run', fingerprint: [] } }]);
    const { stderr } = await run();
    expect(count(stderr, 'price unknown')).toBe(1);
    expect(count((await run()).stderr, 'price unknown')).toBe(1);
    expect((await run()).stderr).toMatch(/spent \$0\.00 · saved .*price unknown/);
  });
});
