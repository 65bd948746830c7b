import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { observeSupport } from '../../src/observe/support.js';
import { runCli } from '../support/cli.js';
import { STRACE } from '../support/traced.js';

let folder: string;
let root: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'support-')));
  root = join(folder, 'project');
  mkdirSync(join(root, '.pi/taskflows'), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A program that says it was started, then this. */
function program(path: string, script: string): string {
  mkdirSync(join(folder, path), { recursive: true });
  writeFileSync(join(folder, path, 'strace'), `#!/bin/sh\necho started >> ${folder}/started\n${script}\n`);
  chmodSync(join(folder, path, 'strace'), 0o755);
  return join(folder, path);
}

const starts = () =>
  existsSync(`${folder}/started`) ? readFileSync(`${folder}/started`, 'utf8').split('\n').length - 1 : 0;
const asked = (path: string) => observeSupport({ root, home: join(folder, 'home'), env: { PATH: path } });

describe('whether this machine can observe', () => {
  it('not without strace, and says what to install', async () => {
    expect(await asked('/nowhere')).toEqual({
      missing: 'strace was not found',
      hint: expect.stringContaining('apt install strace'),
    });
  });

  it('never with a strace of the project or of a package', async () => {
    const own = program('project/bin', 'exit 0');
    const packaged = program('elsewhere/node_modules/.bin', 'exit 0');
    expect(await asked(`${own}:${packaged}:bin:.`)).toMatchObject({ missing: 'strace was not found' });
    expect(starts()).toBe(0);
  });

  it('not with one that is too old', async () => {
    const old = program('old', 'echo "strace: unrecognized option --daemonize" >&2; exit 1');
    expect(await asked(`${old}:/bin`)).toMatchObject({ missing: `${old}/strace is too old` });
  });

  it('not where processes may not be followed, as in many containers', async () => {
    const forbidden = program('forbidden', 'echo "strace: ptrace(PTRACE_SEIZE): Operation not permitted" >&2; exit 1');
    expect(await asked(`${forbidden}:/bin`)).toEqual({
      missing: expect.stringContaining('may not follow processes here'),
      hint: expect.stringContaining('SYS_PTRACE'),
    });
  });

  it('not with one that sees nothing', async () => {
    const blind = program('blind', 'exit 0');
    expect(await asked(`${blind}:/bin`)).toMatchObject({ missing: expect.stringContaining('does not work here') });
  });

  it('is tried once, and remembered in the folder of the user', async () => {
    const old = program('once', 'echo "strace: unrecognized option" >&2; exit 1');
    const env = { PATH: `${old}:${process.env['PATH']}` };
    for (let times = 0; times < 2; times += 1) {
      const { stdout } = await runCli(['doctor', '--json'], { cwd: root, env });
      expect(JSON.parse(stdout).findings).toContainEqual({
        name: 'observing',
        status: 'absent',
        message: `what cross-run phases read is not seen: ${old}/strace is too old`,
        hint: expect.stringContaining('install'),
      });
    }
    expect(starts()).toBe(1);
  });

  it.skipIf(STRACE === undefined)('with a real one', async () => {
    const { stdout } = await runCli(['doctor'], { cwd: root });
    expect(stdout).toMatch(/✔ observing +\S+\/strace sees what cross-run phases read/);
  });
});
