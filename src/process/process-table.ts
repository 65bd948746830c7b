import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { systemClock } from '../util/clock.js';
import { delay, nextTurn } from '../util/timer.js';

/** One row of the kernel's process table, as in /proc/PID/stat. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** It has ended and waits to be reaped. */
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

/** One look at /proc: who is there, and the rows that were asked for. */
interface Look {
  readonly ids: readonly number[];
  readonly rows: Map<number, ProcessRow>;
}

/**
 * The rows of all visible processes except those that are `elsewhere`; none where there is no /proc. Costs
 * milliseconds, so it is not called while all goes well, and one look serves a whole turn of the event loop (for a run
 * that ends 200 trees): call it in a new turn. `elsewhere` may get a row that is up to a second old.
 */
export function readProcessTable(elsewhere: (row: ProcessRow) => boolean = () => false): readonly ProcessRow[] {
  if (!look) {
    look = lookAtProc();
    setImmediate(forgetProcessTable);
  }
  const rows: ProcessRow[] = [];
  for (const pid of look.ids) {
    const known = recent.get(pid);
    if (known && elsewhere(known)) continue;
    const row = look.rows.get(pid) ?? readProcessRow(pid);
    if (!row) continue;
    look.rows.set(pid, row);
    recent.set(pid, row);
    rows.push(row);
  }
  return rows;
}

/** Makes the next look a new one, even in the same turn. */
export function forgetProcessTable(): void {
  look = undefined;
}

let look: Look | undefined;

/**
 * Rows of the last second. An id names the same process for so long: the kernel gives ids in turn, and there are more
 * than 30,000 others before it comes round.
 */
const recent = new Map<number, ProcessRow>();
const RECENT_MS = 1_000;
let recentSince = 0;

let nextLook: Promise<void> | undefined;
let restsUntil = 0;

/**
 * Waits until a look at the table is due that begins after this call. Trees that end at about the same time share one
 * look: after each look there is a pause of twice its length, so that looking takes at most a third of the time. The
 * time to read rows does not count, since two looks hardly ever read the same row.
 */
export function untilNextLook(): Promise<void> {
  const restMs = restsUntil - systemClock.elapsed();
  nextLook ??= (restMs > 0 ? delay(restMs) : nextTurn()).then(() => {
    nextLook = undefined;
  });
  return nextLook;
}

function lookAtProc(): Look {
  const startedAt = systemClock.elapsed();
  if (startedAt - recentSince > RECENT_MS) {
    recent.clear();
    recentSince = startedAt;
  }
  const ids = processIds();
  const endedAt = systemClock.elapsed();
  restsUntil = endedAt + 2 * (endedAt - startedAt);
  return { ids, rows: new Map() };
}

function processIds(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    // No /proc here: callers fall back to process groups.
    return [];
  }
}

/** False on systems without /proc, where only signals show who is alive. */
export function hasProcessTable(): boolean {
  tableExists ??= existsSync('/proc/self/stat');
  return tableExists;
}

let tableExists: boolean | undefined;

/** True when the process was started with this `NAME=value` in its environment. */
export function startedWith(row: ProcessRow, variable: string): boolean {
  return markOf(row, nameIn(variable)) === variable;
}

/** True when an earlier look has shown that the process has the mark of another tree of the same run. */
export function hasAnotherMark(row: ProcessRow, mark: string): boolean {
  const known = found.get(idOf(row, nameIn(mark)));
  return known !== undefined && known !== mark && known.startsWith(mark.slice(0, mark.lastIndexOf('.') + 1));
}

function nameIn(variable: string): string {
  return variable.slice(0, variable.indexOf('=') + 1);
}

/**
 * The mark of each process, by id and start. Our own value is not remembered: between fork and exec, a child shows its
 * parent's environment.
 */
const found = new Map<string, string>();
const MOST_REMEMBERED = 10_000;

function idOf({ pid, startTicks }: ProcessRow, name: string): string {
  return `${name}${pid}.${startTicks}`;
}

function markOf(row: ProcessRow, name: string): string | undefined {
  const id = idOf(row, name);
  const known = found.get(id);
  if (known !== undefined) return known;
  const variable = readVariable(row.pid, name);
  if (variable === undefined || variable === ownVariable(name)) return variable;
  if (found.size >= MOST_REMEMBERED) found.clear();
  found.set(id, variable);
  return variable;
}

const own = new Map<string, string | undefined>();

function ownVariable(name: string): string | undefined {
  if (!own.has(name)) own.set(name, readVariable(process.pid, name));
  return own.get(name);
}

function readVariable(pid: number, name: string): string | undefined {
  try {
    const text = `\0${readFileSync(`/proc/${pid}/environ`, 'utf8')}`;
    const start = text.indexOf(`\0${name}`) + 1;
    return start === 0 ? undefined : text.slice(start, text.indexOf('\0', start));
  } catch {
    // Gone, a zombie, or another user's: not ours.
    return undefined;
  }
}
