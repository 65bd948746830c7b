import { defineConfig } from 'vitest/config';

/** What needs a browser. */
export default defineConfig({
  test: {
    include: ['test/ui/browser/*.test.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
    globalSetup: ['test/support/temporary-folder.ts', 'test/support/clean-environment.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // A browser takes a core by itself.
    maxWorkers: 1,
  },
});
