import { systemClock } from '../util/clock.js';
import { delay } from '../util/timer.js';
import { KnownTree, type Tree } from './known-tree.js';
import type { ChildIdentity } from './process.js';
import { type HolderIdentity, isAlive, sharesProcessIds } from './process-identity.js';
import { forgetProcessTable, hasProcessTable, type ProcessRow, readProcessRow } from './process-table.js';
import { sendSignal } from './send-signal.js';

/** After KILL: a process stuck in the kernel (a dead network mount) must not hang the run for good. */
const GIVE_UP_MS = 10_000;
const DEFAULT_GRACE_MS = 5_000;
const POLL_MS = [1, 2, 4, 8, 16, 25];
/** A tree that still grows after that many looks at its frozen members is not frozen by us (another user's process). */
const FREEZE_ROUNDS = 10;

/** Ends everything that descends from the root: TERM, then KILL for what is left after the grace. */
export async function endTree(tree: Tree, graceMs: number = DEFAULT_GRACE_MS): Promise<void> {
  const known = new KnownTree(tree);
  if (await endWith(known, 'SIGTERM', graceMs)) return;
  await endWith(known, 'SIGKILL', GIVE_UP_MS);
}

/** Kills without waiting, for when this process must end at once. */
export function killTreesNow(trees: Iterable<Tree>): void {
  const all = [...trees].map((tree) => new KnownTree(tree));
  for (const known of all) sendSignal(-known.root, 'SIGSTOP');
  forgetProcessTable();
  for (const known of all) known.signal(known.refreshNow(), 'SIGKILL');
}

/**
 * Ends what a crashed run left behind. The id alone proves nothing: if another process has it by now, the tree is gone
 * (the kernel does not reuse an id while a group or session of that id has members).
 */
export async function endLeftover(child: ChildIdentity, graceMs?: number): Promise<void> {
  const row = readProcessRow(child.pid);
  if (row && row.startTicks !== child.startTicks) return;
  if (hasProcessTable() && child.startTicks === undefined) return;
  const tree: Tree = { root: child.pid, mark: child.mark };
  // The first process is gone, so the group's number may be reused by now; members of its session are still its own.
  if (!row && hasProcessTable() && (await new KnownTree(tree).refresh()).length === 0) return;
  await endTree(tree, graceMs);
}

/** The same for all children of a run. Process ids mean nothing on another machine, boot or container. */
export async function endSurvivors(children: readonly ChildIdentity[], startedBy: HolderIdentity): Promise<void> {
  if (!sharesProcessIds(startedBy)) return;
  await Promise.all(children.map((child) => endLeftover(child)));
}

/** Sends the signal to all members, new ones included; true when all have ended in time. */
async function endWith(known: KnownTree, signal: 'SIGTERM' | 'SIGKILL', limitMs: number): Promise<boolean> {
  const until = systemClock.elapsed() + limitMs;
  for (let round = 0; ; ) {
    const members = await freeze(known);
    if (members.length === 0 && !known.groupAnswersWithoutTable()) return true;
    if (systemClock.elapsed() >= until) return false;
    known.signal(members, signal);
    if (signal !== 'SIGKILL') known.signal(members, 'SIGCONT');
    do {
      await delay(POLL_MS[Math.min(round++, POLL_MS.length - 1)]!);
    } while (systemClock.elapsed() < until && someoneLives(known, members));
  }
}

/**
 * Stops all members until no new one appears. A process that ends while it starts another one would leave that one
 * behind: without a parent, and perhaps in a session of its own, it could not be found.
 */
async function freeze(known: KnownTree): Promise<ProcessRow[]> {
  sendSignal(-known.root, 'SIGSTOP');
  let members = await known.refresh();
  for (let round = 0, before = 0; round < FREEZE_ROUNDS && members.length !== before; round += 1) {
    before = members.length;
    known.signal(members, 'SIGSTOP');
    members = await known.refresh();
  }
  return members;
}

function someoneLives(known: KnownTree, members: readonly ProcessRow[]): boolean {
  return known.groupAnswersWithoutTable() || members.some(isAlive);
}
