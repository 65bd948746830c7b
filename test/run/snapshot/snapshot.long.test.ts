import {
  appendFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256Hex } from '../../../src/util/digest.js';
import { createUnchangedProject, type UnchangedProject, withoutTimes } from '../../support/unchanged-project.js';

const FLOW = `
name: plain
args:
  word: {type: string, default: hello}
defaults: {cache: {observe: {exclude: [log]}}}
phases:
  - id: first
    type: script
    run: [sh, -c, 'echo first >> log; cat in/a.txt']
    cache: {scope: cross-run, fingerprint: ['file:in/a.txt']}
  - id: all
    type: script
    run: [sh, -c, 'echo all >> log; cat lib/*.txt']
    cache: {scope: cross-run, fingerprint: ['glob:lib/*.txt']}
  - id: both
    type: script
    run: [sh, -c, 'echo both >> log; echo "$0 $1 $2"', '{args.word}', '{steps.first.output}', '{steps.all.output}']
    cache: {scope: cross-run, ttl: 1h}
`;

let project: UnchangedProject;
beforeEach(() => {
  project = createUnchangedProject({ 'flow.yaml': FLOW, 'in/a.txt': 'one\n', 'lib/x.txt': 'x\n', 'lib/y.txt': 'y\n' });
});
afterEach(() => project.remove());

/** Runs until a snapshot is there: once to make the results, once to reuse all of them. */
async function settle(args: readonly string[] = []): Promise<void> {
  for (let i = 0; i < 2; i += 1) expect((await project.run(args)).status).toBe(0);
}

const runIdIn = (text: string) => /\d{8}-\d{6}-[0-9a-z]{6}/.exec(text)?.[0] ?? '';
const entries = () => join(project.root, '.pi/taskflows/cache');

describe('a run in which nothing changed', () => {
  it('is answered without the engine', async () => {
    await project.run();
    expect(project.isAnswered()).toBe(false);
    await project.run();
    expect(project.isAnswered()).toBe(true);
    expect(project.executions()).toBe(3);
  });

  it.each([[[]], [['--json']], [['--events']], [['--quiet']]])(
    'says the same with and without it: %j',
    async (flags) => {
      await settle();
      const withIt = await project.run(flags);
      expect(project.isAnswered(flags)).toBe(true);
      project.forgetDerived();
      const without = await project.run(flags);
      expect(withIt.status).toBe(without.status);
      expect(withoutTimes(withIt.stdout)).toBe(withoutTimes(without.stdout));
      expect(withoutTimes(withIt.stderr)).toBe(withoutTimes(without.stderr));
      expect(project.executions()).toBe(3);
    },
  );

  it('has the same journal, is the last run of its flow, and is traced like any other', async () => {
    await settle();
    const withIt = runIdIn((await project.run(['--json'])).stdout);
    const trace = await project.taskflow(['trace', withIt]);
    expect(trace.status).toBe(0);
    expect((await project.taskflow(['runs', '--json'])).stdout).toContain(withIt);
    const lastBefore = readFileSync(join(project.root, '.pi/taskflows/runs/.last', last()), 'utf8').trim();
    expect(lastBefore).toBe(withIt);
    project.forgetDerived();
    const without = runIdIn((await project.run(['--json'])).stdout);
    expect(withoutTimes(project.journal(withIt))).toBe(withoutTimes(project.journal(without)));
    expect(withoutTimes(trace.stdout)).toBe(withoutTimes((await project.taskflow(['trace', without])).stdout));
  });

  it('counts as a use of each of its entries', async () => {
    await settle();
    const log = join(entries(), 'index.log');
    const uses = () => readFileSync(log, 'utf8').split(/[0-9a-f]{64}/).length;
    const before = uses();
    expect(project.isAnswered()).toBe(true);
    // A phase that listed a folder has one more, which says where to look.
    const isOfPaths = (name: string) => readFileSync(join(entries(), name), 'utf8').includes('"pathSets":[');
    const sets = readdirSync(entries()).filter((name) => /^[0-9a-f]{64}\.json$/.test(name) && isOfPaths(name));
    expect(uses() - before).toBe(3 + sets.length);
  });

  it('is one per arguments', async () => {
    await settle();
    expect(project.isAnswered(['word=other'])).toBe(false);
    await settle(['word=other']);
    expect(project.isAnswered(['word=other'])).toBe(true);
    expect((await project.run(['word=other'])).stdout).toBe('other one x\ny\n');
    expect((await project.run()).stdout).toBe('hello one x\ny\n');
  });

  function last(): string {
    return readdirSync(join(project.root, '.pi/taskflows/runs/.last'))[0]!;
  }
});

