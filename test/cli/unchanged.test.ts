import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { standingPhases } from '../../src/cli/repeat.js';
import { readLines } from '../../src/run/journal/reader.js';
import { RowsFile } from '../../src/run/repeat/kept-rows.js';
import { FOLDER } from '../../src/run/repeat/seen.js';
import { SheetRecords } from '../../src/run/repeat/sheet-records.js';
import { StandingRecords } from '../../src/run/repeat/standing-records.js';
import { filesUnder } from '../memo-e2e/support.js';
import { CLI, cliEnvironment, createTestProject, type TestProject } from '../support/cli.js';

/** A copy of the bundle that can answer unchanged runs and do nothing else: whatever needs the engine fails in it. */
let withoutEngine: string;
beforeAll(() => {
  const dist = mkdtempSync(join(tmpdir(), 'taskflow-dist-'));
  cpSync(dirname(CLI), dist, { recursive: true });
  for (const name of readdirSync(dist)) if (name.startsWith('engine')) rmSync(join(dist, name));
  writeFileSync(join(dist, 'engine.pack.js'), 'throw new Error("the engine is needed")');
  withoutEngine = join(dist, 'taskflow.cjs');
});
afterAll(() => rmSync(dirname(withoutEngine), { recursive: true, force: true }));

const SCRIPT = 'echo "$1" >> executions.log\ncat "in/$1.txt" 2>/dev/null || echo none\n';
const phase = (id: string, more: object = {}) => ({
  id,
  type: 'script',
  run: ['sh', 'count.sh', id],
  cache: { scope: 'cross-run', fingerprint: [`file:in/${id}.txt`] },
  ...more,
});
const FLOW = {
  name: 'demo',
  phases: [phase('a'), phase('b', { dependsOn: ['a'] }), phase('c', { dependsOn: ['b'] })],
};

let project: TestProject;
beforeEach(() => {
  project = createTestProject({
    'flow.json': JSON.stringify(FLOW),
    'count.sh': SCRIPT,
    'in/a.txt': 'one\n',
    'in/b.txt': 'two\n',
    'in/c.txt': 'three\n',
  });
});
afterEach(() => project.remove());

function start(cli: string, args: readonly string[]) {
  const env = cliEnvironment(project.root) as NodeJS.ProcessEnv;
  const options = { cwd: project.root, env, encoding: 'utf8', timeout: 20_000, killSignal: 'SIGKILL' } as const;
  const ended = spawnSync(process.execPath, [cli, ...args], options);
  expect(ended.error).toBeUndefined();
  return ended;
}

const path = (name: string) => join(project.root, name);

/** Runs the flow and says which phases were executed by it. */
function run(...args: string[]) {
  rmSync(path('executions.log'), { force: true });
  const { status, stdout, stderr } = start(CLI, ['run', './flow.json', ...args]);
  expect([status, stderr]).toEqual([0, expect.any(String)]);
  const log = existsSync(path('executions.log')) ? readFileSync(path('executions.log'), 'utf8') : '';
  return { executed: log.split('\n').filter(Boolean).sort().join(' '), stdout, stderr };
}

/** Whether the flow can be answered without the engine. */
function isAnswered(...args: string[]): boolean {
  return start(withoutEngine, ['run', './flow.json', ...args]).status === 0;
}

/** Whether the last run was: an engine says in the journal when its process began. */
function wasAnswered(): boolean {
  const [line] = readFileSync(lastJournalPath(), 'utf8').split('\n', 1);
  return (JSON.parse(line!) as { owner: { startTicks?: number } }).owner.startTicks === undefined;
}

function lastJournalPath(): string {
  const runs = readdirSync(path('.pi/taskflows/runs')).filter((name) => /^\d/.test(name));
  return path(`.pi/taskflows/runs/${runs.sort().at(-1)}/journal.jsonl`);
}

/** What the sheet says of an input, where it is believed by its figures. */
function keptFigures(input: string) {
  const file = RowsFile.read(sheet())!;
  const [_head, _outline] = [file.text(), file.text()];
  const records = new SheetRecords(file.rows());
  const inputs = Array.from({ length: records.count }, (_, index) => records.inputs(index)).flat();
  return inputs.find(({ path: name }) => name === input)!.figures;
}

const sheet = () => {
  const folder = path('.pi/taskflows/unchanged');
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.sheet'))!);
};
const entries = () => readdirSync(path('.pi/taskflows/cache')).filter((name) => /^[0-9a-f]{64}\.json$/.test(name));

