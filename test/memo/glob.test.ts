import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { selectPaths } from '../../src/memo/files/select-paths.js';
import { readTable, writeTable } from '../../src/memo/files/stat-table.js';
import { createFingerprints } from '../../src/memo/fingerprint/resolver.js';
import { sha256Hex } from '../../src/util/digest.js';
import { derivedDir } from '../../src/util/user-cache.js';
import { exec, type TestProject, testProject } from './support.js';

let p: TestProject;
beforeEach(() => {
  p = testProject();
});
afterEach(() => p.remove());

/** The same by stat and by bytes, or the test has found a stale row. */
async function glob(pattern: string, own: string[] = []): Promise<unknown> {
  const byStat = await p.value(`glob:${pattern}`, own);
  expect(byStat).toBe(await p.value(`glob!:${pattern}`, own));
  return byStat;
}

/** As a process would see it an hour from now: rows made then are about files that have been left alone. */
async function globLater(pattern: string): Promise<unknown> {
  const clock = { now: () => Date.now() + 3_600_000, elapsed: () => performance.now() };
  const later = createFingerprints({ project: { ...p.project, clock }, stateDir: p.stateDir, exec });
  const result = await later.resolve(`glob:${pattern}`, { ownOutputs: [] });
  return 'value' in result ? result.value.value : result;
}

describe('glob: is true to content', () => {
  test('an edit, a new file, a removed file and a renamed file each give another value', async () => {
    p.write('src/a.ts', 'a');
    p.write('src/b.ts', 'b');
    const values = [await glob('src/**')];
    p.write('src/a.ts', 'A');
    values.push(await glob('src/**'));
    p.write('src/deep/er/c.ts', '');
    values.push(await glob('src/**'));
    rmSync(join(p.root, 'src/b.ts'));
    values.push(await glob('src/**'));
    renameSync(join(p.root, 'src/a.ts'), join(p.root, 'src/z.ts'));
    values.push(await glob('src/**'));
    expect(new Set(values).size).toBe(values.length);
  });

  test.each(['a\nb', 'Icon\r', 'a\u2028b', 'd\ne/c', '\n\u{10348}'])('a file named %j counts', async (name) => {
    p.write(`src/${name}`, 'a');
    for (const pattern of ['src/**', 'src/*', 's*/**/[!z]*']) {
      if (name.includes('/') && pattern === 'src/*') continue;
      p.write(`src/${name}`, 'a');
      const before = await glob(pattern);
      p.write(`src/${name}`, 'A');
      expect(await glob(pattern), pattern).not.toBe(before);
      expect([...(await selectPaths([`src/${name}`], [pattern]))]).toEqual([`src/${name}`]);
    }
  });

  test('a same-size rewrite within one tick is seen', async () => {
    p.write('src/a.ts', 'aaaa');
    const seen = new Set([await glob('src/**')]);
    for (const text of ['bbbb', 'cccc', 'dddd']) {
      p.write('src/a.ts', text);
      seen.add(await glob('src/**'));
    }
    expect(seen.size).toBe(4);
  });

  test('a row about a file that was written just now is not trusted', async () => {
    p.write('src/a.ts', 'aaaa');
    const before = await p.value('glob:src/**');
    // The row now says what a stat says of the file; a file with the same stats and other bytes must still be read.
    forgeTable('aaaa', 'bbbb');
    expect(await p.value('glob:src/**')).toBe(before);
  });

  test('a row about a file that was left alone is trusted: nothing is read', async () => {
    p.write('src/a.ts', 'aaaa');
    const before = await globLater('src/**');
    forgeTable('aaaa', 'bbbb');
    expect(await p.value('glob:src/**')).not.toBe(before);
  });

  test('an edit with its mtime put back is seen', async () => {
    const past = 1_600_000_000;
    p.write('src/a.ts', 'aaaa');
    utimesSync(join(p.root, 'src/a.ts'), past, past);
    const before = await globLater('src/**');
    await pause(15);
    writeFileSync(join(p.root, 'src/a.ts'), 'bbbb');
    utimesSync(join(p.root, 'src/a.ts'), past, past);
    expect(await globLater('src/**')).not.toBe(before);
  });

  test('another file of the same size and mtime moved in its place is seen', async () => {
    p.write('src/a.ts', 'aaaa');
    p.write('other', 'bbbb');
    p.age('src/a.ts');
    p.age('other');
    const before = await globLater('src/**');
    renameSync(join(p.root, 'other'), join(p.root, 'src/a.ts'));
    expect(await globLater('src/**')).not.toBe(before);
  });

  test('touch without a change keeps the value', async () => {
    p.write('src/a.ts', 'aaaa');
    const before = await glob('src/**');
    utimesSync(join(p.root, 'src/a.ts'), new Date(), new Date());
    expect(await glob('src/**')).toBe(before);
    p.age('src/a.ts');
    expect(await glob('src/**')).toBe(before);
  });

  test('nothing is cut: the last of 5,001 files and the last byte of 11 MB count', async () => {
    for (let i = 0; i < 5_001; i++) p.write(`many/${i}.txt`, `${i}`);
    p.write('big.bin', Buffer.alloc(11 * 1024 * 1024, 1));
    const many = await glob('many/**');
    const big = await glob('*.bin');
    p.write('many/5000.txt', 'changed');
    expect(await glob('many/**')).not.toBe(many);
    const bytes = readFileSync(join(p.root, 'big.bin'));
    bytes[bytes.length - 1] = 2;
    p.write('big.bin', bytes);
    const edited = await glob('*.bin');
    expect(edited).not.toBe(big);
    truncateSync(join(p.root, 'big.bin'), 1);
    expect(await glob('*.bin')).not.toBe(edited);
  });

  test('the same files in another folder have the same value, in whatever order they were made', async () => {
    const other = testProject();
    const names = ['b', 'a/x', 'a.b', 'a/y'];
    for (const name of names) p.write(`src/${name}`, name);
    for (const name of names.reverse()) other.write(`src/${name}`, name);
    expect(await p.value('glob:src/**')).toBe(await other.value('glob:src/**'));
    other.remove();
  });

  test('line ends are content', async () => {
    p.write('a.txt', 'x\n');
    const lf = await glob('a.txt');
    p.write('a.txt', 'x\r\n');
    expect(await glob('a.txt')).not.toBe(lf);
  });

  test('a damaged table costs time, not truth', async () => {
    p.write('src/a.ts', 'a');
    const before = await globLater('src/**');
    const path = join(derivedDir(p.project), tables()[0]!);
    const whole = readFileSync(path);
    const flipped = (at: number, bit: number) => {
      const bytes = Buffer.from(whole);
      bytes[at] = bytes[at]! ^ bit;
      return bytes;
    };
    const damages = [Buffer.alloc(0), Buffer.from('garbage'), Buffer.alloc(whole.length), whole.subarray(0, 300)];
    for (let at = 0; at < whole.length; at++) damages.push(flipped(at, 1), flipped(at, 8));
    for (const damage of damages) {
      writeFileSync(path, damage);
      expect(await globLater('src/**')).toBe(before);
    }
  });

  test('a folder by its name is all that is in it', async () => {
    p.write('src/a.ts', 'a');
    const before = await glob('src');
    p.write('src/deep/b.ts', 'b');
    expect(await glob('src')).not.toBe(before);
  });
});

