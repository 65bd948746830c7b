import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { KnownStats } from '../../src/memo/files/known-stats.js';
import { captureOutputs, undeclaredWrite } from '../../src/memo/output-files.js';
import { restoreOutputs } from '../../src/memo/restore-outputs.js';
import type { OutputFile } from '../../src/model/outcome.js';
import { type DiskStore, openStore } from '../../src/store/disk-store.js';
import { blobPath } from '../../src/store/paths.js';
import { systemClock } from '../../src/util/clock.js';
import { LIMITS } from '../contracts/store-support.js';
import { bytesRead, COUNTS_BYTES, type TestProject, testProject } from './support.js';

let p: TestProject;
let store: DiskStore;
beforeEach(() => {
  p = testProject();
  store = openStore({ dir: p.stateDir, project: p.project, limits: LIMITS });
});
afterEach(() => p.remove());

async function capture(...outputs: string[]): Promise<readonly OutputFile[]> {
  const captured = await captureOutputs(outputs, { project: p.project, store });
  if ('failed' in captured) throw new Error(captured.failed);
  return captured.files;
}

/** As a later process would. */
function restore(files: readonly OutputFile[], outputs: readonly string[] = ['**']) {
  const later = openStore({ dir: p.stateDir, project: p.project, limits: LIMITS });
  return restoreOutputs(files, { project: p.project, store: later, stats: new KnownStats(p.project), outputs });
}

const read = (path: string) => readFileSync(join(p.root, path), 'utf8');