describe('a run in which nothing has changed', () => {
  it('is answered without the engine, from the first time on, and counts nothing twice', () => {
    expect(run().executed).toBe('a b c');
    expect(isAnswered()).toBe(true);
    expect(run()).toMatchObject({ executed: '', stdout: 'three\n' });
  });

  it('is not what is continued next when it only proved something', () => {
    const lastRun = () => {
      const folder = path('.pi/taskflows/runs/.last');
      return readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    };
    run();
    const before = lastRun();
    run('--frozen');
    expect(wasAnswered()).toBe(true);
    expect(lastRun()).toEqual(before);
    run();
    expect(lastRun()).not.toEqual(before);
  });

  it('looks the same as one that went through the engine', () => {
    run();
    const told = () => {
      const { stdout, stderr } = run('--json');
      const result = JSON.parse(stdout) as { phases: Record<string, unknown>[] } & Record<string, unknown>;
      for (const one of result.phases) {
        one['ageMs'] = typeof one['ageMs'];
        one['reason'] = String(one['reason']).replace(/\d.*/, '…');
      }
      result['durationMs'] = typeof result['durationMs'];
      result['checkpoint'] = { ...(result['checkpoint'] as object), runId: '' };
      result['runId'] = '';
      const lines = stderr.replaceAll(/\d{8}-\d{6}-\w{6}|(?<=age |after )[\d.]+\w+/g, '…');
      return { result, lines, journal: lastJournal() };
    };
    const repeated = told();
    rmSync(path('.pi/taskflows/unchanged'), { recursive: true });
    const engine = told();
    expect(repeated).toEqual(engine);
    expect(start(CLI, ['runs', 'show', 'last']).stdout).toMatch(/CACHED.*\n.*CACHED.*\n.*CACHED/);
  });

  /** Lines as they are read, without what differs from run to run, and with fields in one order. */
  function lastJournal() {
    const volatile = new Set(['at', 'runId', 'owner', 'durationMs', 'reason']);
    return [...readLines(lastJournalPath())].flatMap(({ line }) => {
      expect(line.at).toBeGreaterThan(Date.now() - 60_000);
      if (line.type === 'taken') return [];
      if (line.type === 'phase') expect(line.reason).toMatch(/^age \d/);
      const fields = Object.entries(line).filter(([name]) => !volatile.has(name));
      return Object.fromEntries(fields.sort(([one], [other]) => (one < other ? -1 : 1)));
    });
  }

  it('is continued from, explained and listed like any other', () => {
    run();
    run();
    expect(start(CLI, ['runs']).stdout.match(/success/g)).toHaveLength(2);
    project.write('in/c.txt', 'four\n');
    expect(run().stderr).toContain('file:in/c.txt');
  });

  it('prints events, or nothing, as it is told', () => {
    run();
    const told = () =>
      run('--events')
        .stdout.trimEnd()
        .split('\n')
        .map((line) => {
          const { at, runId, durationMs, ...event } = JSON.parse(line) as Record<string, unknown> & { type: string };
          const { ageMs, reason, ...outcome } = (event['outcome'] ?? {}) as Record<string, unknown>;
          expect([typeof at, typeof runId, typeof ageMs]).toEqual([
            'number',
            'string',
            event['outcome'] ? 'number' : 'undefined',
          ]);
          return { ...event, outcome, reason: String(reason).replace(/\d.*/, '…') };
        });
    const events = told();
    expect(wasAnswered()).toBe(true);
    expect(events.map(({ type }) => type)).toEqual(['run-start', 'phase-end', 'phase-end', 'phase-end', 'run-end']);
    rmSync(path('.pi/taskflows/unchanged'), { recursive: true });
    expect(told()).toEqual(events);
    expect(run('--quiet').stderr).toBe('');
    expect(run('--frozen').executed).toBe('');
    expect(wasAnswered()).toBe(true);
  });
});

