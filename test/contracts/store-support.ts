import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoreLimits, StoreOptions } from '../../src/store/options.js';
import type { Entry } from '../../src/store/store.js';
import { systemClock } from '../../src/util/clock.js';
import { sha256Hex } from '../../src/util/digest.js';
import type { Project } from '../../src/util/project.js';

export const LIMITS: StoreLimits = { maxBytes: 1024 ** 3, maxEntries: 200_000, maxAgeMs: 90 * 86_400_000 };

export function key(name: string): string {
  return sha256Hex(name);
}

export function makeEntry(name: string, more: Partial<Entry> = {}): Entry {
  return {
    format: 1,
    key: key(name),
    identity: { version: 1, flow: 'f', phase: 'p', body: { task: name } },
    createdAt: Date.now(),
    creator: { taskflow: '1.0.0' },
    runId: 'run-1',
    flow: 'f',
    phase: 'p',
    output: { text: `output of ${name}`, json: null },
    files: [],
    usage: { inputTokens: 10, cachedInputTokens: 0, outputTokens: 5, usd: 0.04 },
    durationMs: 1_200,
    ...more,
  };
}

export interface Scratch {
  readonly root: string;
  readonly dir: string;
  options(more?: Partial<StoreOptions>): StoreOptions;
  readonly warnings: string[];
  remove(): void;
}

/** A project folder of its own, with the store where projects have it. */
export function scratch(): Scratch {
  const root = mkdtempSync(join(tmpdir(), 'taskflow-store-'));
  const project: Project = { root, home: root, env: {}, clock: systemClock };
  const dir = join(root, '.pi/taskflows/cache');
  const warnings: string[] = [];
  return {
    root,
    dir,
    warnings,
    options: (more) => ({ dir, project, limits: LIMITS, onWarning: (message) => warnings.push(message), ...more }),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
