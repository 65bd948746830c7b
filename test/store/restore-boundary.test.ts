import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { OutputFile } from '../../src/model/outcome.js';
import { ledgerPath } from '../../src/store/ledger.js';
import { isSafeLink, isSafeOutputPath } from '../../src/store/output-path.js';
import type { Entry } from '../../src/store/store.js';
import { sha256Hex } from '../../src/util/digest.js';
import { forgeEntry, forgeFile, readEntries } from '../support/forge-entry.js';
import { createRig, phaseOf, type Rig } from '../support/rig.js';

let rig: Rig;
let cache: string;
beforeEach(() => {
  rig = createRig();
  cache = join(rig.root, '.pi/taskflows/cache');
});
afterEach(() => rig.remove());

const LINK = 0o120777;
const script = 'bin/tick build built; mkdir -p dist; echo made > dist/app.js';
const flow = (outputs: readonly string[] = ['dist/**']) => ({
  name: 'f',
  phases: [{ id: 'build', type: 'script', run: script, outputs, cache: { scope: 'cross-run' } }],
});

/** Not one that only says where to look. */
const isResult = ({ pathSets }: Entry) => pathSets === undefined;

/** Runs the flow once, then replaces the files that its entry names, and loses those of the project. */
async function forge(files: (dir: string) => readonly OutputFile[], outputs?: readonly string[]): Promise<void> {
  await rig.run(flow(outputs));
  const [entry] = readEntries(cache).filter(isResult);
  forgeEntry(cache, { ...entry!, files: files(cache) });
  rmSync(join(rig.root, 'dist'), { recursive: true });
  rig.forget();
}

async function expectExecuted(reason: RegExp, outputs?: readonly string[]): Promise<void> {
  const result = await rig.run(flow(outputs));
  expect(result.status).toBe('success');
  expect(phaseOf(result, 'build')).toMatchObject({ cacheHit: null, reason: expect.stringMatching(reason) });
  expect(rig.counts()).toEqual({ build: 1 });
}

test('what the phase declares comes back, and nothing is executed', async () => {
  await forge((dir) => [forgeFile(dir, 'dist/app.js', 'made\n', 0o644)]);
  const result = await rig.run(flow());
  expect(phaseOf(result, 'build').cacheHit).toBe('cross-run');
  expect(rig.counts()).toEqual({});
  expect(rig.read('dist/app.js')).toBe('made\n');
  expect(readdirSync(join(cache, 'restoring'))).toEqual([]);
});

describe('an entry that names a file which the phase does not declare is a miss, and nothing is written', () => {
  test.each([
    '.github/workflows/x.yml',
    '.envrc',
    '.pi/taskflows/checked/x.json',
    '.pi/agents/reviewer.md',
    '.PI/agents/reviewer.md',
    '.git/hooks/pre-commit',
    'sub/.Git/hooks/pre-commit',
    'distant.txt',
    'dist/../package.json',
    '../outside.txt',
    '/tmp/taskflow-outside.txt',
    'dist/\0.js',
  ])('%j', async (path) => {
    await forge((dir) => [forgeFile(dir, 'dist/app.js', 'made\n'), forgeFile(dir, path, 'evil')]);
    await expectExecuted(/not among the outputs|no place for a file/);
    if (!path.includes('\0')) expect(existsSync(join(rig.root, path))).toBe(false);
  });

  test('.git and .pi not even for a phase that declares everything', async () => {
    for (const path of ['.git/hooks/pre-commit', 'a/.pi/agents/x.md', 'dist/.git/config', 'dist/.GIT /config']) {
      await forge((dir) => [forgeFile(dir, path, 'evil')], ['**']);
      await expectExecuted(/no place for a file/, ['**']);
      expect(existsSync(join(rig.root, path))).toBe(false);
      rmSync(cache, { recursive: true });
      rig.forget();
    }
  });

  test('node_modules only for who names it', async () => {
    await forge((dir) => [forgeFile(dir, 'node_modules/.bin/eslint', 'evil')], ['**']);
    await expectExecuted(/not among the outputs/, ['**']);
  });
});

