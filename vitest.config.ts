import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import LongestFirst from './test/support/longest-first.js';

const COMMON = { testTimeout: 30_000, hookTimeout: 60_000, pool: 'forks' } as const;
const ELSEWHERE = [
  ...['test/clients/**', 'test/nodes/**', 'test/remote/**', 'test/workers/**', 'test/ui/browser/**'],
  '**/node_modules/**',
  // What takes long is for CI: `npm run test:long`.
  ...(process.env['TASKFLOW_FULL'] === '1' ? [] : ['test/**/*.long.test.ts']),
];

/** They change their process (variables, clocks, built-in objects), or measure its memory. */
const ALONE = [
  'test/agent/openai.test.ts',
  'test/agent/usage-limit.test.ts',
  'test/observe/hostile.test.ts',
  'test/pi/*.test.ts',
  'test/process/*.test.ts',
  'test/run/judge.test.ts',
  'test/run/usage-gate.test.ts',
  'test/ui/server/*.test.ts',
  'test/util/temporary-folder.test.ts',
];

export default defineConfig({
  test: {
    reporters: ['default', './test/support/closing-line.ts'],
    globalSetup: ['test/support/temporary-folder.ts', 'test/support/clean-environment.ts'],
    // Tests wait for processes most of the time: as many workers as cores would leave cores idle.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    projects: [
      { test: { ...COMMON, name: 'alone', include: ALONE, exclude: ELSEWHERE } },
      {
        // Files that leave nothing behind share a process: the sources are loaded a few times, not once per file.
        test: {
          ...COMMON,
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...ALONE, ...ELSEWHERE],
          isolate: false,
        },
      },
    ],
  },
});
