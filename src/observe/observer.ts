import { isAbsolute } from 'node:path';
import type { Observation } from '../model/observation.js';
import { lstatIfThere } from '../util/stat.js';
import { ACCESSES, type Access } from './access.js';
import { Elsewhere } from './elsewhere.js';
import { Files, type View } from './files.js';
import type { There } from './ledger.js';
import { Mounts } from './mounts.js';
import { fileArgument, parseCall, type SystemCall } from './trace-call.js';
import { parseTraceLine, type TraceLine } from './trace-line.js';

interface ObserverOptions {
  /** Of the project: absolute and real. */
  readonly root: string;
  /** Where the first process starts: absolute and real. */
  readonly cwd: string;
  /** Leave nothing out: the caller selects. */
  readonly all?: boolean;
  /** When the first process was started. */
  readonly startedAt: number;
}

/** Longer than a call with two names of the greatest length, each byte escaped. */
const MOST_LINE = 256 * 1024;
const UNREADABLE = 'the trace cannot be read';
/** How many lines may wait for the start of their process to appear. */
const MOST_WAITING = 10_000;

/** Reads a trace as it comes, and reports at the end what the process tree did with the project's files. */
export class Observer {
  readonly #files: Files;
  readonly #first: string;
  readonly #elsewhere: Elsewhere;
  /** By id of each living process; threads share one. */
  readonly #views = new Map<number, View>();
  readonly #unfinished = new Map<number, string>();
  readonly #waiting = new Map<number, string[]>();
  #waits = 0;
  #rest = '';
  #isBegun = false;
  #incomplete: string | undefined;
  #trouble: Observation['trouble'];

