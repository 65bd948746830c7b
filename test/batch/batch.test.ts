import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';
import { executions, linesOf, TOPIC_FLOW, topics } from './support.js';

let project: TestProject;
afterEach(() => project?.remove());

const json = (text: string) => JSON.parse(text) as Record<string, never> & { rows: Record<string, never>[] };

describe('a batch', () => {
  it('executes the set-up phase of twenty rows that start at the same moment once', async () => {
    project = createTestProject({ 'flow.yaml': TOPIC_FLOW, 'topics.txt': topics(20) });
    const { status, stdout } = await project.run([
      'batch', 'flow.yaml', '--over', 'topics.txt', '--jobs', '20', '--json',
    ]); // biome-ignore format: one line reads best
    expect(status).toBe(0);
    expect(executions(project, 'setup.count')).toBe(1);
    expect(executions(project, 'work.count')).toBe(20);
    const result = json(stdout);
    expect(result).toMatchObject({ status: 'success', total: 20, done: 20, failed: 0 });
    expect(result['reuse']).toEqual({ executed: 21, run: 19, crossRun: 0 });
    expect(result.rows.map((row) => row['output'])).toEqual(
      Array.from({ length: 20 }, (_, index) => `# Topic ${index + 1} (ready)`),
    );
  });

  it('goes on when a row fails, and says which one and why', async () => {
    project = createTestProject({ 'flow.yaml': TOPIC_FLOW, 'topics.txt': 'one\nbad apple\ntwo\n', broken: '' });
    const args = ['batch', 'flow.yaml', '--over', 'topics.txt', '--jobs', '1', '--json'];
    const { status, stdout, stderr } = await project.run(args);
    expect(status).toBe(1);
    expect(json(stdout)).toMatchObject({ status: 'failed', total: 3, done: 2, failed: 1, error: { row: 2 } });
    expect(json(stdout).rows[1]).toMatchObject({
      args: { topic: 'bad apple', depth: 1 },
      status: 'failed',
      line: 2,
      error: { phase: 'work', message: expect.stringContaining('status 3') },
    });
    expect(stderr).toContain('✖ bad apple failed: work: sh exited with status 3: no luck with bad apple');
    expect(stderr.match(/no luck with bad apple/g)).toHaveLength(1);
  });

  it('stops with the first failure when it is told to', async () => {
    project = createTestProject({ 'flow.yaml': TOPIC_FLOW, 'topics.txt': `bad\n${topics(30)}`, broken: '' });
    const { status, stdout } = await project.run([
      'batch', 'flow.yaml', '--over', 'topics.txt', '--jobs', '1', '--fail-fast', '--json',
    ]); // biome-ignore format: one line reads best
    expect(status).toBe(1);
    expect(json(stdout)).toMatchObject({ status: 'failed', done: 0, failed: 1, left: 30 });
    expect(linesOf(project, 'work.count')).toEqual(['bad']);
    expect(json(stdout).rows[30]).toMatchObject({ status: 'cancelled', output: '' });
  });

  it('pays only for what is missing when it is resumed', async () => {
    project = createTestProject({ 'flow.yaml': TOPIC_FLOW, 'topics.txt': 'one\nbad apple\ntwo\n', broken: '' });
    await project.run(['batch', 'flow.yaml', '--over', 'topics.txt']);
    // Rows may be added and moved meanwhile: they are known by what they are.
    project.write('topics.txt', 'new\ntwo\nbad apple\none\n');
    const again = await project.run(['batch', 'flow.yaml', '--over', 'topics.txt', '--resume', '--json'], {});
    expect(again.status).toBe(1);
    expect(linesOf(project, 'work.count').slice(3).sort()).toEqual(['bad apple', 'new']);
    expect(executions(project, 'setup.count')).toBe(1);
    expect(json(again.stdout)).toMatchObject({ done: 3, failed: 1, reuse: { executed: 2, run: 6 } });
    const { unlinkSync } = await import('node:fs');
    unlinkSync(join(project.root, 'broken'));
    const third = await project.run(['batch', 'flow.yaml', '--over', 'topics.txt', '--resume', '--json']);
    expect(third.status).toBe(0);
    expect(linesOf(project, 'work.count')).toHaveLength(6);
  });

  it('starts afresh without --resume, and says so when there is nothing to resume', async () => {
    project = createTestProject({ 'flow.yaml': TOPIC_FLOW, 'topics.txt': 'one\n', 'other.txt': 'one\n' });
    const none = await project.run(['batch', 'flow.yaml', '--over', 'topics.txt', '--resume']);
    expect(none.status).toBe(2);
    expect(none.stderr).toContain('no batch of topics over topics.txt');
    await project.run(['batch', 'flow.yaml', '--over', 'topics.txt']);
    await project.run(['batch', 'flow.yaml', '--over', 'topics.txt']);
    expect(executions(project, 'work.count')).toBe(2);
    // Another list of rows is another batch.
    expect((await project.run(['batch', 'flow.yaml', '--over', 'other.txt', '--resume'])).status).toBe(2);
  });

  it('says in plain words what it cannot read', async () => {
    project = createTestProject({ 'flow.yaml': TOPIC_FLOW });
    const missing = await project.run(['batch', 'flow.yaml', '--over', 'nope.txt']);
    expect([missing.status, missing.stderr]).toEqual([
      2,
      'taskflow batch: --over nope.txt cannot be read: there is no such file\n',
    ]);
    const folder = await project.run(['batch', 'flow.yaml', '--over', '.']);
    expect(folder.stderr).toBe('taskflow batch: --over . cannot be read: it is a folder\n');
  });

  it('is not continued by a plain run of the same flow', async () => {
    project = createTestProject({ 'flow.yaml': TOPIC_FLOW, 'topics.txt': 'bad\n', broken: '' });
    await project.run(['batch', 'flow.yaml', '--over', 'topics.txt']);
    expect((await project.run(['run', 'flow.yaml', 'topic=bad', '--resume'])).status).toBe(2);
    const plain = await project.run(['run', 'flow.yaml', 'topic=bad', '--json']);
    expect(json(plain.stdout)['continues']).toBeUndefined();
    const resumed = await project.run(['run', 'flow.yaml', 'topic=bad', '--resume', '--json']);
    expect(json(resumed.stdout)['continues']).toBe(json(plain.stdout)['runId']);
  });

  it('checks all rows before anything starts', async () => {
    const rows = 'topic,depth,note\nfine,1,x\n,2,\nalso fine,\nodd,nine,\ndeep,6,\n';
    project = createTestProject({ 'flow.yaml': TOPIC_FLOW, 'rows.csv': rows });
    const { status, stderr, stdout } = await project.run(['batch', 'flow.yaml', '--over', 'rows.csv', '--json']);
    expect(status).toBe(2);
    expect(JSON.parse(stdout).problems.map(({ line }: { line: number }) => line)).toEqual([3, 5, 6]);
    expect(stderr).toContain('rows.csv:3: argument "topic" is required');
    expect(stderr).toContain('rows.csv:5: argument "depth" has to be a number');
    expect(stderr).toContain('rows.csv:6: argument "depth" may be at most 5');
    expect(stderr).toContain('3 problems in the rows of rows.csv; nothing was started');
    expect(executions(project, 'setup.count')).toBe(0);
    expect(existsSync(join(project.root, '.pi/taskflows/runs'))).toBe(false);
  });

  it('warns about columns that the flow does not declare', async () => {
    project = createTestProject({ 'flow.yaml': TOPIC_FLOW, 'rows.csv': 'topic,dept\na,1\nb,2\n' });
    const { status, stdout, stderr } = await project.run(['batch', 'flow.yaml', '--over', 'rows.csv', '--json']);
    expect(status).toBe(0);
    expect(stderr).toContain('no argument "dept" (did you mean "depth"?): ignored in every row');
    expect(JSON.parse(stdout).warnings).toEqual([expect.stringContaining('no argument "dept"')]);
  });

  it('takes rows from a pipe, arguments for all rows, and a row of its own over them', async () => {
    const flow = TOPIC_FLOW.replace('($SETUP)', '$DEPTH').replace('SETUP: ', 'DEPTH: "{args.depth}", SETUP: ');
    project = createTestProject({ 'flow.yaml': flow });
    const input = '{"topic":"a"}\n{"topic":"b","depth":4}\n';
    const { stdout } = await project.run(['batch', 'flow.yaml', '--over', '-', 'depth=3', '--json'], { input });
    expect(json(stdout).rows.map((row) => row['output'])).toEqual(['# a 3', '# b 4']);
    const bad = await project.run(['batch', 'flow.yaml', '--over', '-', '--as', 'nope'], { input: 'a\n' });
    expect(bad.status).toBe(2);
    expect(bad.stderr).toContain('no argument "nope"');
  });

  it('keeps to the budget of the run, for all rows together', async () => {
    const flow = `name: budget
budget: { maxTokens: 250 }
concurrency: 1
args: { topic: {} }
phases:
  - { id: ask, task: "about {args.topic}" }
`;
    const agent =
      `process.stdin.resume().on('end', () => console.log(JSON.stringify({ text: 'fine', ` +
      'usage: { inputTokens: 90, cachedInputTokens: 0, outputTokens: 10 } })));';
    project = createTestProject({
      'flow.yaml': flow,
      'topics.txt': topics(8),
      'agent.mjs': agent,
      '.pi/taskflows/config.yaml': 'runner: mine\nrunners: { mine: { command: [node, agent.mjs], format: json } }\n',
    });
    const { status, stdout } = await project.run(['batch', 'flow.yaml', '--over', 'topics.txt', '--json']);
    expect(status).toBe(5);
    expect(json(stdout)).toMatchObject({ status: 'over-budget', done: 3, left: 5, spent: { usd: null, tokens: 300 } });
  });

  it('pauses rows at an approval, takes decisions, and goes on', async () => {
    const flow = `name: asks
args: { topic: {} }
phases:
  - { id: sure, type: approval, task: "publish {args.topic}?" }
  - { id: publish, type: script, dependsOn: [sure], run: [sh, -c, 'echo "$0" >> published', "x"] }
`;
    project = createTestProject({ 'flow.yaml': flow, 'topics.txt': 'one\ntwo\n' });
    const first = await project.run(['batch', 'flow.yaml', '--over', 'topics.txt', '--json']);
    expect(first.status).toBe(4);
    expect(json(first.stdout)).toMatchObject({ status: 'paused', paused: 2, done: 0, failed: 0 });
    const hint = String((json(first.stdout).rows[1]!['error'] as unknown as { hint: string }).hint);
    const [, runId, phase] = /approve (\S+) (\S+)/.exec(hint)!;
    expect((await project.run(['approve', runId!, phase!])).status).toBe(0);
    const second = await project.run(['batch', 'flow.yaml', '--over', 'topics.txt', '--resume', '--json']);
    expect(second.status).toBe(4);
    expect(json(second.stdout)).toMatchObject({ paused: 1, done: 1 });
    expect(executions(project, 'published')).toBe(1);
  });

  it('never writes or shows a secret of a row', async () => {
    const flow = `name: secrets
args: { token: { secret: true, required: true }, topic: { required: true } }
phases:
  - { id: use, type: script, run: ["sh", "-c", 'echo "$T uses $K"'], env: { T: "{args.topic}", K: "{args.token}" } }
`;
    const rows = 'topic,token\na,hunter2-a\nb,hunter2-b\n';
    project = createTestProject({ 'flow.yaml': flow, 'rows.csv': rows });
    const { status, stdout, stderr } = await project.run([
      'batch', 'flow.yaml', '--over', 'rows.csv', '--out', 'out', '--json',
    ]); // biome-ignore format: one line reads best
    expect(status).toBe(0);
    expect(json(stdout).rows[0]!['output']).toBe('a uses (secret token)');
    const written = [...readdirSync(join(project.root, 'out'))].map((name) =>
      readFileSync(join(project.root, 'out', name), 'utf8'),
    );
    const runs = join(project.root, '.pi/taskflows/runs');
    const journals = readdirSync(runs)
      .filter((name) => /^\d/.test(name))
      .map((name) => readFileSync(join(runs, name, 'journal.jsonl'), 'utf8'));
    expect([stdout, stderr, ...written, ...journals].join('\n')).not.toContain('hunter2');
  });

  it('is shown row by row afterwards, with what to type to go on', async () => {
    project = createTestProject({ 'flow.yaml': TOPIC_FLOW, 'topics.txt': 'one\nbad apple\n', broken: '' });
    await project.run(['batch', 'flow.yaml', '--over', 'topics.txt']);
    expect((await project.run(['runs'])).stdout).toContain('topics over topics.txt');
    const { stdout } = await project.run(['runs', 'show', 'last']);
    expect(stdout.indexOf('bad apple')).toBeLessThan(stdout.indexOf('one  '));
    expect(stdout).toContain('taskflow batch flow.yaml --over topics.txt --resume');
    const shown = json((await project.run(['runs', 'show', 'last', '--json'])).stdout);
    expect(shown.rows[1]).toMatchObject({ row: 2, status: 'failed', args: { topic: 'bad apple' } });
    const resumed = await project.run(['resume', 'last']);
    expect(resumed).toMatchObject({ status: 2 });
    expect(resumed.stderr).toContain('taskflow batch flow.yaml --over topics.txt --resume');
  });

  it.each([
    ['topics.txt', '# none yet\n', 'write one topic on each line'],
    ['topics.csv', 'topic,depth\n', 'each further line is a row'],
    ['topics.jsonl', '\n', 'write one JSON object on each line: {"topic": "…"}'],
    ['topics.json', '[]', 'write a list of objects'],
    ['topics.yaml', '# none\n', 'write a list, one entry for each row'],
  ])('over a file without rows (%s) is refused with what it needs', async (file, text, needed) => {
    project = createTestProject({ 'flow.yaml': TOPIC_FLOW, [file]: text });
    const { status, stdout, stderr } = await project.run(['batch', 'flow.yaml', '--over', file, '--json']);
    expect(status).toBe(2);
    expect(stderr).toContain(`${file}:1: there are no rows in it\n  `);
    expect(stderr).toContain(needed);
    expect(stdout).toContain('there are no rows in it');
    expect(existsSync(join(project.root, '.pi/taskflows/runs'))).toBe(false);
  });

  it('tells programs what happens, row by row', async () => {
    project = createTestProject({ 'flow.yaml': TOPIC_FLOW, 'topics.txt': 'a\nb\n' });
    const { stdout } = await project.run(['batch', 'flow.yaml', '--over', 'topics.txt', '--events']);
    const events = stdout.trimEnd().split('\n').map((line) => JSON.parse(line)); // biome-ignore format: short
    expect(events[0]).toMatchObject({ type: 'run-start', rows: 2 });
    expect(events.filter(({ type }) => type === 'row-end')).toHaveLength(2);
    expect(events.find(({ type }) => type === 'row-end')).toMatchObject({ status: 'success', path: /^rows\// });
    expect(events.at(-1)).toMatchObject({ type: 'run-end', status: 'success' });
  });
});

describe('results of a batch in a folder', () => {
  it('are one readable file per topic, a summary for people and one for programs', async () => {
    project = createTestProject({
      'flow.yaml': TOPIC_FLOW,
      'topics.txt': 'Sea level\nsea LEVEL\nbad\nsummary\n',
      broken: '',
    });
    const { status } = await project.run(['batch', 'flow.yaml', '--over', 'topics.txt', '--out', 'results']);
    expect(status).toBe(1);
    const folder = join(project.root, 'results');
    const names = readdirSync(folder).sort();
    expect(names).toHaveLength(5);
    expect(names).toEqual(expect.arrayContaining(['batch.json', 'sea-level.md', 'summary.md']));
    expect(readFileSync(join(folder, 'sea-level.md'), 'utf8')).toBe('# Sea level (ready)\n');
    const summary = readFileSync(join(folder, 'summary.md'), 'utf8');
    expect(summary).toContain('3 of 4 rows done, 1 failed.');
    expect(summary).toContain('- 3. bad failed: `work` sh exited with status 3');
    expect(summary).toContain('| 1 | Sea level | done |');
    const listed = JSON.parse(readFileSync(join(folder, 'batch.json'), 'utf8'));
    expect(listed).toMatchObject({ over: 'topics.txt', total: 4, done: 3, failed: 1 });
    expect(listed.rows[0]).toMatchObject({ status: 'success', file: 'sea-level.md', args: { topic: 'Sea level' } });
    expect(listed.rows[2].file).toBeUndefined();
  });

  it('are rewritten only when they changed, and never written through a link', async () => {
    project = createTestProject({ 'flow.yaml': TOPIC_FLOW, 'topics.txt': 'one\ntwo\n', outside: 'keep me\n' });
    mkdirSync(join(project.root, 'out'));
    symlinkSync('../outside', join(project.root, 'out/two.md'));
    const args = ['batch', 'flow.yaml', '--over', 'topics.txt', '--out', 'out'];
    await project.run(args);
    expect(readFileSync(join(project.root, 'outside'), 'utf8')).toBe('keep me\n');
    const before = statSync(join(project.root, 'out/one.md'), { bigint: true });
    await project.run(args);
    const after = statSync(join(project.root, 'out/one.md'), { bigint: true });
    expect([after.ino, after.mtimeNs]).toEqual([before.ino, before.mtimeNs]);
    writeFileSync(join(project.root, 'out/one.md'), 'edited');
    await project.run(args);
    expect(readFileSync(join(project.root, 'out/one.md'), 'utf8')).toBe('# one (ready)\n');
  });

  it('are JSON files when the flow says JSON, and exact bytes when they are no text', async () => {
    const flow = `name: bytes
args: { topic: {} }
phases:
  - { id: make, type: script, run: ["sh", "-c", 'printf "\\\\377\\\\000x"'] }
`;
    project = createTestProject({ 'flow.yaml': flow, 'topics.txt': 'one\n' });
    await project.run(['batch', 'flow.yaml', '--over', 'topics.txt', '--out', 'out']);
    expect(readFileSync(join(project.root, 'out/one.md'))).toEqual(Buffer.from([0xff, 0, 0x78]));
    project.write('flow.yaml', flow.replace('run:', 'output: json, run:').replace(/'printf.*'/, `'echo [1]'`));
    await project.run(['batch', 'flow.yaml', '--over', 'topics.txt', '--out', 'out']);
    expect(readFileSync(join(project.root, 'out/one.json'), 'utf8')).toBe('[1]\n');
  });
});