describe('what makes a snapshot stale', () => {
  const edits: readonly (readonly [string, () => unknown])[] = [
    ['an input file', () => project.write('in/a.txt', 'two\n')],
    ['an input file with its old times', editWithOldTimes],
    ['an input file that is gone', () => rmSync(join(project.root, 'in/a.txt'))],
    ['a new file for a glob', () => project.write('lib/z.txt', 'z\n')],
    ['the flow', () => project.write('flow.yaml', `${FLOW}# changed\n`)],
    ['settings that were not there', () => project.write('.pi/taskflows/config.yaml', 'concurrency: 3\n')],
    ['an entry that is gone', () => rmSync(anEntry())],
    ['an entry that was written again', () => writeFileSync(anEntry(), readFileSync(anEntry()))],
    ['a folder of inputs that leads out of the project', () => leadOut('in')],
    ['a store that leads out of the project', () => leadOut('.pi/taskflows/cache')],
    ['a failed run of the same flow', failOnce],
    ['a long list of uses', () => appendFileSync(join(entries(), 'index.log'), Buffer.alloc(5 * 1024 * 1024, '\n'))],
    ['no last run', () => rmSync(join(project.root, '.pi/taskflows/runs/.last'), { recursive: true })],
  ];

  it.each(edits)('%s', async (_, edit) => {
    await settle();
    expect(project.isAnswered()).toBe(true);
    await edit();
    expect(project.isAnswered()).toBe(false);
  });

  it('a variable of the environment', async () => {
    await settle();
    expect(project.isAnswered([], { SOMETHING: 'new' })).toBe(false);
    expect(project.isAnswered([], { TERM: 'other' })).toBe(true);
  });

  it('a folder that leads out of the project, with inputs that are known by their stats', async () => {
    await sleep(2_600);
    await settle();
    const cache = dirname(project.snapshots()[0]!);
    const tables = readdirSync(cache).filter((name) => name.endsWith('.bin'));
    expect(tables.some((name) => readFileSync(join(cache, name), 'latin1').includes('in/a.txt'))).toBe(true);
    leadOut('in');
    expect(project.isAnswered()).toBe(false);
  });

  it('its time to live', async () => {
    project.write('flow.yaml', FLOW.replace('ttl: 1h', 'ttl: 2s'));
    const started = Date.now();
    await settle();
    if (Date.now() - started < 1_000) expect(project.isAnswered()).toBe(true);
    await sleep(2_100);
    expect(project.isAnswered()).toBe(false);
  });

  function anEntry(): string {
    return join(entries(), readdirSync(entries()).find((name) => /^[0-9a-f]{64}\.json$/.test(name))!);
  }

  function editWithOldTimes(): void {
    const path = join(project.root, 'in/a.txt');
    const { atime, mtime } = statSync(path);
    writeFileSync(path, 'two\n');
    utimesSync(path, atime, mtime);
  }

  function leadOut(folder: string): void {
    const elsewhere = `${project.root}-elsewhere-${folder.replaceAll('/', '-')}`;
    renameSync(join(project.root, folder), elsewhere);
    symlinkSync(elsewhere, join(project.root, folder));
  }

  async function failOnce(): Promise<void> {
    rmSync(join(project.root, 'in/a.txt'));
    expect((await project.run()).status).toBe(1);
    project.write('in/a.txt', 'one\n');
  }
});

describe('a snapshot of an agent phase', () => {
  beforeEach(() => {
    project.write('.pi/taskflows/config.yaml', 'runner: echo\nrunners:\n  echo: {type: command, command: [cat]}\n');
    project.write('.pi/agents/helper.md', '---\nname: helper\ndescription: helps\n---\nBe kind.\n');
    const phase = '{id: p, agent: helper, task: go, context: [in/a.txt], cache: {scope: cross-run, fingerprint: []}}';
    project.write('flow.yaml', `name: agents\nphases:\n  - ${phase}\n`);
  });

  it.each(['.pi/agents/helper.md', 'in/a.txt', '.pi/taskflows/config.yaml'])(
    'is stale when %s changed',
    async (path) => {
      await settle();
      expect(project.isAnswered()).toBe(true);
      appendFileSync(join(project.root, path), '\n\n');
      expect(project.isAnswered()).toBe(false);
    },
  );
});

