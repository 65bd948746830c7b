import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/nodes/*.test.ts'],
    globalSetup: ['test/support/temporary-folder.ts', 'test/support/clean-environment.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
  },
});
