import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';
import { executions, topics } from './support.js';

let project: TestProject;
afterEach(() => project?.remove());

/** Phases that all rows share, phases of each row, kept or not, inside another flow, and an effect of each row. */
const FLOW = `name: topics
args: { topic: { required: true } }
defaults: { cache: { observe: { exclude: ["*.count"] } } }
phases:
  - { id: kept, type: script, run: 'echo x >> kept.count; echo kept', cache: { scope: cross-run, fingerprint: [] } }
  - { id: once, type: script, run: 'echo x >> once.count; echo once' }
  - { id: never, type: script, run: 'echo x >> never.count; echo never', cache: { scope: off } }
  - id: own
    type: script
    run: [sh, -c, 'echo x >> own.count; echo "$0"', "{args.topic}"]
    cache: { scope: cross-run, fingerprint: [] }
  - { id: send, type: script, idempotent: false, run: 'echo x >> send.count; echo sent' }
  - id: list
    type: map
    over: [1, 2, "{args.topic}"]
    as: n
    run: [sh, -c, 'echo x >> list.count; echo "$0"', "{n}"]
  - { id: inner, type: flow, use: ./inner.yaml }
  - { id: other, type: flow, use: ./inner.yaml, with: { of: "{args.topic}" } }
`;
const INNER = `name: inner
args: { of: { default: all } }
phases:
  - { id: look, type: script, run: [sh, -c, 'echo x >> look.count; echo "$0"', "{args.of}"] }
`;
const FILES = ['kept', 'once', 'never', 'own', 'send', 'list', 'look'].map((name) => `${name}.count`);

interface Figures {
  counts: Record<'run' | 'shared' | 'reuse' | 'unknown' | 'skip' | 'fail', number>;
  rows: { phases: { id: string; would: string }[] }[];
}

const args = (...more: string[]) => ['batch', 'flow.yaml', '--over', 'topics.txt', '--json', ...more];