describe('what a glob does not count', () => {
  test('.git, node_modules and our own state, unless they are named', async () => {
    p.write('a.txt', 'a');
    const before = await glob('**');
    p.write('node_modules/x/index.js', '1');
    p.write('deep/node_modules/x/index.js', '1');
    p.write('.git/HEAD', 'x');
    p.write('linked/.git', 'gitdir: /somewhere/else');
    p.write('report.xml.4711-1-abc12.tmp', 'half written');
    p.write('.pi/taskflows/runs/1/journal.jsonl', '1');
    p.write('.pi/taskflows/flow.yaml', '1');
    expect(await glob('**')).toBe(before);
    const named = await glob('node_modules/**');
    p.write('node_modules/x/index.js', '2');
    expect(await glob('node_modules/**')).not.toBe(named);
    const flows = await glob('.pi/taskflows/*.yaml');
    p.write('.pi/taskflows/flow.yaml', '2');
    expect(await glob('.pi/taskflows/*.yaml')).not.toBe(flows);
  });

  test('what the phase itself writes', async () => {
    p.write('src/a.ts', 'a');
    const before = await glob('**', ['dist/**', 'report.md']);
    p.write('dist/a.js', 'a');
    p.write('report.md', 'r');
    expect(await glob('**', ['dist/**', 'report.md'])).toBe(before);
    p.write('src/a.ts', 'b');
    expect(await glob('**', ['dist/**', 'report.md'])).not.toBe(before);
  });

  test('files whose names begin with a dot do count', async () => {
    p.write('a', 'a');
    const before = await glob('*');
    p.write('.env', 'x');
    expect(await glob('*')).not.toBe(before);
  });
});