  constructor(options: ObserverOptions) {
    this.#files = new Files(options, (why, trouble) => this.#cannotFollow(why, trouble));
    this.#first = options.cwd;
    this.#elsewhere = new Elsewhere({
      root: options.root,
      views: this.#views,
      isOutside: (folder) => this.#files.paths.isOutside(folder),
    });
  }

  add(chunk: Buffer): void {
    const lines = `${this.#rest}${chunk.toString('latin1')}`.split('\n');
    this.#rest = lines.pop()!;
    if (this.#rest.length > MOST_LINE) {
      this.#rest = '';
      this.#cannotFollow(UNREADABLE);
    }
    for (const line of lines) for (const left of this.#elsewhere.linesLeft(line)) this.#line(left);
  }

  /** Processes that have started and not ended. */
  alive(): Iterable<number> {
    return this.#views.keys();
  }

  /** `isWhole`: the tracer has closed the trace. */
  end(isWhole: boolean): Observation {
    for (const pid of [...this.#waiting.keys()]) this.#begin(pid, { cwd: undefined });
    const isCut = !isWhole || !this.#isBegun || this.#rest !== '' || this.#views.size > 0;
    if (isCut) this.#cannotFollow('the trace was cut short');
    const { ledger } = this.#files;
    if (ledger.isFull) this.#cannotFollow('it looked at too many files');
    const { reads, lists, absent, present, writes } = ledger.results((path) => this.#there(path));
    return {
      source: 'system',
      complete: this.#incomplete === undefined,
      ...(this.#incomplete !== undefined && { incomplete: this.#incomplete, trouble: this.#trouble! }),
      reads: reads.sort(),
      lists,
      absent: absent.sort(),
      ...(present.length > 0 && { present }),
      writes: writes.sort(),
    };
  }

  #there(path: string): There {
    const stat = lstatIfThere(`${this.#files.root}/${path}`);
    if (!stat) return undefined;
    if (stat.isSymbolicLink()) return 'link';
    if (stat.isFile()) return 'file';
    return stat.isDirectory() ? 'folder' : 'other';
  }

  /** The first reason is reported, except that `hindered`, which may make the program fail, replaces any other. */
  #cannotFollow(why: string, trouble: Observation['trouble'] = 'lost'): void {
    if (this.#incomplete !== undefined && (trouble === 'lost' || this.#trouble === 'hindered')) return;
    this.#incomplete = why;
    this.#trouble = trouble;
  }

  #line(text: string): void {
    const line = parseTraceLine(text);
    if (!line) this.#cannotFollow(UNREADABLE);
    else if (line.type !== 'signal') this.#said(line, text);
  }

  #said(line: Exclude<TraceLine, { type: 'signal' }>, text: string): void {
    const { pid } = line;
    if (!this.#isBegun) {
      this.#isBegun = true;
      this.#views.set(pid, { cwd: this.#first });
    }
    if (!this.#views.has(pid)) this.#wait(pid, text);
    else if (line.type === 'call') this.#call(pid, line.text);
    else if (line.type === 'unfinished') this.#unfinished.set(pid, line.text);
    else if (line.type === 'resumed') this.#resumed(pid, line.text);
    else if (line.type === 'superseded') this.#supersede(pid, line.by);
    else {
      this.#views.delete(pid);
      this.#unfinished.delete(pid);
    }
  }

  #resumed(pid: number, rest: string): void {
    const begun = this.#unfinished.get(pid);
    this.#unfinished.delete(pid);
    if (begun === undefined) this.#cannotFollow(UNREADABLE);
    else this.#call(pid, begun + rest);
  }

  /** A thread that executes a program takes over the id of its process. */
  #supersede(pid: number, by: number): void {
    const begun = this.#unfinished.get(by);
    this.#unfinished.delete(by);
    if (begun === undefined) this.#unfinished.delete(pid);
    else this.#unfinished.set(pid, begun);
    const cwd = this.#views.get(by);
    this.#views.delete(by);
    if (cwd) this.#views.set(pid, cwd);
  }

  /** A process's first lines may come before the call that started it has returned. */
  #wait(pid: number, text: string): void {
    const lines = this.#waiting.get(pid) ?? [];
    lines.push(text);
    this.#waiting.set(pid, lines);
    this.#waits += 1;
    if (this.#waits > MOST_WAITING) this.#begin(pid, { cwd: undefined });
  }

  #begin(pid: number, view: View): void {
    this.#views.set(pid, view);
    const lines = this.#waiting.get(pid) ?? [];
    this.#waiting.delete(pid);
    this.#waits -= lines.length;
    for (const line of lines) this.#line(line);
  }

  #call(pid: number, text: string): void {
    const call = parseCall(text);
    if (!call) this.#cannotFollow(UNREADABLE);
    if (!call || call === 'unknown') return;
    const access = ACCESSES[call.name]?.(call);
    if (!access && call.name.startsWith('?')) this.#cannotFollow(UNREADABLE);
    if (!access) return;
    const view = this.#views.get(pid)!;
    if (access.type === 'start') this.#started(view, call, access.flags);
    else if (access.type === 'enter-open') this.#entered(view, fileArgument(call.args[0])?.path, call);
    else if (access.type === 'leave-namespace') {
      if (call.error === undefined && access.flags.includes('CLONE_NEWNS')) view.mounts = ownMounts(view);
    } else if (access.type === 'mount' || access.type === 'pivot') this.#mounted(view, call, access);
    else {
      const entered = this.#files.record(call, access, view);
      if (access.type === 'enter') this.#entered(view, entered, call);
    }
  }

  #started(parent: View, call: SystemCall, flags: string): void {
    if (call.error !== undefined || call.value <= 0) return;
    if (flags.includes('CLONE_UNTRACED')) this.#cannotFollow('a process hid another one from the trace');
    const mounts = flags.includes('CLONE_NEWNS') ? ownMounts(parent) : parent.mounts;
    this.#begin(call.value, flags.includes('CLONE_FS') ? parent : { cwd: parent.cwd, mounts });
  }

  #entered(view: View, path: string | undefined, { error }: SystemCall): void {
    if (error === undefined) view.cwd = path !== undefined && isAbsolute(path) ? path : undefined;
  }

  #mounted(view: View, call: SystemCall, access: Access & { type: 'mount' | 'pivot' }): void {
    if (call.error !== undefined) return;
    const { mounts } = view;
    if (!mounts) this.#cannotFollow('a process mounted something');
    if (!mounts) return;
    const from = call.args[0] === 'NULL' ? undefined : this.#files.absolute(call, { name: 0 }, view);
    const to = this.#files.absolute(call, { name: 1 }, view);
    if (to === undefined) return;
    if (access.type === 'pivot' && from !== undefined) {
      mounts.pivot(from, to);
      view.cwd = '/';
    } else if (access.type === 'mount') mount(mounts, access.flags.split('|'), { from, to });
  }
}

function ownMounts({ mounts }: View): Mounts {
  return mounts?.copy() ?? new Mounts();
}

/** Flags of calls that only change how something is mounted. */
const SAME_PLACE = ['MS_REMOUNT', 'MS_SLAVE', 'MS_PRIVATE', 'MS_SHARED', 'MS_UNBINDABLE'];

function mount(mounts: Mounts, flags: readonly string[], { from, to }: { from: string | undefined; to: string }): void {
  if (SAME_PLACE.some((flag) => flags.includes(flag))) return;
  if ((flags.includes('MS_BIND') || flags.includes('MS_MOVE')) && from !== undefined) mounts.bind(from, to);
  else mounts.cover(to);
}