async function forecast(...more: string[]): Promise<Figures & Record<string, never>> {
  const before = FILES.map((file) => executions(project, file));
  const { status, stdout, stderr } = await project.run([...args(...more), '--dry-run']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(FILES.map((file) => executions(project, file))).toEqual(before);
  return JSON.parse(stdout);
}

/** The dry run, then the batch itself: what was forecast is what happens, phase by phase. */
async function foreseenAndDone(...more: string[]): Promise<Figures> {
  const foreseen = await forecast(...more);
  const { counts } = foreseen;
  const { status, stdout } = await project.run(args(...more));
  expect(status).toBe(0);
  const { reuse, rows } = JSON.parse(stdout);
  expect({ executed: reuse.executed, reused: reuse.run + reuse.crossRun }).toEqual({
    executed: counts.run,
    reused: counts.reuse + counts.shared,
  });
  // Which of the rows it is that makes what all share is a matter of chance: together they come to the same.
  const total = (list: { phases: { would: string }[] }[]) =>
    list.flatMap(({ phases }) => phases).filter(({ would }) => would === 'run').length;
  expect(rows.reduce((sum: number, row: { reuse: { executed: number } }) => sum + row.reuse.executed, 0)).toBe(
    total(foreseen.rows),
  );
  return foreseen;
}

describe('batch --dry-run', () => {
  it('says what a batch then executes: what rows share counts once', async () => {
    project = createTestProject({ 'flow.yaml': FLOW, 'inner.yaml': INNER, 'topics.txt': topics(5) });
    const first = await foreseenAndDone();
    const run = 1 + 1 + 5 + 5 + 5 + 5 + 1 + 5;
    expect(first.counts).toEqual({ run, shared: 4 * 3, reuse: 0, unknown: 0, skip: 0, fail: 0 });
    expect(executions(project, 'list.count')).toBe(2 + 5);
    // Two rows more: what is kept is reused, what the store does not keep runs once more.
    project.write('topics.txt', `new\n${topics(5)}other\n`);
    const second = await foreseenAndDone();
    expect(second.counts).toMatchObject({ run: 1 + 7 + 2 + 7 + 7 + 1 + 7, reuse: 7 + 5, shared: 6 + 6 });
    const own = second.rows[0]!.phases.find(({ id }) => id === 'own');
    expect(own).toEqual({ id: 'own', would: 'run', reason: 'first time' });
    expect(executions(project, 'own.count')).toBe(7);
  }); // biome-ignore format: sums in the order of the phases

  it('says it for a batch that goes on, too', async () => {
    project = createTestProject({ 'flow.yaml': FLOW, 'inner.yaml': INNER, 'topics.txt': topics(3) });
    await project.run(args());
    project.write('topics.txt', `${topics(3)}new\n`);
    const { counts } = await foreseenAndDone('--resume');
    expect(counts.run).toBe(4 + 1 + 1 + 1 + 1);
    expect(executions(project, 'send.count')).toBe(4);
    expect((await forecast('--resume'))['continues']).toMatchObject({ runId: expect.any(String) });
  });

  it('says it for a batch without reuse, with reuse that is only written, and for a repeated phase', async () => {
    project = createTestProject({ 'flow.yaml': FLOW, 'inner.yaml': INNER, 'topics.txt': topics(3) });
    await foreseenAndDone('--no-cache');
    await foreseenAndDone('--refresh');
    await foreseenAndDone('--rerun', 'kept');
    await foreseenAndDone('--resume', '--rerun', 'once');
  });

  it('sees in every row what was large or came with files in the batch that goes on', async () => {
    const flow = `name: large
args: { topic: {} }
phases:
  - { id: big, type: script, run: 'echo x >> kept.count; head -c 100000 /dev/zero | tr "\\\\0" a' }
  - { id: made, type: script, run: 'echo x >> once.count; echo made > made.txt', outputs: [made.txt] }
`;
    project = createTestProject({ 'flow.yaml': flow, 'topics.txt': topics(3) });
    await project.run(args());
    expect((await foreseenAndDone('--resume')).counts).toMatchObject({ run: 0, reuse: 6 });
    expect(executions(project, 'kept.count')).toBe(1);
  });

  it('does not guess about what depends on something that runs', async () => {
    const flow = `name: behind
args: { topic: {} }
phases:
  - { id: first, type: script, run: 'echo x >> once.count; echo first' }
  - { id: then, type: script, run: [echo, "{args.topic} {steps.first.output}"] }
`;
    project = createTestProject({ 'flow.yaml': flow, 'topics.txt': topics(3) });
    expect((await forecast()).counts).toMatchObject({ run: 1, shared: 2, unknown: 3 });
    expect(existsSync(join(project.root, '.pi/taskflows/runs'))).toBe(false);
    expect((await project.run(args('--dry-run', '--resume'))).status).toBe(2);
  });

  it('shows a person the rows that have something to do, some of them, then the sums', async () => {
    project = createTestProject({ 'flow.yaml': FLOW, 'inner.yaml': INNER, 'topics.txt': topics(40) });
    const { stdout } = await project.run(['batch', 'flow.yaml', '--over', 'topics.txt', '-n']);
    expect(stdout).toContain('▸ 1   Topic 1 ');
    expect(stdout).toContain('Topic 20');
    expect(stdout).not.toContain('Topic 21');
    expect(stdout).toContain('… 20 more rows to do');
    expect(stdout).toContain('topics over topics.txt: 40 rows, 40 to do, 0 all reused');
    expect(stdout).toMatch(/ {2}once +1 would run, 39 would be shared\n/);
    expect(stdout).toContain('what that costs is not known yet');
  });

  it('with --frozen it is the proof that a batch would be: status 6, and which row', async () => {
    const flow = FLOW.replace(/ {2}- \{ id: (once|never|send|list|inner|other),.*\n/g, '');
    project = createTestProject({ 'flow.yaml': flow, 'topics.txt': topics(2) });
    await project.run(args());
    expect((await project.run(args('--dry-run', '--frozen'))).status).toBe(0);
    project.write('topics.txt', `${topics(2)}new\n`);
    const missed = await project.run(['batch', 'flow.yaml', '--over', 'topics.txt', '--dry-run', '--frozen']);
    expect(missed.status).toBe(6);
    expect(missed.stdout).toMatch(/✖ 3 +new +own \(--frozen: .* would have to run \(first time\)\) would fail/);
  });

  it('goes by what rows cost last time, and by the others for a new one', async () => {
    const flow = `name: paid
args: { topic: {} }
phases:
  - { id: ask, task: "{args.topic}", runner: fake }
`;
    const agent =
      `process.stdin.resume().on('end', () => console.log(JSON.stringify({ text: 'ok', ` +
      'usage: { inputTokens: 100, outputTokens: 10, usd: 0.25 } })))';
    project = createTestProject({
      'flow.yaml': flow,
      'agent.cjs': agent,
      '.pi/taskflows/config.yaml': 'runners:\n  fake: { command: [node, agent.cjs], format: json }\n',
      'topics.txt': topics(2),
    });
    expect((await forecast())['last']).toEqual({ usd: 0, tokens: 0, ms: 0, known: 0 });
    await project.run(args());
    project.write('topics.txt', topics(3));
    expect((await forecast())['last']).toMatchObject({ usd: 0.75, tokens: 330, known: 3 });
    const { stdout } = await project.run(['batch', 'flow.yaml', '--over', 'topics.txt', '--dry-run']);
    expect(stdout).toMatch(/\n1 new row: about \$0\.25 and .* of work, by the last 2\n/);
    expect(stdout).toMatch(/\n2 rows again: about \$0\.50 and .* of work, by what rows last cost\n/);
  });

  it('multiplies what rows cost by how many new ones there are, with what depends on others, as a range', async () => {
    const flow = `name: paid
args: { topic: {} }
phases:
  - { id: ask, task: "{args.topic}", runner: fake, cache: { scope: cross-run, fingerprint: [] } }
  - { id: again, task: "more on {steps.ask.output}", runner: fake, cache: { scope: cross-run, fingerprint: [] } }
`;
    // Longer topics cost more: 2, 4 and 6 cents for each of two calls.
    const agent = `let asked = ''; process.stdin.on('data', (text) => { asked += text; }).on('end', () => {
      const name = /x+/.exec(asked)[0];
      const usage = { inputTokens: 100, outputTokens: 10, usd: name.length / 100 };
      console.log(JSON.stringify({ text: name, usage }));
    });`;
    project = createTestProject({
      'flow.yaml': flow,
      'agent.cjs': agent,
      '.pi/taskflows/config.yaml': 'runners:\n  fake: { command: [node, agent.cjs], format: json, version: "1" }\n',
      'topics.txt': 'xx\nxxxx\nxxxxxx\n',
    });
    await project.run(args());
    project.write('topics.txt', 'xx\nxxxx\nxxxxxx\nxxx\nxxxxx\n');
    const { estimate } = (await forecast()) as unknown as { estimate: Record<string, Record<string, unknown>> };
    const usd = estimate['fresh']!['usd'] as { low: number; about: number; high: number };
    expect(estimate).toMatchObject({ by: 3, fresh: { rows: 2, executions: 4, known: 4 }, again: { rows: 0 } });
    expect(usd.about).toBeCloseTo(0.16);
    expect(usd.low).toBeCloseTo(0.16 - 2 * Math.sqrt(4 * (0.0008 / 3)));
    const { stdout } = await project.run(['batch', 'flow.yaml', '--over', 'topics.txt', '--dry-run']);
    expect(stdout).toMatch(/\n2 new rows: about \$0\.16 \(\$0\.09 to \$0\.23\) and .* of work, by the last 3\n/);
    // Another list is estimated by the flow's last batch.
    project.write('others.txt', 'x\n');
    const other = await project.run(['batch', 'flow.yaml', '--over', 'others.txt', '--dry-run']);
    expect(other.stdout).toMatch(/\n1 new row: about \$0\.08 .* by the last 3\n/);
  });

  it('never shows a secret argument', async () => {
    const flow = `name: hidden
args: { topic: {}, token: { secret: true, required: true } }
phases:
  - { id: use, type: script, run: [echo, "{args.token}"] }
`;
    project = createTestProject({ 'flow.yaml': flow, 'topics.csv': 'topic,token\na,s3cr3t-one\nb,s3cr3t-two\n' });
    const { stdout, stderr } = await project.run(['batch', 'flow.yaml', '--over', 'topics.csv', '--dry-run', '--json']);
    expect(`${stdout}${stderr}`).not.toContain('s3cr3t');
    expect(JSON.parse(stdout).counts.run).toBe(2);
  });
});