describe('declared files', () => {
  test('come back byte for byte, with their modes', async () => {
    p.write('dist/deep/tool', Buffer.from([0, 255, 10]));
    p.write('dist/.hidden', 'h');
    p.write('report.md', 'r');
    p.write('other.txt', 'not declared');
    chmodSync(join(p.root, 'dist/deep/tool'), 0o755);
    const files = await capture('dist/**', 'report.md');
    expect(files.map(({ path }) => path)).toEqual(['dist/.hidden', 'dist/deep/tool', 'report.md']);
    rmSync(join(p.root, 'dist'), { recursive: true });
    rmSync(join(p.root, 'report.md'));
    expect(await restore(files)).toEqual({ restored: 3 });
    expect(readFileSync(join(p.root, 'dist/deep/tool'))).toEqual(Buffer.from([0, 255, 10]));
    expect(statSync(join(p.root, 'dist/deep/tool')).mode & 0o777).toBe(0o755);
  });

  test('that are right already are not written again; a wrong mode is put right', async () => {
    p.write('dist/a', 'a');
    const files = await capture('dist');
    const past = new Date(Date.now() - 3_600_000);
    utimesSync(join(p.root, 'dist/a'), past, past);
    chmodSync(join(p.root, 'dist/a'), 0o600);
    expect(await restore(files)).toEqual({ restored: 0 });
    expect(Math.round(statSync(join(p.root, 'dist/a')).mtimeMs)).toBe(past.getTime());
    expect(statSync(join(p.root, 'dist/a')).mode & 0o777).toBe(files[0]!.mode);
  });

  test('leave other files alone', async () => {
    p.write('dist/a', 'a');
    const files = await capture('dist/**');
    p.write('dist/mine', 'mine');
    await restore(files);
    expect(read('dist/mine')).toBe('mine');
  });

  test('replace what an earlier execution or restore wrote', async () => {
    p.write('out.txt', 'first');
    const first = await capture('out.txt');
    p.write('out.txt', 'second');
    const second = await capture('out.txt');
    expect(await restore(first)).toEqual({ restored: 1 });
    expect(read('out.txt')).toBe('first');
    expect(await restore(second)).toEqual({ restored: 1 });
    expect(read('out.txt')).toBe('second');
  });

  test("never replace a person's edit: it is a miss that says which file", async () => {
    p.write('a.txt', 'a');
    p.write('b.txt', 'b');
    const files = await capture('*.txt');
    rmSync(join(p.root, 'a.txt'));
    p.write('b.txt', 'edited by hand');
    expect(await restore(files)).toEqual({ miss: 'b.txt was changed by someone else' });
    expect(read('b.txt')).toBe('edited by hand');
    expect(existsSync(join(p.root, 'a.txt'))).toBe(false);
  });

  test('a person put a folder or a link in its place', async () => {
    p.write('a.txt', 'a');
    const files = await capture('a.txt');
    rmSync(join(p.root, 'a.txt'));
    mkdirSync(join(p.root, 'a.txt'));
    expect(await restore(files)).toEqual({ miss: 'a.txt is no longer the kind of file that it was' });
    rmSync(join(p.root, 'a.txt'), { recursive: true });
    symlinkSync('elsewhere', join(p.root, 'a.txt'));
    expect(await restore(files)).toEqual({ miss: 'a.txt is no longer the kind of file that it was' });
  });

  test('a missing or damaged blob is a miss, and nothing damaged is written', async () => {
    p.write('a.txt', 'a');
    const files = await capture('a.txt');
    const blob = blobPath(p.stateDir, files[0]!.digest);
    rmSync(join(p.root, 'a.txt'));
    writeFileSync(blob, 'b');
    expect(await restore(files)).toEqual({ miss: 'a kept file is damaged' });
    expect(existsSync(join(p.root, 'a.txt'))).toBe(false);
    expect(await restore(files)).toEqual({ miss: 'a kept file is missing from the cache' });
  });

  test('are never written outside of the project', async () => {
    const outside = testProject();
    p.write('a.txt', 'a');
    const [file] = await capture('a.txt');
    for (const path of [
      '../x',
      '/tmp/x',
      'a/../../x',
      '.git/hooks/pre-commit',
      '.pi/taskflows/config.yaml',
      'a\\b',
      '',
    ]) {
      expect(await restore([{ ...file!, path }]), path).toHaveProperty('miss');
    }
    symlinkSync(outside.root, join(p.root, 'link'));
    expect(await restore([{ ...file!, path: 'link/x' }])).toEqual({ miss: 'link/x leads out of the project' });
    symlinkSync(join(outside.root, 'not-yet'), join(p.root, 'dangling'));
    expect(await restore([{ ...file!, path: 'dangling/x' }])).toEqual({ miss: 'dangling/x leads out of the project' });
    expect(existsSync(join(outside.root, 'x'))).toBe(false);
    outside.remove();
  });

  test('never come back with rights of their own', async () => {
    p.write('tool', 'x');
    chmodSync(join(p.root, 'tool'), 0o4755);
    const files = await capture('tool');
    expect(files[0]!.mode).toBe(0o755);
    rmSync(join(p.root, 'tool'));
    await restore([{ ...files[0]!, mode: 0o6777 }]);
    expect(statSync(join(p.root, 'tool')).mode & 0o7000).toBe(0);
  });

  test('links come back as links, also to folders, and a person may change them', async () => {
    p.write('dist/v1/tool', 'x');
    symlinkSync('v1', join(p.root, 'dist/latest'));
    symlinkSync('v1/tool', join(p.root, 'dist/tool'));
    symlinkSync('gone', join(p.root, 'dist/broken'));
    const files = await capture('dist/**');
    expect(files.map(({ path }) => path)).toEqual(['dist/broken', 'dist/latest', 'dist/tool', 'dist/v1/tool']);
    expect(await restore(files)).toEqual({ restored: 0 });
    rmSync(join(p.root, 'dist'), { recursive: true });
    expect(await restore(files)).toEqual({ restored: 4 });
    expect(readlinkSync(join(p.root, 'dist/latest'))).toBe('v1');
    expect(read('dist/latest/tool')).toBe('x');
    rmSync(join(p.root, 'dist/latest'));
    symlinkSync('v2', join(p.root, 'dist/latest'));
    expect(await restore(files)).toEqual({ miss: 'dist/latest was changed by someone else' });
  });

  test('links of an entry cannot be used to get out of the project', async () => {
    const outside = testProject();
    const link = (path: string, target: string): OutputFile => {
      const kept = store.blobs.keepText(target);
      if ('failed' in kept) throw new Error(kept.failed);
      return { path, digest: kept.digest, mode: 0o120777 };
    };
    p.write('a.txt', 'evil');
    const [file] = await capture('a.txt');
    for (const files of [
      [link('l', outside.root), { ...file!, path: 'l/x' }],
      [link('l', `../${basename(outside.root)}`), { ...file!, path: 'l/x' }],
      [link('top', '.'), link('deep/down', '../top'), link('deep/down/l', '../..'), { ...file!, path: 'l/x' }],
    ]) {
      expect(await restore(files)).toHaveProperty('miss');
      expect(existsSync(join(outside.root, 'x'))).toBe(false);
    }
    outside.remove();
  });

  test('a link out of the project is not captured', async () => {
    symlinkSync('/etc/hostname', join(p.root, 'out'));
    expect(await captureOutputs(['out'], { project: p.project, store })).toHaveProperty('failed');
  });

  test('large files and equal files cost one blob each', async () => {
    p.write('dist/big1', Buffer.alloc(3_000_000, 7));
    p.write('dist/big2', Buffer.alloc(3_000_000, 7));
    const before = store.added.bytes;
    await capture('dist/**');
    await capture('dist/**');
    expect(store.added.bytes - before).toBe(3_000_000);
  });

  test.skipIf(!COUNTS_BYTES)('a large file is read once to keep it, and not again while it is left alone', async () => {
    const size = 6_000_000;
    const readBy = async (work: () => Promise<unknown>) => {
      const before = bytesRead();
      await work();
      return Math.round((bytesRead() - before) / size);
    };
    p.write('dist/big', Buffer.alloc(size, 7));
    let files: readonly OutputFile[] = [];
    const keep = async () => {
      files = await capture('dist/**');
    };
    expect(await readBy(keep)).toBe(1);
    const clock = { ...systemClock, now: () => systemClock.now() + 10_000 };
    const project = { ...p.project, clock };
    const restoreLater = async () => {
      const stats = new KnownStats(project);
      expect(await restoreOutputs(files, { project, store, stats, outputs: ['**'] })).toEqual({ restored: 0 });
      stats.flush();
    };
    expect(await readBy(restoreLater)).toBe(1);
    expect(await readBy(restoreLater)).toBe(0);
    p.write('dist/big', Buffer.alloc(size, 8));
    expect(await restore(files)).toEqual({ miss: 'dist/big was changed by someone else' });
  });
});

describe('a write that a runner reports', () => {
  const declared = (outputs: string[]) => ({ outputs, cwd: join(p.root, 'sub'), root: p.root });

  test('is covered by outputs, relative to where the phase ran', async () => {
    mkdirSync(join(p.root, 'sub'));
    expect(await undeclaredWrite(['x.md', join(p.root, 'a/y.md')], declared(['sub/*.md', 'a/**']))).toBeUndefined();
    expect(await undeclaredWrite([], declared([]))).toBeUndefined();
  });

  test('or is named', async () => {
    mkdirSync(join(p.root, 'sub'));
    expect(await undeclaredWrite(['x.md', 'y.ts'], declared(['sub/*.md']))).toBe('sub/y.ts');
    expect(await undeclaredWrite(['/tmp/elsewhere'], declared(['**']))).toBe('/tmp/elsewhere');
  });
});