describe('links', () => {
  test('of the project that lead to .git, .pi or out of it are not written through', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'taskflow-outside-'));
    for (const target of ['.git/hooks', '.pi/taskflows', outside]) {
      await forge((dir) => [forgeFile(dir, 'dist/evil', 'evil')]);
      mkdirSync(join(rig.root, '.git/hooks'), { recursive: true });
      symlinkSync(target, join(rig.root, 'dist'));
      const result = await rig.run(flow());
      expect(phaseOf(result, 'build').cacheHit).toBeNull();
      for (const folder of [join(rig.root, '.git/hooks'), join(rig.root, '.pi/taskflows'), outside]) {
        expect(existsSync(join(folder, 'evil'))).toBe(false);
      }
      rmSync(join(rig.root, 'dist'), { recursive: true });
      rmSync(cache, { recursive: true });
      rig.forget();
    }
    rmSync(outside, { recursive: true });
  });

  test('of an entry lead nobody anywhere else, neither in the same entry nor in a later one', async () => {
    rig.write('package.json', '{}');
    await forge((dir) => [
      forgeFile(dir, 'dist/l', '..', LINK),
      forgeFile(dir, 'dist/l/package.json', 'evil'),
      forgeFile(dir, 'dist/l/.envrc', 'evil'),
    ]);
    await expectExecuted(/through a link of the same result/);
    expect(rig.read('package.json')).toBe('{}');
    rmSync(join(rig.root, 'dist'), { recursive: true });

    const [entry] = readEntries(cache).filter(isResult);
    forgeEntry(cache, { ...entry!, files: [forgeFile(cache, 'dist/l', '..', LINK)] });
    expect(phaseOf(await rig.run(flow()), 'build').cacheHit).toBe('cross-run');
    forgeEntry(cache, { ...entry!, files: [forgeFile(cache, 'dist/l/.envrc', 'evil')] });
    rig.forget();
    await expectExecuted(/through a link that a phase made/);
    expect(existsSync(join(rig.root, '.envrc'))).toBe(false);
  });

  test('that would lead out from where they really are are not made', async () => {
    await forge((dir) => [forgeFile(dir, 'dist/a/l', '../../outside', LINK)]);
    mkdirSync(join(rig.root, 'dist'));
    mkdirSync(join(rig.root, 'real'));
    symlinkSync('../real', join(rig.root, 'dist/a'));
    await expectExecuted(/a link that leaves the project/);
    expect(readdirSync(join(rig.root, 'real'))).toEqual([]);
  });

  test('that lead to .git, .pi or out are not made', async () => {
    for (const target of ['../.git', '../.pi/taskflows', '../../x', '/etc', '../.GIT/hooks']) {
      await forge((dir) => [forgeFile(dir, 'dist/l', target, LINK)]);
      await expectExecuted(/a link that leaves the project/);
      expect(existsSync(join(rig.root, 'dist/l'))).toBe(false);
      rmSync(cache, { recursive: true });
      rig.forget();
    }
  });
});

describe('what we wrote is known to this user alone', () => {
  test('a ledger in the cache folder says nothing: package.json is not overwritten', async () => {
    rig.write('package.json', '{"name":"mine"}');
    const row = `${JSON.stringify(['package.json', sha256Hex('{"name":"mine"}')])}\n`;
    await forge((dir) => [forgeFile(dir, 'package.json', 'evil')], ['dist/**', 'package.json']);
    rig.write('package.json', '{"name":"mine"}');
    const ledger = ledgerPath(rig.project);
    const known = existsSync(ledger) ? ledger : undefined;
    if (known) rmSync(known);
    for (const name of ['written-files.jsonl', 'ledger.jsonl']) writeFileSync(join(cache, name), row);
    await expectExecuted(/package\.json was changed by someone else/, ['dist/**', 'package.json']);
    expect(rig.read('package.json')).toBe('{"name":"mine"}');
  });

  test('it lies in the user’s own folder, private, one for each project', async () => {
    await rig.run(flow());
    const ledger = ledgerPath(rig.project);
    expect(ledger.startsWith(join(rig.project.home, '.cache/taskflow/'))).toBe(true);
    expect(existsSync(ledger)).toBe(true);
    const { statSync } = await import('node:fs');
    expect(statSync(ledger).mode & 0o777).toBe(0o600);
    expect(statSync(join(ledger, '..')).mode & 0o777).toBe(0o700);
    expect(readdirSync(cache)).not.toContain('written-files.jsonl');
  });
});

