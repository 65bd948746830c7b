import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type HolderIdentity, holderIdentity, holderState } from '../process/process-identity.js';
import { sha256Hex } from '../util/digest.js';

/** The process that computes a key. The claim's file, which becomes the entry, begins with it. */
export interface Holder extends HolderIdentity {
  /** Distinguishes the claims of one process. */
  readonly id: string;
}

export function newHolder(): Holder {
  // Random once per process, followed by a number: random bytes for every claim would cost as much as a read.
  prefix ??= randomBytes(6).toString('hex');
  made += 1;
  return { ...self(), id: `${prefix}-${made}` };
}

let prefix: string | undefined;
let made = 0;

/**
 * On this machine, boot, process id and start time decide: a zombie and a reused process id are dead, and a holder that
 * is merely slow is alive however long it takes. `unknown`: on another machine, in another container, or on a system
 * without start times; then only signs of life count (a holder touches its claim now and then).
 */
export function stateOfHolder(holder: Holder): 'alive' | 'dead' | 'unknown' {
  return holder.host === self().host ? holderState({ ...holder, host: holderIdentity().host }) : 'unknown';
}

/** For the message to a person who waits. */
export function describeHolder(holder: Holder): string {
  return stateOfHolder(holder) === 'unknown' ? 'a process on another machine' : `process ${holder.pid}`;
}

export function isHolder(value: unknown): value is Holder {
  if (typeof value !== 'object' || value === null) return false;
  const { host, id, pid } = value as Partial<Holder>;
  return typeof host === 'string' && typeof id === 'string' && typeof pid === 'number';
}

let here: Omit<Holder, 'id'> | undefined;

function self(): Omit<Holder, 'id'> {
  here ??= { ...holderIdentity(), host: hostDigest() };
  return here;
}

/** A digest, because entries travel in archives and must not reveal host names. */
function hostDigest(): string {
  return sha256Hex(`${holderIdentity().host} ${machineId()}`).slice(0, 16);
}

/** Host names repeat ("localhost"); a machine id does not. */
function machineId(): string {
  try {
    return readFileSync('/etc/machine-id', 'latin1').trim();
  } catch {
    // Not every system has one; the host's name must do.
    return '';
  }
}
