import { cpSync, existsSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { observeSupport } from '../../src/observe/support.js';
import { phaseOf } from '../support/rig.js';
import { pathWithoutStrace } from '../support/without-strace.js';
import { answering, createMemoRig, cross, flow, git, type MemoRig, makeRepository, writeConfig } from './support.js';

const env = { PATH: process.env['PATH'] };
const canTrace = 'strace' in (await observeSupport({ root: '/nowhere', home: '/nowhere', env }));

let rig: MemoRig;
beforeEach(() => {
  rig = createMemoRig('auto');
  rig.write('src/a.txt', 'one');
});
afterEach(() => rig.remove());

const path = (name: string) => join(rig.root, name);
const reason = async () => phaseOf(await rig.run(), 'a').reason;
/** Not continued, although the flow was edited. */
const afresh = { continuation: { how: 'fresh' } } as const;
/** A script that is counted as `a`, and kept although it declares nothing. */
const script = (run: string, more: object = {}, cache: object = {}) =>
  flow([{ id: 'a', type: 'script', run: `bin/note a; ${run}`, cache: cross([], cache), ...more }]);

describe.runIf(canTrace)('what a script reads and does not declare', () => {
  describe('the content of a file', () => {
    beforeEach(async () => {
      expect(await rig.executed(script('cat src/a.txt'))).toEqual({ a: 1 });
      expect(await rig.executed()).toEqual({});
    });

    it('changed is a miss that names the file; each state that was seen is a hit again', async () => {
      writeFileSync(path('src/a.txt'), 'two');
      expect(await reason()).toBe('read last time and changed since: src/a.txt');
      expect(await rig.executed()).toEqual({});
      for (const state of ['one', 'two', 'one']) {
        writeFileSync(path('src/a.txt'), state);
        rig.forget();
        expect((await rig.run()).output).toBe(state);
        expect(rig.counts()).toEqual({});
      }
    });

    it('an edit of the same size within one tick, with its time put back, is seen', async () => {
      writeFileSync(path('src/a.txt'), 'two');
      utimesSync(path('src/a.txt'), new Date(0), new Date(0));
      expect(await rig.executed()).toEqual({ a: 1 });
    });

    it('gone is a miss, and so is what comes in its place', async () => {
      rmSync(path('src/a.txt'));
      await rig.run();
      rig.write('src/a.txt', 'new');
      expect(await rig.executed()).toEqual({ a: 1 });
    });

    it('another file is none of its business', async () => {
      rig.write('src/b.txt', 'new');
      rig.write('b.txt', 'new');
      expect(await rig.executed()).toEqual({});
    });

    it('`observe: off` is as declared, and `--no-cache`, `--refresh` run', async () => {
      expect(await rig.executed(script('cat src/a.txt', {}, { observe: 'off' }), afresh)).toEqual({ a: 1 });
      writeFileSync(path('src/a.txt'), 'two');
      expect(await rig.executed()).toEqual({});
      expect(await rig.executed(undefined, { reuse: 'refresh' })).toEqual({ a: 1 });
    });

    it('a dry run says what a run would do, and --frozen refuses it', async () => {
      writeFileSync(path('src/a.txt'), 'two');
      const refused = await rig.run(undefined, { frozen: true });
      expect(refused.error).toMatchObject({
        code: 'frozen',
        message: expect.stringContaining('read last time and changed since: src/a.txt') as string,
      });
    });
  });

  it('a file that was looked for and appears is a miss that names it', async () => {
    const looks = script('if test -e AGENTS.md; then cat AGENTS.md; else echo none; fi');
    expect(await rig.executed(looks)).toEqual({ a: 1 });
    expect(await rig.executed()).toEqual({});
    rig.write('AGENTS.md', 'be kind');
    expect(await reason()).toBe('AGENTS.md appeared');
    rmSync(path('AGENTS.md'));
    expect(await rig.executed()).toEqual({});
  });

  it('a folder that was listed counts by its names, not by their contents', async () => {
    expect(await rig.executed(script('ls src'))).toEqual({ a: 1 });
    writeFileSync(path('src/a.txt'), 'two');
    expect(await rig.executed()).toEqual({});
    rig.write('src/b.txt', '');
    expect(await reason()).toBe('listing of src/ changed');
    rmSync(path('src/b.txt'));
    expect(await rig.executed()).toEqual({});
  });

  it('what taskflow itself makes in the project is in no listing', async () => {
    expect(await rig.executed(script('ls -a .; ls .pi/taskflows'))).toEqual({ a: 1 });
    expect(await rig.executed()).toEqual({});
  });

  it('a file that it made itself is no input, nor is its name in a listing', async () => {
    const makes = script('mkdir -p out; echo x > out/r; cat out/r; ls out', { outputs: ['out/**'] });
    expect(await rig.executed(makes)).toEqual({ a: 1 });
    expect(await rig.executed()).toEqual({});
    rmSync(path('out'), { recursive: true });
    expect(await rig.executed()).toEqual({});
    expect(rig.read('out/r')).toBe('x\n');
  });

  it('a file that it wrote and does not declare: not kept, and the remark names it', async () => {
    const result = await rig.run(script('echo x > stray.txt'));
    expect(phaseOf(result, 'a').remark).toBe('not kept: it wrote stray.txt, which `outputs` does not name');
    expect(await rig.executed()).toEqual({ a: 1 });
    const excluded = script('echo x > stray.txt', {}, { observe: { exclude: ['stray.txt'] } });
    expect(await rig.executed(excluded, afresh)).toEqual({ a: 1 });
    expect(await rig.executed()).toEqual({});
  });

  it('read and then written: the content before is the input, where `outputs` names the file', async () => {
    rig.write('n', '1\n');
    const counts = 'n=$(cat n); echo $((n+1)) > n; echo $n';
    expect(await rig.executed(script(counts))).toEqual({ a: 1 });
    rig.write('n', '1\n');
    expect(await rig.executed()).toEqual({ a: 1 });
    rig.write('n', '1\n');
    expect(await rig.executed(script(counts, { outputs: ['n'] }))).toEqual({ a: 1 });
    expect(rig.read('n')).toBe('2\n');
    // As without a cache, it goes on counting; what was counted before is known.
    expect(await rig.executed()).toEqual({ a: 1 });
    expect(rig.read('n')).toBe('3\n');
  });

  it('a file that somebody changes while the phase runs: not kept', async () => {
    const runs = rig.run(script('cat src/a.txt; touch ../begun; while ! test -e ../go; do sleep 0.05; done'));
    while (!existsSync(join(rig.root, '../begun'))) await new Promise((resolve) => setTimeout(resolve, 10));
    writeFileSync(path('src/a.txt'), 'two');
    writeFileSync(join(rig.root, '../go'), '');
    expect(phaseOf(await runs, 'a').remark).toBe('not kept: src/a.txt changed while the phase ran');
    rig.forget();
    expect((await rig.run()).output).toBe('two');
    expect(rig.counts()).toEqual({ a: 1 });
  });

  it('what is declared is not observed a second time', async () => {
    const declared = cross(['glob:src/**', 'glob:bin/**']);
    await rig.run(flow([{ id: 'a', type: 'script', run: 'bin/note a; cat src/a.txt; ls src', cache: declared }]));
    expect(rig.entries()).toHaveLength(1);
    expect(rig.entry().identity['observed']).toBeUndefined();
  });

  it('a link counts by where it leads', async () => {
    rig.write('src/b.txt', 'two');
    symlinkSync('a.txt', path('src/link'));
    expect(await rig.executed(script('cat src/link'))).toEqual({ a: 1 });
    rmSync(path('src/link'));
    symlinkSync('b.txt', path('src/link'));
    expect(await rig.executed()).toEqual({ a: 1 });
    writeFileSync(path('src/b.txt'), 'tri');
    expect(await rig.executed()).toEqual({ a: 1 });
  });

  it('a branch that is switched and switched back hits again', async () => {
    makeRepository(rig.root);
    expect(await rig.executed(script('cat src/a.txt; ls src; cat src/b.txt 2>/dev/null; true'))).toEqual({ a: 1 });
    git(rig.root, 'add', '.');
    git(rig.root, 'commit', '-q', '-m', 'flow');
    git(rig.root, 'checkout', '-q', '-b', 'other');
    writeFileSync(path('src/a.txt'), 'two');
    rig.write('src/b.txt', 'new');
    git(rig.root, 'add', '.');
    git(rig.root, 'commit', '-q', '-m', 'other');
    expect(await rig.executed()).toEqual({ a: 1 });
    git(rig.root, 'checkout', '-q', 'main');
    expect(await rig.executed()).toEqual({});
    git(rig.root, 'checkout', '-q', 'other');
    expect(await rig.executed()).toEqual({});
  });

  it('each item of a map has its own inputs', async () => {
    rig.write('x.in', '1');
    rig.write('y.in', '1');
    const map = { id: 'm', type: 'map', over: ['x', 'y'], run: 'bin/note "$ITEM"; cat "$ITEM.in"' };
    const phase = { ...map, env: { ITEM: '{item}' }, cache: cross() };
    expect(await rig.executed(flow([phase]))).toEqual({ x: 1, y: 1 });
    rig.write('y.in', '2');
    expect(await rig.executed()).toEqual({ y: 1 });
    rig.write('y.in', '1');
    expect(await rig.executed()).toEqual({});
  });

  it('a flow that is kept as a whole is made from what its parts read, without what they made', async () => {
    const inner = {
      name: 'inner',
      phases: [
        { id: 'x', type: 'script', run: 'bin/note x; cat src/a.txt > made.txt', outputs: ['made.txt'] },
        { id: 'y', type: 'script', run: 'bin/note y; cat made.txt', dependsOn: ['x'] },
      ],
    };
    const outer = flow([{ id: 'f', type: 'flow', def: inner, cache: cross() }]);
    expect(await rig.executed(outer)).toEqual({ x: 1, y: 1 });
    expect(await rig.executed()).toEqual({});
    writeFileSync(path('src/a.txt'), 'two');
    rig.forget();
    expect((await rig.run()).output).toBe('two');
    expect(rig.counts()).toEqual({ x: 1, y: 1 });
  });

  it('a gate that sends work back removes what was found by what it read', async () => {
    const w = { id: 'w', type: 'script', run: 'bin/note w; cat src/a.txt', cache: cross() };
    const g = { id: 'g', type: 'gate', eval: ['{steps.w.output} contains two'] };
    await rig.run(flow([w, { ...g, onBlock: 'retry' }]));
    expect(rig.entries()).toEqual([]);
  });

  it('an archive carries it to another checkout, which has its own files', async () => {
    const { exportArchive } = await import('../../src/store/export-archive.js');
    const { importArchive } = await import('../../src/store/import-archive.js');
    await rig.run(script('cat src/a.txt'));
    writeFileSync(path('src/a.txt'), 'two');
    await rig.run();
    const limits = { maxBytes: 1e9, maxEntries: 1e6, maxAgeMs: 1e12 };
    const here = { dir: path('.pi/taskflows/cache'), project: rig.project, limits, signingKey: undefined };
    const archive = join(rig.root, '../cache.tgz');
    await exportArchive(here, archive);
    const root = join(rig.root, '../elsewhere');
    cpSync(rig.root, root, { recursive: true, filter: (from) => !/taskflows\/(cache|runs)/.test(from) });
    const project = { ...rig.project, root };
    expect(await importArchive({ ...here, dir: join(root, '.pi/taskflows/cache'), project }, archive)).toMatchObject({
      entries: 2,
    });
    for (const [state, counts] of [
      ['two', {}],
      ['one', {}],
      ['tri', { a: 1 }],
    ] as const) {
      writeFileSync(join(root, 'src/a.txt'), state);
      rig.forget();
      expect((await rig.runAs({ root })).output).toBe(state);
      expect(rig.counts()).toEqual(counts);
    }
  });

  it('what cannot be followed: the result is used and not kept, and says so', async () => {
    writeFileSync(Buffer.concat([Buffer.from(path('src/')), Buffer.from([0xff])]), 'read');
    for (const of of [script(`cat src/$(printf '\\377')`), undefined]) {
      rig.forget();
      const result = await rig.run(of);
      expect([rig.counts(), result.output]).toEqual([{ a: 1 }, 'read']);
      const { remark } = phaseOf(result, 'a');
      expect(remark).toBe('not kept: not all that it read was seen: the name of a file is not UTF-8');
    }
  });

  it('an archive adds its path sets to those that are here', async () => {
    const { exportArchive } = await import('../../src/store/export-archive.js');
    const { importArchive } = await import('../../src/store/import-archive.js');
    const limits = { maxBytes: 1e9, maxEntries: 1e6, maxAgeMs: 1e12 };
    const store = { dir: path('.pi/taskflows/cache'), project: rig.project, limits, signingKey: undefined };
    const archive = join(rig.root, '../cache.tgz');
    // Each state leads to other files, so each has a path set of its own.
    const which = (name: string) => writeFileSync(path('src/which'), name);
    which('a.txt');
    writeFileSync(path('src/b.txt'), 'of b');
    await rig.run(script('cat src/$(cat src/which)'));
    expect(await exportArchive(store, archive)).toMatchObject({ entries: 1, skipped: 0 });
    rmSync(store.dir, { recursive: true });
    which('b.txt');
    await rig.run();
    const before = rig.counts();
    expect(await importArchive(store, archive)).toMatchObject({ entries: 1, known: 0 });
    expect(await importArchive(store, archive)).toMatchObject({ entries: 0, known: 1 });
    for (const name of ['a.txt', 'b.txt']) {
      which(name);
      expect((await rig.run()).output).toBe(name === 'a.txt' ? 'one' : 'of b');
    }
    expect(rig.counts()).toEqual(before);
  });

  it('`strict` keeps what was seen whole, and never serves what was not', async () => {
    expect(await rig.executed(script('cat src/a.txt', {}, { observe: 'off' }))).toEqual({ a: 1 });
    expect(await rig.executed(script('cat src/a.txt', {}, { observe: 'strict' }))).toEqual({ a: 1 });
    expect(await rig.executed()).toEqual({});
    writeFileSync(path('src/a.txt'), 'two');
    expect(await rig.executed()).toEqual({ a: 1 });
  });
});

describe.runIf(canTrace)('a run that continues by itself', () => {
  const agent = {
    id: 'a',
    type: 'agent',
    runner: 'json',
    task: 'NAME: a\nDO: cat src/a.txt > /dev/null\nANSWER: {"text": "x"}',
  };
  const edited = (word: string) => flow([agent, { id: 'b', type: 'script', run: ['echo', word] }]);

  it('reuses the answer of an agent although the project changed, unless something that it read did', async () => {
    expect(await rig.executed(edited('one'))).toEqual({ a: 1 });
    rig.write('src/other.txt', 'new');
    expect(await rig.executed(edited('two'))).toEqual({});
    writeFileSync(path('src/a.txt'), 'two');
    rig.forget();
    const result = await rig.run(edited('three'));
    expect(rig.counts()).toEqual({ a: 1 });
    expect(phaseOf(result, 'a').reason).toBe('read last time and changed since: src/a.txt');
  });
});

describe('where nobody can look', () => {
  const changes = { env: { PATH: '' } };
  beforeEach(() => {
    changes.env.PATH = pathWithoutStrace(join(rig.root, '../programs'));
  });
  const executed = async (flowOf?: object) => {
    rig.forget();
    const result = await rig.runAs(changes, flowOf);
    return { ...rig.counts(), reason: phaseOf(result, 'a').reason, remark: phaseOf(result, 'a').remark };
  };
  /** An agent whose client says that it read these files. */
  const reading = (filesRead: readonly string[], cache: object = cross()) =>
    flow([answering('a', { text: 'said', filesRead }, { cache })]);

  it('what a client says it read adds misses, and what was seen before is a hit again', async () => {
    expect(await executed(reading(['src/a.txt']))).toMatchObject({ a: 1 });
    expect(await executed()).not.toHaveProperty('a');
    writeFileSync(path('src/a.txt'), 'two');
    expect(await executed()).toMatchObject({ a: 1, reason: 'read last time and changed since: src/a.txt' });
    writeFileSync(path('src/a.txt'), 'one');
    expect(await executed()).not.toHaveProperty('a');
    rmSync(path('src/a.txt'));
    expect(await executed()).toMatchObject({ a: 1, reason: 'src/a.txt disappeared' });
  });

  it('`strict` keeps nothing, runs each time, and says why', async () => {
    const strict = reading(['src/a.txt'], cross([], { observe: 'strict' }));
    const why = 'not kept: observe: strict, and not all was seen: only what the client reports of its own tools';
    expect(await executed(strict)).toMatchObject({ a: 1, remark: why });
    expect(await executed()).toMatchObject({ a: 1, remark: why });
  });

  it('a phase of which nothing is known is kept under its declared key alone, as ever', async () => {
    expect(await executed(script('cat src/a.txt'))).toMatchObject({ a: 1 });
    writeFileSync(path('src/a.txt'), 'two');
    expect(await executed()).not.toHaveProperty('a');
    expect(rig.entries()).toHaveLength(1);
    expect(rig.entry()).toMatchObject({ format: 1, key: expect.not.stringMatching(/^$/) as string });
  });
});

it('settings of the project turn it off', async () => {
  writeConfig(rig, 'cache: { observe: off }\n');
  await rig.run(script('cat src/a.txt'));
  writeFileSync(path('src/a.txt'), 'two');
  expect(await rig.executed()).toEqual({});
});