test('files of a flow inside come back with the whole, and only those that its phases declare', async () => {
  const inner = { name: 'inner', phases: flow().phases };
  const outer = {
    name: 'outer',
    phases: [{ id: 'all', type: 'flow', def: inner, cache: { scope: 'cross-run' } }],
  };
  await rig.run(outer);
  rmSync(join(rig.root, 'dist'), { recursive: true });
  rig.forget();
  expect(phaseOf(await rig.run(outer), 'all').cacheHit).toBe('cross-run');
  expect(rig.counts()).toEqual({});
  expect(rig.read('dist/app.js')).toBe('made\n');
  const whole = readEntries(cache).find((entry) => entry.phase === 'all' && isResult(entry))!;
  forgeEntry(cache, { ...whole, files: [forgeFile(cache, '.envrc', 'evil')] });
  await rig.run(outer);
  expect(existsSync(join(rig.root, '.envrc'))).toBe(false);
});

test('files of the items of a map come back one by one', async () => {
  const map = {
    name: 'm',
    phases: [
      {
        id: 'each',
        type: 'map',
        over: ['a', 'b'],
        run: ['sh', '-c', 'bin/tick "$1" x; mkdir -p out; echo "$1" > "out/$1.txt"', 'sh', '{item}'],
        outputs: ['out/{item}.txt'],
        cache: { scope: 'cross-run' },
      },
    ],
  };
  await rig.run(map);
  rmSync(join(rig.root, 'out'), { recursive: true });
  rig.forget();
  const result = await rig.run(map);
  expect(result.status).toBe('success');
  expect(rig.counts()).toEqual({});
  expect(rig.read('out/a.txt') + rig.read('out/b.txt')).toBe('a\nb\n');
});

test('an item that is the first name of a path stands for no .github and no .envrc', async () => {
  const each = (outputs: readonly string[]) => ({
    name: 'm',
    phases: [
      {
        id: 'each',
        type: 'map',
        over: ['dist'],
        run: ['sh', '-c', 'bin/tick "$1" x; mkdir -p "$1"; echo made > "$1/app.js"', 'sh', '{item}'],
        outputs,
        cache: { scope: 'cross-run' },
      },
    ],
  });
  for (const [outputs, path] of [
    [['{item}/**'], '.github/workflows/x.yml'],
    [['{item}/**', '{item}'], '.envrc'],
  ] as const) {
    await rig.run(each(outputs));
    for (const entry of readEntries(cache).filter(isResult)) {
      forgeEntry(cache, { ...entry, files: [...entry.files, forgeFile(cache, path, 'evil')] });
    }
    rmSync(join(rig.root, 'dist'), { recursive: true });
    rig.forget();
    expect((await rig.run(each(outputs))).status).toBe('success');
    expect([rig.counts(), existsSync(join(rig.root, path))]).toEqual([{ dist: 1 }, false]);
    rmSync(join(rig.root, 'dist'), { recursive: true });
    rig.forget();
    await rig.run(each(outputs));
    expect([rig.counts(), rig.read('dist/app.js')]).toEqual([{}, 'made\n']);
    rmSync(cache, { recursive: true });
    rig.forget();
  }
});

test('names that mean .git or .pi on some system are none of ours', () => {
  for (const path of [
    '.git/x',
    '.GIT/x',
    '.git./x',
    '.git /x',
    '.g\u200cit/x',
    'GIT~1/x',
    '.git::$INDEX/x',
    '.pi',
    'a/.Pi/b',
  ]) {
    expect(isSafeOutputPath(path), path).toBe(false);
  }
  for (const path of ['.github/x', '.gitignore', 'pi/x', '.pizza', 'a.git/x', 'dist/.hidden']) {
    expect(isSafeOutputPath(path), path).toBe(true);
  }
  expect(isSafeLink('dist/a', '../b')).toBe(true);
  expect(isSafeLink('a', '../b')).toBe(false);
  expect(isSafeLink('dist/a', '../x/../../y')).toBe(false);
});
