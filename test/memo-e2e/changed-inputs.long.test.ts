import { chmodSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { phaseOf } from '../support/rig.js';
import { createMemoRig, cross, flow, kept, type MemoRig, makeRepository } from './support.js';

let rig: MemoRig;
beforeEach(() => {
  rig = createMemoRig();
});
afterEach(() => rig.remove());

const path = (name: string) => join(rig.root, name);
/** The two ways to fingerprint by content that keep a table, and the two that do not. */
const SOURCES = ['glob:src/**', 'glob!:src/**', 'file:src/a.txt', 'git:worktree'] as const;

describe.each(SOURCES)('%s', (source) => {
  beforeEach(async () => {
    rig.write('src/a.txt', 'one');
    makeRepository(rig.root);
    expect(await rig.executed(flow([kept('a', [source])]))).toEqual({ a: 1 });
  });

  it('an unchanged file is a hit', async () => {
    expect(await rig.executed()).toEqual({});
  });

  it('a rewrite of the same size within one clock tick is seen, and so is the way back', async () => {
    writeFileSync(path('src/a.txt'), 'two');
    expect(await rig.executed()).toEqual({ a: 1 });
    writeFileSync(path('src/a.txt'), 'tri');
    expect(await rig.executed()).toEqual({ a: 1 });
    writeFileSync(path('src/a.txt'), 'two');
    expect(await rig.executed()).toEqual({});
  });

  it('an edit whose mtime was put back is seen', async () => {
    const { atime, mtime } = statSync(path('src/a.txt'));
    writeFileSync(path('src/a.txt'), 'two');
    utimesSync(path('src/a.txt'), atime, mtime);
    expect(await rig.executed()).toEqual({ a: 1 });
  });

  it('a touch without a change is still a hit', async () => {
    utimesSync(path('src/a.txt'), new Date(), new Date(Date.now() + 5_000));
    expect(await rig.executed()).toEqual({});
  });

  it('a file that goes away and comes back is two changes and one result each', async () => {
    rmSync(path('src/a.txt'));
    expect(await rig.executed()).toEqual({ a: 1 });
    writeFileSync(path('src/a.txt'), 'one');
    expect(await rig.executed()).toEqual({});
  });

  it('an emptied file is not a missing one', async () => {
    writeFileSync(path('src/a.txt'), '');
    expect(await rig.executed()).toEqual({ a: 1 });
    rmSync(path('src/a.txt'));
    expect(await rig.executed()).toEqual({ a: 1 });
  });
});

describe('tables of known files', () => {
  it('a file that was left alone for long and then edited with its old times and size is seen', async () => {
    rig.write('src/a.txt', 'one');
    const old = new Date(Date.now() - 3_600_000);
    utimesSync(path('src/a.txt'), old, old);
    // The change of times must be old too, or the table would not trust the row: it is made three seconds later.
    const later = { laterMs: 3_000 };
    const counted = async () => {
      rig.forget();
      await rig.runAs(later, flow([kept('a', ['glob:src/**'])]));
      return rig.counts();
    };
    expect(await counted()).toEqual({ a: 1 });
    expect(await counted()).toEqual({});
    writeFileSync(path('src/a.txt'), 'two');
    utimesSync(path('src/a.txt'), old, old);
    expect(await counted()).toEqual({ a: 1 });
    writeFileSync(path('src/a.txt'), 'one');
    utimesSync(path('src/a.txt'), old, old);
    expect(await counted()).toEqual({});
  });
});

describe('nothing is cut', () => {
  it('the last byte of an 11 MB file counts', async () => {
    const bytes = Buffer.alloc(11 * 1024 * 1024, 1);
    for (const source of ['file:big.bin', 'glob:big.bin', 'glob:*.bin']) {
      bytes[bytes.length - 1] = 1;
      writeFileSync(path('big.bin'), bytes);
      await rig.executed(flow([kept('a', [source])]));
      expect(await rig.executed()).toEqual({});
      bytes[bytes.length - 1] = 2;
      writeFileSync(path('big.bin'), bytes);
      expect(await rig.executed()).toEqual({ a: 1 });
    }
  });

  it('the 5,001st match counts: edited, added and removed', async () => {
    for (let i = 0; i < 5_001; i++) rig.write(`many/${String(i).padStart(5, '0')}.txt`, 'x');
    await rig.executed(flow([kept('a', ['glob:many/**'])]));
    expect(await rig.executed()).toEqual({});
    rig.write('many/05000.txt', 'y');
    expect(await rig.executed()).toEqual({ a: 1 });
    rig.write('many/05001.txt', 'x');
    expect(await rig.executed()).toEqual({ a: 1 });
    rmSync(path('many/05001.txt'));
    expect(await rig.executed()).toEqual({});
  });
});

describe('git', () => {
  beforeEach(() => {
    rig.write('src/a.txt', 'one');
    makeRepository(rig.root);
  });

  it('git:worktree sees uncommitted, staged, untracked and deleted changes under an unchanged HEAD', async () => {
    await rig.executed(flow([kept('a', ['git:worktree']), kept('b', ['git:HEAD'])]));
    expect(await rig.executed()).toEqual({});
    rig.write('src/a.txt', 'two');
    expect(await rig.executed()).toEqual({ a: 1 });
    rig.git('add', 'src/a.txt');
    expect(await rig.executed()).toEqual({});
    rig.write('src/new.txt', 'new');
    expect(await rig.executed()).toEqual({ a: 1 });
    rig.write('src/new.txt', 'won');
    expect(await rig.executed()).toEqual({ a: 1 });
    rmSync(path('src/new.txt'));
    rmSync(path('src/a.txt'));
    expect(await rig.executed()).toEqual({ a: 1 });
  });

  it('git:HEAD moves with a commit and comes back with it', async () => {
    await rig.executed(flow([kept('a', ['git:HEAD'])]));
    rig.git('commit', '-q', '--allow-empty', '-m', 'next');
    expect(await rig.executed()).toEqual({ a: 1 });
    rig.git('reset', '-q', '--soft', 'HEAD~1');
    expect(await rig.executed()).toEqual({});
  });

  it('cwd: worktree implies the commit, and what is not committed does not count', async () => {
    const phases = [{ id: 'a', type: 'script', run: ['bin/tick', 'a'], cwd: 'worktree', cache: cross() }];
    rig.write('flow.json', JSON.stringify(flow(phases)));
    expect(await rig.executed()).toEqual({ a: 1 });
    rig.write('src/a.txt', 'not committed');
    expect(await rig.executed()).toEqual({});
    rig.git('commit', '-q', '-a', '-m', 'next');
    expect(await rig.executed()).toEqual({ a: 1 });
  });

  it('an unknown ref is never a hit, and says why', async () => {
    const phases = [kept('a', ['git:no-such-branch'])];
    expect(await rig.executed(flow(phases))).toEqual({ a: 1 });
    expect(await rig.executed()).toEqual({ a: 1 });
    expect(phaseOf(await rig.run(), 'a').reason).toContain('no-such-branch');
    expect(rig.entries()).toEqual([]);
  });

  it('a repository that git cannot read is never a hit', async () => {
    await rig.executed(flow([kept('a', ['git:worktree'])]));
    expect(await rig.executed()).toEqual({});
    rig.write('.git/index', 'garbage');
    expect(await rig.executed()).toEqual({ a: 1 });
    expect(await rig.executed()).toEqual({ a: 1 });
    expect(phaseOf(await rig.run(), 'a').reason).toContain('git');
  });

  it('outside a repository git:HEAD is empty, with a warning', async () => {
    rmSync(path('.git'), { recursive: true });
    expect(await rig.executed(flow([kept('a', ['git:HEAD'])]))).toEqual({ a: 1 });
    expect(await rig.executed()).toEqual({});
    const result = await rig.run();
    expect(result.warnings?.join('\n')).toContain('not in a git repository');
  });
});

describe('probes that fail', () => {
  it('a command that cannot be started is never a hit, though it fails the same way twice', async () => {
    const phases = [kept('a', ['cmd:no-such-program --version'])];
    expect(await rig.executed(flow(phases))).toEqual({ a: 1 });
    expect(await rig.executed()).toEqual({ a: 1 });
    expect(phaseOf(await rig.run(), 'a').reason).toMatch(/^not cached this time: .*no-such-program/);
  });

  it('a folder, and a link that leaves the project, are never a hit', async () => {
    rig.write('src/a.txt', 'one');
    symlinkSync('/etc/hostname', path('src/out'));
    // What leads out when the flow is checked is refused there; these come to be afterwards.
    for (const source of ['file:src', 'glob:src/**']) {
      expect(await rig.executed(flow([kept('a', [source])]))).toEqual({ a: 1 });
      expect(await rig.executed()).toEqual({ a: 1 });
      expect(phaseOf(await rig.run(), 'a').reason).toContain('not cached this time');
    }
  });

  it('a placeholder without a value in a fingerprint is never a hit', async () => {
    const phases = [
      { id: 'list', type: 'script', run: ['printf', '{"a": 1}'], output: 'json' },
      kept('a', ['file:{steps.list.json.path}']),
    ];
    expect(await rig.executed(flow(phases))).toEqual({ a: 1 });
    expect(await rig.executed()).toEqual({ a: 1 });
  });

  it('the exit status and the output of a command count, failing or not', async () => {
    rig.write('bin/probe', '#!/bin/sh\ncat state; exit 3\n', 0o755);
    rig.write('state', 'v1');
    await rig.executed(flow([kept('a', ['cmd:bin/probe'])]));
    expect(await rig.executed()).toEqual({});
    rig.write('state', 'v2');
    expect(await rig.executed()).toEqual({ a: 1 });
    rig.write('bin/probe', '#!/bin/sh\ncat state; exit 4\n');
    chmodSync(path('bin/probe'), 0o755);
    expect(await rig.executed()).toEqual({ a: 1 });
    rig.write('bin/probe', '#!/bin/sh\ncat state; kill -9 $$\n');
    expect(await rig.executed()).toEqual({ a: 1 });
    expect(await rig.executed()).toEqual({ a: 1 });
  });

  it('a value with blanks stays one argument of a command', async () => {
    rig.write('bin/probe', '#!/bin/sh\nprintf "%s;" "$#" "$@"\n', 0o755);
    const phases = [
      {
        id: 'a',
        type: 'map',
        over: ['x y', '"q'],
        run: ['bin/tick', 'a', '{item}'],
        cache: cross(['cmd:bin/probe {item} z']),
      },
    ];
    expect(await rig.executed(flow(phases))).toEqual({ a: 2 });
    expect(await rig.executed()).toEqual({});
    const values = [rig.entry(0), rig.entry(1)].map(({ identity }) => JSON.stringify(identity['fingerprints']));
    expect(values.sort().join()).toContain(JSON.stringify('2;"q;z;'));
    expect(values.join()).toContain(JSON.stringify('2;x y;z;'));
  });
});

describe('inputs that move while phases run', () => {
  it('an input edited while the phase runs: the result is used, not stored', async () => {
    rig.write('in.txt', 'one');
    const run = 'bin/note a; cat in.txt; echo two > in.txt';
    const phases = [{ id: 'a', type: 'script', run, cache: cross(['file:in.txt']) }];
    const result = await rig.run(flow(phases));
    expect(phaseOf(result, 'a')).toMatchObject({ status: 'done', remark: expect.stringContaining('file:in.txt') });
    expect(rig.entries()).toEqual([]);
    rig.write('in.txt', 'one');
    expect(await rig.executed()).toEqual({ a: 1 });
  });

  it('an input edited during the run is not served to the run that continues either', async () => {
    rig.write('in.txt', 'one');
    const phases = [
      { id: 'a', type: 'script', run: 'bin/note a; sleep 0.05; cat in.txt', cache: cross(['file:in.txt']) },
      { id: 'b', type: 'script', run: 'bin/note b; test -e ok', dependsOn: ['a'] },
    ];
    rig.write('flow.json', JSON.stringify(flow(phases)));
    const running = rig.run();
    while (rig.counts()['a'] === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    rig.write('in.txt', 'two');
    expect((await running).status).toBe('failed');
    rig.write('in.txt', 'one');
    rig.write('ok', '');
    rig.forget();
    const second = await rig.run();
    expect(rig.counts()).toEqual({ a: 1, b: 1 });
    expect(phaseOf(second, 'a').output).toBe('one');
  });

  it('a context file edited while the agent works: the answer is not stored', async () => {
    rig.write('notes.md', 'one');
    const task = 'NAME: a\nDO: echo two > notes.md\nANSWER: {"text": "fine"}';
    const phases = [{ id: 'a', type: 'agent', runner: 'json', task, context: ['notes.md'], cache: cross() }];
    await rig.run(flow(phases));
    expect(rig.entries()).toEqual([]);
  });

  it('a phase that edits what a later one fingerprints cannot make it stale', async () => {
    rig.write('in.txt', 'one');
    const phases = [
      kept('before', ['file:in.txt']),
      { id: 'edit', type: 'script', run: 'bin/note edit; cat next > in.txt', dependsOn: ['before'] },
      {
        id: 'after',
        type: 'script',
        run: 'bin/note after; cat in.txt',
        dependsOn: ['edit'],
        cache: cross(['file:in.txt']),
      },
    ];
    rig.write('next', 'two');
    expect(phaseOf(await rig.run(flow(phases)), 'after').output).toBe('two');
    rig.write('in.txt', 'one');
    rig.write('next', 'three');
    rig.forget();
    expect(phaseOf(await rig.run(), 'after').output).toBe('three');
    expect(rig.counts()).toEqual({ edit: 1, after: 1 });
  });

  it('files that a person edits while an approval waits are seen by what follows', async () => {
    rig.write('in.txt', 'one');
    const phases = [
      kept('before', ['file:in.txt']),
      { id: 'ask', type: 'approval', task: 'ready?' },
      { id: 'after', type: 'script', run: ['bin/tick', 'after'], dependsOn: ['ask'], cache: cross(['file:in.txt']) },
    ];
    await rig.run(flow(phases), { approve: async () => ({ decision: 'approve' }) });
    rig.forget();
    await rig.run(undefined, {
      approve: async () => {
        rig.write('in.txt', 'two');
        return { decision: 'approve' };
      },
    });
    expect(rig.counts()).toEqual({ after: 1 });
  });
});