describe('links', () => {
  test('what is behind a link inside of the project counts', async () => {
    p.write('shared/lib.ts', 'a');
    mkdirSync(join(p.root, 'src'));
    symlinkSync('../shared', join(p.root, 'src/lib'));
    symlinkSync('../shared/lib.ts', join(p.root, 'src/file.ts'));
    const before = await glob('src/**');
    p.write('shared/lib.ts', 'b');
    expect(await glob('src/**')).not.toBe(before);
  });

  test('a link out of the project is never followed, and never ignored', async () => {
    const outside = testProject();
    outside.write('secret.txt', 's');
    mkdirSync(join(p.root, 'src'));
    symlinkSync(join(outside.root, 'secret.txt'), join(p.root, 'src/file'));
    expect(await glob('src/*')).toBe('failed: src/file is a link that leaves the project');
    rmSync(join(p.root, 'src/file'));
    symlinkSync(outside.root, join(p.root, 'src/folder'));
    expect(await glob('src/**')).toBe('failed: src/folder is a link that leaves the project');
    expect(await glob('src/folder/**')).toBe('failed: src/folder is a link that leaves the project');
    outside.remove();
  });

  test('circles end', async () => {
    p.write('src/a.ts', 'a');
    symlinkSync('..', join(p.root, 'src/up'));
    symlinkSync('.', join(p.root, 'src/here'));
    symlinkSync('itself', join(p.root, 'src/itself'));
    expect(await glob('src/**')).toMatch(/^[0-9a-f]{64}$/);
    const before = await glob('src/**');
    p.write('src/a.ts', 'b');
    expect(await glob('src/**')).not.toBe(before);
  });

  test('folders that link to each other are read once on each way, not for ever', async () => {
    const names = ['a', 'b', 'c', 'd'];
    for (const name of names) p.write(`src/${name}/file.ts`, name);
    for (const from of names) for (const to of names) symlinkSync(`../${to}`, join(p.root, 'src', from, `to-${to}`));
    expect(await glob('src/**/*.ts')).toMatch(/^[0-9a-f]{64}$/);
  });

  test('a link out of the project that no pattern leads through is nobody’s business', async () => {
    const outside = testProject();
    p.write('src/a.ts', 'a');
    const before = await glob('src/*.ts');
    symlinkSync(outside.root, join(p.root, 'src/folder'));
    expect(await glob('src/*.ts')).toBe(before);
    outside.remove();
  });

  test('a link to nothing counts by what it says', async () => {
    mkdirSync(join(p.root, 'src'));
    const before = await glob('src/**');
    symlinkSync('nowhere', join(p.root, 'src/broken'));
    const broken = await glob('src/**');
    expect(broken).not.toBe(before);
    rmSync(join(p.root, 'src/broken'));
    symlinkSync('elsewhere', join(p.root, 'src/broken'));
    expect(await glob('src/**')).not.toBe(broken);
  });
});

test('several processes may use one table at once', async () => {
  for (let i = 0; i < 200; i++) p.write(`src/${i}.ts`, `${i}`);
  const values = await Promise.all(Array.from({ length: 8 }, () => p.value('glob:src/**')));
  expect(new Set(values).size).toBe(1);
  expect(readdirSync(derivedDir(p.project)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

test('where nothing can be kept the values are the same', async () => {
  p.write('src/a.ts', 'a');
  p.write('blocked', '');
  const project = { ...p.project, env: { XDG_CACHE_HOME: join(p.root, 'blocked') } };
  const readOnly = createFingerprints({ project, stateDir: p.stateDir, exec });
  const result = await readOnly.resolve('glob:src/**', { ownOutputs: [] });
  expect('value' in result && result.value.value).toBe(await p.value('glob!:src/**'));
});

/** Names of the kept file stats. */
function tables(): string[] {
  return readdirSync(derivedDir(p.project)).filter((name) => name.endsWith('.bin'));
}

/** Replaces the digest in the only table, checksum and all: what a wrongly trusted row would look like. */
function forgeTable(from: string, to: string): void {
  const [name] = tables();
  const table = readTable(p.project, name!)!;
  expect(table.digests.toString('hex')).toBe(sha256Hex(from));
  writeTable(p.project, name!, {
    ...table,
    digests: Buffer.from(sha256Hex(to), 'hex'),
    value: sha256Hex(`src/a.ts\0${sha256Hex(to)}`),
  });
}
