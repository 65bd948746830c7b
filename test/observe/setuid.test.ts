import { chmodSync, chownSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { canBeOthers, give, runCliAs, STRANGER } from '../support/as-user.js';
import { createTestProject, type TestProject } from '../support/cli.js';
import { STRACE } from '../support/traced.js';

let project: TestProject;
beforeEach(() => {
  // The command itself lies among the suite's folders, and is started as somebody else.
  chmodSync(tmpdir(), 0o755);
  project = createTestProject();
  give(project.root, STRANGER);
  // Only root may read it, and whoever gets root's rights from the program.
  writeFileSync(join(project.root, 'secret'), 'read\n', { mode: 0o600 });
  mkdirSync(join(project.root, 'bin'));
  const program = join(project.root, 'bin/cat-as-root');
  copyFileSync('/bin/cat', program);
  chownSync(program, 0, 0);
  chmodSync(program, 0o4755);
});
afterEach(() => project.remove());

async function run(command: string, observe: string) {
  const phase = { id: 'a', type: 'script', run: command, cache: { scope: 'cross-run', fingerprint: [], observe } };
  project.write('flow.json', JSON.stringify({ name: 'f', phases: [phase] }));
  chownSync(join(project.root, 'flow.json'), STRANGER, STRANGER);
  const env = { TMPDIR: project.root, XDG_CACHE_HOME: join(project.root, '.home/cache') };
  const { stdout, stderr } = await runCliAs(STRANGER, ['run', 'flow.json', '--json'], { cwd: project.root, env });
  expect(stdout, stderr).not.toBe('');
  return JSON.parse(stdout).phases[0];
}

describe.skipIf(STRACE === undefined || !canBeOthers)('a program that needs the rights of somebody else', () => {
  it('does not get them while it is traced: the failure says so, and what helps', async () => {
    const traced = await run('bin/cat-as-root secret', 'auto');
    expect(traced.status).toBe('failed');
    expect(traced.error.hint).toMatch(
      /cat-as-root cannot get the rights it asks for while it is traced; .*observe: off/,
    );
    expect(await run('bin/cat-as-root secret', 'off')).toMatchObject({ status: 'done' });
  });

  it('and that does without them is not kept, and says why', async () => {
    for (let times = 0; times < 2; times += 1) {
      expect(await run('bin/cat-as-root secret 2>/dev/null || echo without', 'auto')).toMatchObject({
        status: 'done',
        cacheHit: null,
        remark: expect.stringMatching(/^not kept: not all that it read was seen: .*cannot get the rights/),
      });
    }
  });
});
