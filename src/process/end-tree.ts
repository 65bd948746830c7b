import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../util/clock.js';
import { KnownTree, type Tree } from './known-tree.js';
import type { ChildIdentity } from './process.js';
import { type HolderIdentity, holderIdentity } from './process-identity.js';
import { hasProcessTable, type ProcessRow, readProcessRow } from './process-table.js';

/** After KILL: a process stuck in the kernel (a dead network mount) must not hang the run for good. */
const GIVE_UP_MS = 10_000;
const POLL_MS = [1, 2, 4, 8, 16, 25];
const DEFAULT_GRACE_MS = 5_000;

/** Ends everything that descends from the root: TERM, then KILL for what is left after the grace. */
export async function endTree(tree: Tree, graceMs: number = DEFAULT_GRACE_MS): Promise<void> {
  const known = new KnownTree(tree);
  if (await endWith(known, 'SIGTERM', graceMs)) return;
  await endWith(known, 'SIGKILL', GIVE_UP_MS);
}

/** At once and without waiting, for the last moment of this process. */
export function killTreeNow(tree: Tree): void {
  const known = new KnownTree(tree);
  tell(known, known.refresh(), new Set(), 'SIGKILL');
}

/**
 * Ends what a crashed run left behind. The id alone proves nothing: if another process has it by now, the tree is gone
 * (an id is not given away while a group or session of that name has members).
 */
export async function endProcess(child: ChildIdentity, graceMs?: number): Promise<void> {
  const row = readProcessRow(child.pid);
  if (row && row.startTicks !== child.startTicks) return;
  if (hasProcessTable() && child.startTicks === undefined) return;
  await endTree({ root: child.pid, mark: child.mark }, graceMs);
}

/** The same for all children of a run, if it ran on this machine since its last boot; ids mean nothing elsewhere. */
export async function endSurvivors(children: readonly ChildIdentity[], startedBy: HolderIdentity): Promise<void> {
  const here = holderIdentity();
  if (startedBy.host !== here.host || startedBy.boot !== here.boot) return;
  await Promise.all(children.map((child) => endProcess(child)));
}

/** Sends the signal to each member once, newcomers included; true when nobody is left in time. */
async function endWith(known: KnownTree, signal: NodeJS.Signals, limitMs: number): Promise<boolean> {
  const until = systemClock.elapsed() + limitMs;
  const told = new Set<number>();
  for (let round = 0; ; ) {
    const members = known.refresh();
    if (members.length === 0 && !known.groupAnswersWithoutTable()) return true;
    if (systemClock.elapsed() >= until) return false;
    tell(known, members, told, signal);
    do {
      await pause(POLL_MS[Math.min(round++, POLL_MS.length - 1)]);
    } while (systemClock.elapsed() < until && someoneLives(known, members));
  }
}

function someoneLives(known: KnownTree, members: readonly ProcessRow[]): boolean {
  if (known.groupAnswersWithoutTable()) return true;
  return members.some(({ pid, startTicks }) => {
    const row = readProcessRow(pid);
    return row !== undefined && !row.zombie && row.startTicks === startTicks;
  });
}

/** The group first: one call reaches all its members, those started since the last look included. */
function tell(known: KnownTree, members: readonly ProcessRow[], told: Set<number>, signal: NodeJS.Signals): void {
  if (told.size === 0) send(-known.root, signal);
  for (const { pid, group } of members) {
    if (!told.has(pid) && (told.size > 0 || group !== known.root)) send(pid, signal);
  }
  for (const { pid } of members) told.add(pid);
}

function send(pidOrGroup: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pidOrGroup, signal);
  } catch (error) {
    // ESRCH: already gone. EPERM: it became another user's; nothing to be done about it.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}
