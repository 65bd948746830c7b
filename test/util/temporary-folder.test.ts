import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeTemporaryFolder } from '../../src/util/temporary-folder.js';

let base: string;
const usual = process.env['TMPDIR'];
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'temporary-'));
  process.env['TMPDIR'] = base;
});
afterEach(() => {
  if (usual === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = usual;
  rmSync(base, { recursive: true, force: true });
});

function left(name: string, hours: number): string {
  const path = join(base, name);
  mkdirSync(path);
  writeFileSync(join(path, 'file'), 'x');
  const then = Date.now() / 1_000 - hours * 3_600;
  utimesSync(path, then, then);
  return path;
}

it('removes what a killed process left for the same purpose, and nothing else', () => {
  const killed = left('taskflow-cases-killed', 25);
  const spared = [
    left('taskflow-cases-atwork', 23),
    left('taskflow-other-killed', 25),
    left('somebody-else', 25),
    left('target', 25),
  ];
  symlinkSync(spared.at(-1)!, join(base, 'taskflow-cases-link'));
  const folder = makeTemporaryFolder('cases');
  expect(existsSync(killed)).toBe(false);
  for (const path of [folder, ...spared, join(base, 'taskflow-cases-link')]) expect(existsSync(path), path).toBe(true);
});
