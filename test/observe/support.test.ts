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

const saysVersion = (version: string) =>
  `if [ "$1" = --version ]; then echo "strace -- version ${version}"; exit 0; fi\n`;
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

  it('not with one that does not know an option, whatever its version', async () => {
    const refuses = 'echo "strace: unrecognized option \'--daemonize=session\'" >&2; exit 1';
    for (const version of ['6.1', '5.18', '7.0', 'UNKNOWN']) {
      const other = program(`other-${version}`, saysVersion(version) + refuses);
      expect(await asked(`${other}:/bin`)).toEqual({
        missing: expect.stringMatching(/strace does not have an option that is needed \(.*--daemonize/),
        hint: expect.stringContaining('install strace 5.15 or later'),
      });
    }
  });

  it('not with one that says less than is needed, and does not try it', async () => {
    for (const version of ['4.26', '5.3', '5.9', '5.14-1ubuntu2']) {
      const old = program(`old-${version}`, `${saysVersion(version)}echo traced >> ${folder}/traced`);
      expect(await asked(`${old}:/bin`)).toMatchObject({ missing: `${old}/strace is too old (${version})` });
    }
    expect(existsSync(`${folder}/traced`)).toBe(false);
  });

  it.skipIf(STRACE === undefined)('with any version that can: it is tried', async () => {
    for (const version of ['5.15', '6.16', '7.2-dirty', 'UNKNOWN']) {
      const able = program(`able-${version}`, `${saysVersion(version)}exec ${STRACE} "$@"`);
      expect(await asked(`${able}:/bin`)).toEqual({ strace: `${able}/strace` });
    }
  });

  it('not where every call would stop the program, since no filter can be installed', async () => {
    const said = 'strace: seccomp filter is requested but unavailable';
    const slow = program(
      'slow',
      `${saysVersion('6.1')}echo "${said}" >&2; while [ "$1" != -- ]; do shift; done; shift; exec "$@"`,
    );
    expect(await asked(`${slow}:/bin`)).toMatchObject({ missing: expect.stringContaining('does not work here') });
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
    const old = program('once', saysVersion('5.3'));
    const env = { PATH: `${old}:${process.env['PATH']}` };
    for (let times = 0; times < 2; times += 1) {
      const { stdout } = await runCli(['doctor', '--json'], { cwd: root, env });
      expect(JSON.parse(stdout).findings).toContainEqual({
        name: 'observing',
        status: 'absent',
        message: `what cross-run phases read is not seen: ${old}/strace is too old (5.3)`,
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
