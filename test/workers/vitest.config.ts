import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/workers/*.test.ts'],
    globalSetup: ['test/support/temporary-folder.ts', 'test/support/clean-environment.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
