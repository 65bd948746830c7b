import { join } from 'node:path';
import { findOnPath } from '../process/find-program.js';
import { holderIdentity } from '../process/process-identity.js';
import { runProcess } from '../process/run-process.js';
import { canonicalEncode } from '../util/canonical.js';
import { readChecked, writeChecked } from '../util/derived-cache.js';
import { sha256Hex } from '../util/digest.js';
import { isInside } from '../util/inside.js';
import type { Project } from '../util/project.js';
import { statIfThere } from '../util/stat.js';
import { oneLine } from '../util/terminal-text.js';
import { TracedProcess } from './traced.js';

/** Whether this machine can trace a process, or why not and what would help. */
type ObserveSupport = { readonly strace: string } | { readonly missing: string; readonly hint?: string };

type Place = Pick<Project, 'root' | 'home' | 'env'>;

const TRY_TIMEOUT_MS = 5_000;
/** The first that says in which folder a name begins. */
const [MAJOR, MINOR] = [5, 15];
const HOW = '`apt install strace`, `dnf install strace`, `apk add strace`';
const INSTALL = `install strace ${MAJOR}.${MINOR} or later (${HOW})`;
const known = new Map<string, Promise<ObserveSupport>>();

/** Tested once per boot, by tracing a system program; after that one small file is read. */
export function observeSupport(project: Place): Promise<ObserveSupport> {
  if (process.platform !== 'linux') {
    return Promise.resolve({ missing: `calls of processes cannot be followed on ${process.platform}` });
  }
  const strace = usersProgram('strace', project);
  if (strace === undefined) return Promise.resolve({ missing: 'strace was not found', hint: INSTALL });
  const digest = digestOf(strace);
  let support = known.get(digest);
  if (!support) {
    support = keptSupport(project, strace, digest);
    known.set(digest, support);
  }
  return support;
}

/** Only a program of the user or the system: a project's own `strace` must not see what other phases do. */
function usersProgram(name: string, { root, env }: Place): string | undefined {
  const folders = (env['PATH'] ?? '').split(':');
  const own = folders.filter((path) => path.startsWith('/') && !isInside(root, path) && !path.includes('node_modules'));
  return findOnPath(name, own.join(':'));
}

/** What is allowed depends on the strace, the boot, the container and the user. */
function digestOf(strace: string): string {
  const { mtimeMs = 0, size = 0 } = statIfThere(strace) ?? {};
  const { boot = null, namespace = null } = holderIdentity();
  const uid = process.getuid?.() ?? null;
  return sha256Hex(canonicalEncode({ strace, mtimeMs, size, boot, namespace, uid }));
}

async function keptSupport(project: Place, strace: string, digest: string): Promise<ObserveSupport> {
  const name = 'observe.support';
  const kept = readChecked(project, name) as { digest?: unknown; support?: ObserveSupport } | undefined;
  if (kept?.digest === digest && kept.support) return kept.support;
  const support = await trySupport(project, strace);
  writeChecked(project, name, { digest, support });
  return support;
}

async function trySupport(project: Place, strace: string): Promise<ObserveSupport> {
  const old = await oldVersion(project, strace);
  if (old !== undefined) return { missing: `${strace} is too old (${old})`, hint: INSTALL };
  const program = usersProgram('true', project);
  if (program === undefined) return { missing: 'there is no program to try strace with' };
  const trace = new TracedProcess({ strace, root: join('/', 'nowhere') });
  const { failure, stderrTail } = await runProcess({
    argv: [program],
    cwd: '/',
    env: project.env,
    timeoutMs: TRY_TIMEOUT_MS,
    trace,
  });
  // stderr is the only sign of a filter that could not be installed; without one every call stops the program.
  if (!failure && stderrTail === '' && trace.observation()?.complete) return { strace };
  return whyNot(strace, oneLine(failure?.detail ?? stderrTail) || failure?.message || 'it saw nothing');
}

/** Undefined for one that is new enough or prints no version: then only a test shows what it can. */
async function oldVersion({ env }: Place, strace: string): Promise<string | undefined> {
  const argv = [strace, '--version'];
  const { stdout } = await runProcess({ argv, cwd: '/', env, timeoutMs: TRY_TIMEOUT_MS });
  const [, version, major, minor] = /^strace -- version ((\d+)\.(\d+)\S*)/.exec(stdout.toString('latin1')) ?? [];
  const isOld = Number(major) < MAJOR || (Number(major) === MAJOR && Number(minor) < MINOR);
  return isOld ? version : undefined;
}

function whyNot(strace: string, said: string): ObserveSupport {
  if (/unrecognized option|invalid|unknown/i.test(said)) {
    return { missing: `${strace} does not have an option that is needed (${said})`, hint: INSTALL };
  }
  if (/not permitted|PTRACE|attach/i.test(said)) {
    return {
      missing: `${strace} may not follow processes here (${said})`,
      hint: 'in a container: `--cap-add=SYS_PTRACE`; else see /proc/sys/kernel/yama/ptrace_scope',
    };
  }
  return { missing: `${strace} does not work here (${said})` };
}
