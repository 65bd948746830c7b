import { closeSync, fstatSync, openSync, readFileSync, renameSync, unlinkSync } from 'node:fs';
import { type ErrnoError, removeIfThere, writeAll } from '../util/atomic-write.js';
import { statIfThere } from '../util/stat.js';
import { encodeHolder } from './entry-format.js';
import { type Holder, isHolder, newHolder, stateOfHolder } from './holder.js';

/**
 * A claim is a file that only one process can create. It begins as the holder's identity and, when the result is known,
 * is completed and renamed to be the entry: a claim costs a put nothing that it would not have cost anyway.
 *
 * Not proper-lockfile, which takes a lock from a holder that has not touched it for some seconds: a process that is
 * stopped (Ctrl-Z, a debugger, a machine asleep) must keep its claim, or its phase would be paid for twice.
 */
export interface OwnClaim {
  readonly path: string;
  /** Unique per claim: the holder's identity with a running number. ASCII. */
  readonly text: string;
  /** Stays open until the claim is completed or dropped. */
  readonly file: number;
}

/** A claim file as it was read. */
export interface SeenClaim {
  /** Undefined when the file is empty or cut short: its maker is, or died, between creating and writing it. */
  readonly holder: Holder | undefined;
  readonly mtimeMs: number;
  readonly inode: number;
}

export function createClaim(path: string): { own: OwnClaim } | { exists: true } | { failed: ErrnoError } {
  const text = encodeHolder(newHolder());
  let file: number;
  try {
    file = openSync(path, 'ax', 0o600);
  } catch (error) {
    return (error as ErrnoError).code === 'EEXIST' ? { exists: true } : { failed: error as ErrnoError };
  }
  try {
    writeAll(file, text);
    return { own: { path, text, file } };
  } catch (error) {
    closeSync(file);
    removeIfThere(path);
    return { failed: error as ErrnoError };
  }
}

/** Appends the rest of the entry and gives the file its final name; says which file that is. */
export function completeClaim(
  own: OwnClaim,
  rest: string,
  entryPath: string,
): { readonly ino: number; readonly size: number } | { readonly failed: ErrnoError } {
  try {
    let ino: number;
    try {
      const stat = fstatSync(own.file);
      // A process on another machine took us for dead and removed our file. Its result is as good as ours: keep it.
      if (stat.nlink === 0) return { failed: lostClaim() };
      ino = stat.ino;
      writeAll(own.file, rest);
    } finally {
      // Closed before the rename: some file systems report a full disk only here.
      closeSync(own.file);
    }
    renameSync(own.path, entryPath);
    return { ino, size: own.text.length + Buffer.byteLength(rest) };
  } catch (error) {
    removeOwn(own);
    return { failed: (error as ErrnoError).code === 'ENOENT' ? lostClaim() : (error as ErrnoError) };
  }
}

function lostClaim(): ErrnoError {
  return Object.assign(new Error('the claim was taken over by another process'), { code: 'ELOST' });
}

export function dropClaim(own: OwnClaim): void {
  try {
    closeSync(own.file);
  } catch {
    // A write error does not matter: the file is removed.
  }
  removeOwn(own);
}

function removeOwn(own: OwnClaim): void {
  try {
    // On a full disk, a part of the entry may follow the claim's text.
    if (readFileSync(own.path, 'latin1').startsWith(own.text)) removeIfThere(own.path);
  } catch {
    // Another process removed it, or we may not read it any more.
  }
}

export function readClaim(path: string): SeenClaim | { gone: true } | { failed: ErrnoError } {
  try {
    const file = openSync(path, 'r');
    try {
      const { mtimeMs, ino } = fstatSync(file);
      return { holder: parseHolder(readFileSync(file, 'utf8')), mtimeMs, inode: ino };
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return (error as ErrnoError).code === 'ENOENT' ? { gone: true } : { failed: error as ErrnoError };
  }
}

export function parseHolder(text: string): Holder | undefined {
  const line = text.slice(0, Math.max(0, text.indexOf('\n')));
  try {
    const { holder } = JSON.parse(`${line}}`) as { holder?: unknown };
    return isHolder(holder) ? holder : undefined;
  } catch {
    // Cut short, or not a claim that taskflow wrote.
    return undefined;
  }
}

/** An empty claim older than this has lost its maker: writing one takes microseconds. */
const EMPTY_GRACE_MS = 2_000;
/** A remote holder touches its claim every 15 seconds: an older one was left behind, even if the clocks differ. */
const FOREIGN_GRACE_MS = 10 * 60_000;

/** `unknown` for a holder on another machine: only watching its claim file can tell (see `claimOrWait`). */
export function claimState(claim: SeenClaim, now: number): 'alive' | 'dead' | 'unknown' {
  const age = now - claim.mtimeMs;
  if (!claim.holder) return age > EMPTY_GRACE_MS ? 'dead' : 'alive';
  const state = stateOfHolder(claim.holder);
  return state === 'unknown' && age > FOREIGN_GRACE_MS ? 'dead' : state;
}

/** A guard this old was left by a process that died inside of `removeDeadClaim`, which takes microseconds. */
const GUARD_GRACE_MS = 5_000;

/**
 * Removes the claim of a dead holder, and no other: between looking and removing, another process may have replaced it.
 * So only a process that holds the guard, named after the dead holder, removes the claim, and looks again first.
 */
export function removeDeadClaim(path: string, dead: SeenClaim, now: number): void {
  const guard = `${path}-${dead.holder?.id ?? `inode${dead.inode}`}.guard`;
  try {
    closeSync(openSync(guard, 'wx', 0o600));
  } catch {
    // Another process is removing it, or died doing so, which the guard's age will show: the caller looks again.
    const age = now - (statIfThere(guard)?.mtimeMs ?? now);
    if (age > GUARD_GRACE_MS) removeIfThere(guard);
    return;
  }
  try {
    const current = readClaim(path);
    if ('inode' in current && current.inode === dead.inode && current.holder?.id === dead.holder?.id) unlinkSync(path);
  } catch {
    // The folder has become read-only: no process can claim anything there now.
  } finally {
    removeIfThere(guard);
  }
}