describe('a snapshot that is not what we wrote', () => {
  const forge = (text: string) => `${sha256Hex(text)}\n${text}`;
  const damages: readonly (readonly [string, (text: string) => string])[] = [
    ['empty', () => ''],
    ['torn', (text) => text.slice(0, text.length >> 1)],
    ['no JSON', () => forge('{"run":')],
    ['no object', () => forge('null')],
    ['without phases', (text) => forge(JSON.stringify({ ...body(text), phases: undefined }))],
    ['with phases that are none', (text) => forge(JSON.stringify({ ...body(text), phases: [null, 3] }))],
    ['with an output that is none', (text) => forge(JSON.stringify(withResults(text, { output: { text: 1 } })))],
    ['with a use that is none', (text) => forge(JSON.stringify(withResults(text, { cost: { usage: null } })))],
    ['with files that are none', (text) => forge(JSON.stringify({ ...body(text), files: [{ path: '\0' }] }))],
    ['with another output', (text) => text.replaceAll('hello', 'HELLO')],
  ];
  const withResults = (text: string, other: object) => {
    const whole = body(text);
    const phases = whole['phases'] as { result: object }[];
    return { ...whole, phases: phases.map((phase) => ({ ...phase, result: { ...phase.result, ...other } })) };
  };
  const body = (text: string) => JSON.parse(text.slice(text.indexOf('\n') + 1)) as Record<string, unknown>;

  it.each(damages)('%s: the engine answers', async (_, damage) => {
    await settle();
    const [path] = project.snapshots();
    writeFileSync(path!, damage(readFileSync(path!, 'utf8')));
    expect(project.isAnswered()).toBe(false);
    const run = await project.run();
    expect(run).toMatchObject({ status: 0, stdout: 'hello one x\ny\n' });
    expect(run.stderr).not.toContain('internal');
    expect(project.isAnswered()).toBe(true);
  });
});

describe('snapshots are removed', () => {
  it.each([[['cache', 'clear', '--all']], [['runs', 'clear']], [['cache', 'clear', '--phase', 'all']]])(
    'by taskflow %j',
    async (command) => {
      await settle();
      expect(project.snapshots()).toHaveLength(1);
      expect((await project.taskflow(command)).status).toBe(0);
      expect(project.snapshots()).toEqual([]);
    },
  );
});

describe('no snapshot is made of', () => {
  const cached = (more = ", fingerprint: ['file:in/a.txt']") => `    cache: {scope: cross-run${more}}\n`;
  const phase = (id: string, more: string) => `  - id: ${id}\n    type: script\n    run: [echo, hi]\n${more}`;
  const flows: readonly (readonly [string, string])[] = [
    ['a phase that is not kept across runs', phase('p', '')],
    ['a variable as input', phase('p', cached(", fingerprint: ['env:HOME']"))],
    ['a command as input', phase('p', cached(", fingerprint: ['cmd:echo hi']"))],
    ['an environment of its own', phase('p', `    env: {X: '1'}\n${cached()}`)],
    [
      'output files',
      `  - id: p\n    type: script\n    run: [cp, in/a.txt, out.txt]\n    outputs: [out.txt]\n${cached()}`,
    ],
    ['a folder of its own', phase('p', `    cwd: lib\n${cached()}`)],
    ['a warning', phase('p', cached(", fingerprint: ['file:nowhere.txt']"))],
    ['a phase that was skipped', `${phase('p', cached())}${phase('q', `    when: 'false'\n${cached()}`)}`],
    [
      'a map',
      `  - {id: p, type: map, over: [1, 2], run: [echo, '{item}'], cache: {scope: cross-run, fingerprint: []}}\n`,
    ],
  ];

  it.each(flows)('%s', async (_, phases) => {
    project.write('flow.yaml', `name: other\nphases:\n${phases}`);
    for (let i = 0; i < 2; i += 1) expect((await project.run()).status).toBe(0);
    expect(project.snapshots()).toEqual([]);
  });

  it.each([[['--concurrency', '2']], [['--yes']], [['--fresh']]])('a run with %j', async (flags) => {
    await settle(flags);
    expect(project.snapshots()).toEqual([]);
  });

  it('a flow with a secret argument', async () => {
    project.write('flow.yaml', FLOW.replace('default: hello', 'default: hello, secret: true'));
    await settle();
    expect(project.snapshots()).toEqual([]);
  });
});
