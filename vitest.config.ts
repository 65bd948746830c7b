import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [
      ...['test/clients/**', 'test/nodes/**', 'test/remote/**', 'test/workers/**', 'test/ui/browser/**'],
      '**/node_modules/**',
    ],
    reporters: ['default', './test/support/closing-line.ts'],
    globalSetup: ['test/support/temporary-folder.ts', 'test/support/clean-environment.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Tests wait for processes most of the time; by default one core would be left idle.
    maxWorkers: availableParallelism() + 1,
  },
});