describe('anything that has changed is run', () => {
  it.each([
    ['an input', () => project.write('in/b.txt', 'other\n'), 'b c'],
    ['an input, to the same length', () => project.write('in/b.txt', 'TWO\n'), 'b c'],
    ['an input that is gone', () => rmSync(path('in/b.txt')), 'b c'],
    [
      'the flow',
      () => project.write('flow.json', JSON.stringify(FLOW).replace('"sh","count.sh","c"', '"sh","count.sh","c","x"')),
      'c',
    ],
    ['an entry that is gone', () => rmSync(path(`.pi/taskflows/cache/${keyOf('b')}.json`)), 'b'],
    ['an entry that is damaged', () => writeFileSync(path(`.pi/taskflows/cache/${keyOf('b')}.json`), 'no'), 'b'],
    ['where the cache is', () => project.write('.pi/taskflows/config.yaml', 'cache:\n  dir: elsewhere\n'), 'a b c'],
    ['the cache, cleared', () => start(CLI, ['cache', 'clear', './flow.json']), 'a b c'],
  ])('%s', (_what, change, executed) => {
    run();
    run();
    change();
    expect(run().executed).toBe(executed);
    expect(run().executed).toBe('');
  });

  function keyOf(id: string): string {
    return entries()
      .map((name) => name.slice(0, 64))
      .find(
        (key) =>
          (JSON.parse(readFileSync(path(`.pi/taskflows/cache/${key}.json`), 'utf8')) as { phase: string }).phase === id,
      )!;
  }

  it('an input that has the size and the time that it had, once all had settled', async () => {
    const before = statSync(path('in/b.txt'));
    await sleep(2_600);
    run();
    expect(keptFigures('in/b.txt')?.[0]).toBe(before.size);
    expect(isAnswered()).toBe(true);
    project.write('in/b.txt', 'TWO\n');
    utimesSync(path('in/b.txt'), before.atime, before.mtime);
    expect(run()).toMatchObject({ executed: 'b c' });
    renameSync(path('in/b.txt'), path('in/kept.txt'));
    symlinkSync('kept.txt', path('in/b.txt'));
    expect(run().executed).toBe('');
    project.write('in/kept.txt', 'new\n');
    expect(run().executed).toBe('b c');
  });

  it('an input that now lies outside of the project, though it is the same', async () => {
    await sleep(2_600);
    run();
    const outside = mkdtempSync(join(tmpdir(), 'taskflow-outside-'));
    try {
      renameSync(path('in'), join(outside, 'in'));
      symlinkSync(join(outside, 'in'), path('in'));
      expect(isAnswered()).toBe(false);
      rmSync(path('in'));
      renameSync(join(outside, 'in'), path('in'));
      expect(isAnswered()).toBe(true);
      renameSync(path('in/b.txt'), join(outside, 'b.txt'));
      symlinkSync(join(outside, 'b.txt'), path('in/b.txt'));
      expect(isAnswered()).toBe(false);
    } finally {
      rmSync(outside, { recursive: true });
    }
  });

  it('an input in whose place there is a pipe, which is not waited for', () => {
    run();
    rmSync(path('in/b.txt'));
    expect(spawnSync('mkfifo', [path('in/b.txt')]).status).toBe(0);
    expect(isAnswered()).toBe(false);
  });

  it('a result that was made anew is the one that is given from then on', () => {
    const flow = JSON.stringify({ name: 'demo', phases: [phase('a', { run: ['sh', '-c', 'date +%N'] })] });
    project.write('flow.json', flow);
    const first = run().stdout;
    expect(run().stdout).toBe(first);
    const second = run('--refresh').stdout;
    expect(second).not.toBe(first);
    expect(run().stdout).toBe(second);
    expect(run().stdout).toBe(second);
  });

  it('what may be reused only for a while', async () => {
    const cache = { scope: 'cross-run', ttl: '2s', fingerprint: ['file:in/a.txt'] };
    project.write('flow.json', JSON.stringify({ name: 'demo', phases: [phase('a', { cache })] }));
    expect(run().executed).toBe('a');
    expect(run().executed).toBe('');
    await sleep(2_100);
    expect(run().executed).toBe('a');
  });

  it('arguments', () => {
    const flow = {
      ...FLOW,
      args: { who: { default: 'me' } },
      phases: [phase('a', { run: ['sh', 'count.sh', 'a', '{args.who}'] })],
    };
    project.write('flow.json', JSON.stringify(flow));
    expect(run().executed).toBe('a');
    expect(run('who=you').executed).toBe('a');
    expect(isAnswered('who=you')).toBe(true);
    expect(isAnswered('--arg', 'who=nobody')).toBe(false);
    expect(run().executed).toBe('');
  });

  it('what a flag asks for', () => {
    run();
    expect(run('--rerun', 'b').executed).toBe('b');
    expect(run('--no-cache').executed).toBe('a b c');
    expect(start(CLI, ['run', './flow.json', '--concurrency', '0']).status).toBe(2);
    expect(start(CLI, ['run', './flow.json', 'x=1']).stderr).toContain('no argument "x"');
  });

  it('a run that did not end well is gone on with', () => {
    project.write(
      'flow.json',
      JSON.stringify({ ...FLOW, phases: [...FLOW.phases, phase('d', { dependsOn: ['c'], run: ['sh', 'end.sh'] })] }),
    );
    project.write('end.sh', 'exit 1\n');
    expect(start(CLI, ['run', './flow.json']).status).toBe(1);
    project.write('end.sh', 'echo done\n');
    expect(run()).toMatchObject({ executed: '', stdout: 'done\n', stderr: expect.stringContaining('continuing run') });
  });

  it('a failed run is gone on with, though all that it has kept stands', () => {
    project.write('count.sh', `${SCRIPT}test ! -e broken\n`);
    run();
    expect(isAnswered()).toBe(true);
    project.write('broken', '');
    expect(start(CLI, ['run', './flow.json', '--rerun', 'c']).status).toBe(1);
    rmSync(path('broken'));
    expect(isAnswered()).toBe(false);
    expect(run().stderr).toContain('continuing run');
  });

  it.each([
    ['a file that a pattern matches', 'glob:in/**', () => project.write('in/b.txt', 'TWO\n')],
    ['a file that a pattern matches now', 'glob:in/**', () => project.write('in/more/d.txt', 'four\n')],
    ['a file that a pattern matches no more', 'glob!:in/**', () => rmSync(path('in/c.txt'))],
    ['a commit', 'git:HEAD', () => git('commit', '-qam', 'two', '--allow-empty')],
    ['what is not committed', 'git:worktree', () => project.write('in/c.txt', 'THREE\n')],
  ])('%s', (_what, fingerprint, change) => {
    git('init', '-q');
    project.write('.gitignore', 'executions.log\n.home\n');
    git('add', '.');
    git('commit', '-qm', 'one');
    project.write(
      'flow.json',
      JSON.stringify({
        name: 'demo',
        phases: [phase('a', { cache: { scope: 'cross-run', fingerprint: [fingerprint] } })],
      }),
    );
    git('commit', '-qam', 'flow');
    const twice = () => [run().executed, wasAnswered(), run().executed, wasAnswered()];
    expect(twice()).toEqual(['a', false, '', true]);
    change();
    expect(twice()).toEqual(['a', false, '', true]);
  });

  function git(...args: string[]): void {
    const who = ['-c', 'user.name=t', '-c', 'user.email=t@example.com'];
    const { status, stderr } = spawnSync('git', [...who, ...args], { cwd: project.root, encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, expect.any(String)]);
  }

  it('an agent, when its file, its context or its runner is another', () => {
    const cache = { scope: 'cross-run', fingerprint: ['file:in/a.txt'] };
    const ask = {
      id: 'ask',
      type: 'agent',
      agent: 'writer',
      task: 'write',
      context: ['in/b.txt'],
      runner: 'own',
      cache,
    };
    project.write('flow.json', JSON.stringify({ name: 'demo', phases: [ask] }));
    project.write('.pi/agents/writer.md', '---\nname: writer\ndescription: writes\n---\nBe brief.\n');
    const runner = (version: number) =>
      `runners:\n  own:\n    command: [sh, -c, "cat > /dev/null; echo asked >> executions.log; echo answer"]\n    version: ${version}\n`;
    project.write('.pi/taskflows/config.yaml', runner(1));
    expect(run().executed).toBe('asked');
    expect(isAnswered()).toBe(true);
    const changes = [
      () => project.write('in/b.txt', 'TWO\n'),
      () => project.write('in/a.txt', 'ONE\n'),
      () => project.write('.pi/taskflows/config.yaml', runner(2)),
      () => project.write('.pi/agents/writer.md', '---\nname: writer\ndescription: writes\n---\nBe verbose.\n'),
    ];
    for (const change of changes) {
      change();
      expect(run().executed).toBe('asked');
      expect(isAnswered()).toBe(true);
    }
  });

  it('a saved flow that another one now stands before', () => {
    project.write('.pi/taskflows/demo.json', JSON.stringify(FLOW));
    const named = () => start(CLI, ['run', 'demo', '--quiet']).stdout;
    expect([named(), named()]).toEqual(['three\n', 'three\n']);
    project.write(
      '.pi/taskflows/demo.yaml',
      'name: demo\nphases:\n  - id: z\n    type: script\n    run: [echo, mine]\n',
    );
    expect(named()).toBe('mine\n');
  });
});

