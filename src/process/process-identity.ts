import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { ChildIdentity } from './process.js';
import { hasProcessTable, readProcessRow } from './process-table.js';
import { answersSignals } from './send-signal.js';

/** The process that holds a claim or owns a run: enough to see, on the same machine, whether it is alive. */
export interface HolderIdentity extends ChildIdentity {
  readonly host: string;
  /** Changes with every boot; undefined where the system does not say. */
  readonly boot?: string;
  /** Process ids mean nothing in another one (a container on the same machine); undefined where there are none. */
  readonly namespace?: string;
}

export function identityOf(pid: number): ChildIdentity {
  const startTicks = readProcessRow(pid)?.startTicks;
  return startTicks === undefined ? { pid } : { pid, startTicks };
}

/** A zombie, and another process under the same id, are dead. */
export function isAlive(child: ChildIdentity): boolean {
  const row = readProcessRow(child.pid);
  if (row) return !row.zombie && (child.startTicks === undefined || child.startTicks === row.startTicks);
  return !hasProcessTable() && answersSignals(child.pid);
}

/** This process. Read once. */
export function holderIdentity(): HolderIdentity {
  self ??= { host: hostname(), ...bootOf(), ...namespaceOf(), ...identityOf(process.pid) };
  return self;
}

/**
 * `unknown`: it runs on another machine, in another container, or where start times are not known. Then only its own
 * signs of life count.
 */
export function holderState(holder: HolderIdentity): 'alive' | 'dead' | 'unknown' {
  const here = holderIdentity();
  if (holder.host !== here.host) return 'unknown';
  if (holder.boot !== undefined && here.boot !== undefined && holder.boot !== here.boot) return 'dead';
  if (!sharesProcessIds(holder)) return 'unknown';
  if (!isAlive(holder)) return 'dead';
  return holder.startTicks === undefined ? 'unknown' : 'alive';
}

/** Whether its process ids have the same meaning here: only then may a process be ended by its id. */
export function sharesProcessIds({ host, boot, namespace }: HolderIdentity): boolean {
  const here = holderIdentity();
  return host === here.host && boot === here.boot && namespace === here.namespace;
}

let self: HolderIdentity | undefined;

function namespaceOf(): { namespace?: string } {
  try {
    return { namespace: readlinkSync('/proc/self/ns/pid') };
  } catch {
    // No /proc: no namespaces either.
    return {};
  }
}

function bootOf(): { boot?: string } {
  try {
    return { boot: readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim() };
  } catch {
    // Not Linux: host, id and start time must do.
    return {};
  }
}
