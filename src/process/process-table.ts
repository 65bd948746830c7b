import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { systemClock } from '../util/clock.js';
import { delay, nextTurn } from '../util/timer.js';

/** One row of the kernel's process table, as in /proc/PID/stat. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Gone in all but name: it only waits to be reaped. */
  readonly zombie: boolean;
  /** Clock ticks since boot. Together with the id it names one process for good. */
  readonly startTicks: number;
}

/** The process's row; undefined when there is none, or no /proc to look in. */
export function readProcessRow(pid: number): ProcessRow | undefined {
  try {
    return parseStat(pid, readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    // ENOENT, ESRCH: there is no such process (any more). Other errors mean no more to us.
    return undefined;
  }
}

/** The name in parentheses may itself hold spaces and parentheses, so fields count from the last one. */
export function parseStat(pid: number, stat: string): ProcessRow | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const startTicks = Number(fields[19]);
  if (!stat.includes(')') || !Number.isFinite(startTicks)) return undefined;
  return {
    pid,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    zombie: fields[0] === 'Z' || fields[0] === 'X',
    startTicks,
  };
}

/**
 * Every process that can be seen; empty where there is no /proc. Costs milliseconds, so it is never asked for while all
 * goes well, and one look serves the whole turn of the event loop (a run that ends 200 trees): ask in a new turn.
 */
export function readProcessTable(): readonly ProcessRow[] {
  if (!table) {
    table = scanProcessTable();
    setImmediate(forgetProcessTable);
  }
  return table;
}

/** The next look is a new one, in the same turn too. */
export function forgetProcessTable(): void {
  table = undefined;
}

let table: readonly ProcessRow[] | undefined;
let nextLook: Promise<void> | undefined;
let restsUntil = 0;

/**
 * Until a look at the table is due that begins after this call. Trees that end at about the same time share one: after
 * each look there is a pause of twice its length, so that looking takes a third of the time at the most.
 */
export function untilNextLook(): Promise<void> {
  const restMs = restsUntil - systemClock.elapsed();
  nextLook ??= (restMs > 0 ? delay(restMs) : nextTurn()).then(() => {
    nextLook = undefined;
  });
  return nextLook;
}

function scanProcessTable(): ProcessRow[] {
  const startedAt = systemClock.elapsed();
  const rows = readRows();
  const endedAt = systemClock.elapsed();
  restsUntil = endedAt + 2 * (endedAt - startedAt);
  return rows;
}

function readRows(): ProcessRow[] {
  let names: string[];
  try {
    names = readdirSync('/proc');
  } catch {
    // No /proc here: callers fall back to process groups.
    return [];
  }
  const rows: ProcessRow[] = [];
  for (const name of names) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const row = readProcessRow(pid);
    if (row) rows.push(row);
  }
  return rows;
}

/** False on systems without /proc, where only signals show who is alive. */
export function hasProcessTable(): boolean {
  tableExists ??= existsSync('/proc/self/stat');
  return tableExists;
}

let tableExists: boolean | undefined;

/** True when the process was started with this `NAME=value` in its environment. */
export function startedWith(row: ProcessRow, variable: string): boolean {
  const name = variable.slice(0, variable.indexOf('=') + 1);
  return markOf(row, name) === variable;
}

/**
 * What each process was started with, by id and start. Only a value that is not our own is remembered: between fork and
 * exec a child shows its parent's environment.
 */
const found = new Map<string, string>();
const MOST_REMEMBERED = 10_000;

function markOf({ pid, startTicks }: ProcessRow, name: string): string | undefined {
  const id = `${name}${pid}.${startTicks}`;
  const known = found.get(id);
  if (known !== undefined) return known;
  const variable = readVariable(pid, name);
  if (variable === undefined || variable === readVariable(process.pid, name)) return variable;
  if (found.size >= MOST_REMEMBERED) found.clear();
  found.set(id, variable);
  return variable;
}

function readVariable(pid: number, name: string): string | undefined {
  try {
    const text = `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`;
    const start = text.indexOf(`\0${name}`) + 1;
    return start === 0 ? undefined : text.slice(start, text.indexOf('\0', start));
  } catch {
    // Gone, a zombie, or someone else's: not one of ours.
    return undefined;
  }
}