describe('what stands of a sheet where not all of it does', () => {
  const file = { path: '/p/flow.json', digest: 'one' };
  const phases = Object.create(StandingRecords.prototype) as StandingRecords;

  it('counts only beside the flow and the settings that it was found with', () => {
    const known = {
      phases,
      files: [file, { path: '/p/config.yaml', digest: null }, { path: '/agents', digest: FOLDER }],
    };
    const looked = [file, { path: '/p/config.yaml', digest: null }, { path: '/agents/', digest: 'names' }];
    expect(standingPhases(known, looked)).toBe(phases);
    expect(standingPhases(known, [{ ...file, digest: 'two' }, ...looked.slice(1)])).toBeUndefined();
    expect(standingPhases(known, looked.slice(0, 1))).toBeUndefined();
    expect(standingPhases({}, looked)).toBeUndefined();
  });
});

describe('a sheet', () => {
  it('is passed over when it is torn, and made again', () => {
    run();
    const whole = readFileSync(sheet());
    for (const torn of [
      Buffer.alloc(0),
      whole.subarray(0, whole.length - 7),
      Buffer.from(whole.toString().replace('two', 'six')),
    ]) {
      writeFileSync(sheet(), torn);
      expect(run()).toMatchObject({ executed: '', stdout: 'three\n' });
      expect(isAnswered()).toBe(true);
    }
  });

  it('does not believe the figures of files that were written a moment before', () => {
    run();
    expect(keptFigures('in/a.txt')).toBeUndefined();
  });

  it('is not made where something must be decided, brought back or kept secret', () => {
    const plain = phase('a');
    const flows = {
      approval: [plain, { id: 'ok', type: 'approval', task: 'go?', dependsOn: ['a'] }],
      'run-only': [phase('a', { cache: undefined })],
      outputs: [phase('a', { outputs: ['out.txt'], run: ['sh', '-c', 'echo x > out.txt'] })],
      'side-effect': [phase('a', { idempotent: false, cache: undefined })],
      environment: [phase('a', { cache: { scope: 'cross-run', fingerprint: ['env:HOME'] } })],
      command: [phase('a', { cache: { scope: 'cross-run', fingerprint: ['cmd:uname'] } })],
    };
    for (const [name, phases] of Object.entries(flows)) {
      project.write('flow.json', JSON.stringify({ name, phases }));
      run('--yes');
      expect([name, isAnswered('--yes')]).toEqual([name, false]);
    }
    const secret = { name: 'secret', args: { token: { type: 'string', secret: true } }, phases: [plain] };
    project.write('flow.json', JSON.stringify(secret));
    run('token=hunter2');
    expect(isAnswered('token=hunter2')).toBe(false);
    const kept = readdirSync(path('.pi/taskflows'), { recursive: true, encoding: 'utf8' });
    expect(kept.filter((name) => name.endsWith('.sheet'))).toEqual([]);
  });

  it('stays good when a file is only touched, and holds its new figures once it has settled', async () => {
    run();
    await sleep(2_600);
    const { mtime } = statSync(path('in/a.txt'));
    utimesSync(path('in/a.txt'), mtime, new Date(mtime.getTime() - 60_000));
    await sleep(2_600);
    expect(run().executed).toBe('');
    const { size, mtimeMs, ctimeMs, ino } = statSync(path('in/a.txt'));
    expect(keptFigures('in/a.txt')).toEqual([size, mtimeMs, ctimeMs, ino]);
    expect(isAnswered()).toBe(true);
  });
});

