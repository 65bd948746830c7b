import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/clients/**', 'test/nodes/**', '**/node_modules/**'],
    reporters: ['default', './test/support/closing-line.ts'],
    globalSetup: ['test/support/temporary-folder.ts', 'test/support/build-cli.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
  },
});
