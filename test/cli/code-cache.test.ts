import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { CLI, cliEnvironment } from '../support/cli.js';

it('another build of the same length is run as it is, not as it was compiled before', () => {
  const folder = mkdtempSync(join(tmpdir(), 'taskflow-code-'));
  try {
    for (const name of ['taskflow.cjs', 'cli.cjs']) cpSync(join(dirname(CLI), name), join(folder, name));
    const list = () =>
      spawnSync(process.execPath, [join(folder, 'taskflow.cjs'), 'config', 'list'], {
        cwd: folder,
        env: cliEnvironment(folder) as NodeJS.ProcessEnv,
        encoding: 'utf8',
      }).stdout;
    // The second one is compiled from what the first one kept.
    expect(list()).toContain('90d');
    expect(list()).toContain('90d');
    const source = readFileSync(join(folder, 'cli.cjs'), 'latin1');
    writeFileSync(join(folder, 'cli.cjs'), source.replaceAll('"90d"', '"91d"'), 'latin1');
    expect(list()).toContain('91d');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
