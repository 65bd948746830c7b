import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { lstatIfThere, namesInFolder } from './stat.js';

const DAY_MS = 86_400_000;

/**
 * A fresh folder among the temporary files. Folders of the same purpose that killed processes left there are removed:
 * this user's own, and older than any process that may still use them, by the disk's own clock.
 */
export function makeTemporaryFolder(purpose: string, leftAfterMs: number = DAY_MS): string {
  const prefix = `taskflow-${purpose}-`;
  const folder = mkdtempSync(join(tmpdir(), prefix));
  if (leftAfterMs < Infinity) removeLeftBehind(folder, prefix, leftAfterMs);
  return folder;
}

function removeLeftBehind(own: string, prefix: string, leftAfterMs: number): void {
  const now = statSync(own).mtimeMs;
  const parent = dirname(own);
  for (const name of namesInFolder(parent)) {
    const path = join(parent, name);
    const stat = name.startsWith(prefix) ? lstatIfThere(path) : undefined;
    if (!stat?.isDirectory() || stat.uid !== process.getuid?.() || now - stat.mtimeMs <= leftAfterMs) continue;
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // Another process removes it at the same time, or it holds what is not ours.
    }
  }
}