it('what is cleared is not left behind in a sheet or a roll, and a dry run clears nothing', () => {
  const kept = () =>
    filesUnder(path('.pi/taskflows')).filter((file) => readFileSync(file, 'utf8').includes('item number'));
  const over = Array.from({ length: 50 }, (_, n) => `item number ${n}`);
  const each = {
    id: 'each',
    type: 'map',
    over,
    run: ['echo', '{item}'],
    cache: { scope: 'cross-run', fingerprint: [] },
  };
  const last = {
    id: 'last',
    type: 'script',
    run: ['echo', 'item number'],
    cache: { scope: 'cross-run', fingerprint: [] },
  };
  writeFileSync(path('map.json'), JSON.stringify({ name: 'map', phases: [each] }));
  writeFileSync(path('one.json'), JSON.stringify({ name: 'one', phases: [last] }));
  for (const flow of ['./map.json', './one.json', './one.json']) expect(start(CLI, ['run', flow]).status).toBe(0);
  rmSync(path('.pi/taskflows/checked'), { recursive: true });
  const kinds = () => new Set(kept().map((file) => file.replace(/.*\./, '')));
  expect(kinds()).toEqual(new Set(['json', 'jsonl', 'roll', 'sheet']));
  for (const what of ['cache', 'runs']) start(CLI, [what, 'clear', '--all', '--dry-run']);
  expect(kinds()).toEqual(new Set(['json', 'jsonl', 'roll', 'sheet']));
  start(CLI, ['cache', 'clear', '--all']);
  expect(kinds()).toEqual(new Set(['jsonl']));
  start(CLI, ['runs', 'clear', '--all']);
  expect(kinds()).toEqual(new Set());
});
