import { resolve } from 'node:path';
import { NO_USAGE } from '../../model/outcome.js';
import { entryPath } from '../../store/paths.js';
import { forgetOldest } from '../../util/derived-cache.js';
import { savingsOf } from '../budget.js';
import type { RunContext } from '../context.js';
import type { Settled } from '../execution.js';
import type { ResultLine, RunLine } from '../journal/lines.js';
import { resultLine } from '../record.js';
import { pointerName } from '../runs-folder.js';
import type { Note, RepeatNotes } from './notes.js';
import { lookAt, type Seen, see } from './seen.js';
import { type Sheet, type SheetRecord, sheetFolder, sheetName, writeSheet } from './sheet.js';

const KEPT_SHEETS = 64;
const LARGEST = 8 * 1024 * 1024;
/** The time between the moment in which a result is made and the one in which its file is complete. */
const WRITING_MS = 50;

/** Writes down what a run found, if all of it can be found unchanged the next time. */
export function keepSheet(run: RunContext, notes: RepeatNotes, line: RunLine): void {
  const { repeat, project, flow, config } = run.options;
  if (!repeat || run.secrets.any || config.cache.signingKey !== undefined) return;
  if (!flow.phases.every(({ id }) => notes.notes.has(id))) return;
  const store = resolve(project.root, config.cache.dir);
  const records: SheetRecord[] = [];
  let length = 0;
  for (const note of notes.notes.values()) {
    const record = recordOf(note, store, repeat.since);
    if (!record) return;
    length += record.output.length;
    if (length > LARGEST) return;
    records.push(record);
  }
  const { fileDigest, byName, args, argsDigest } = line;
  const id = flow.file ?? run.options.source.ref;
  const sheet: Sheet = {
    head: {
      asked: repeat.asked,
      files: repeat.looked.map(({ path, digest }) => seeOutside(path, digest, repeat.since)),
      store,
      pointers: [pointerName(id, undefined), pointerName(id, argsDigest)],
      run: { flow: flow.name, file: flow.file, fileDigest, byName, args, argsDigest },
      result: flow.result,
    },
    outline: JSON.stringify(line.phases),
    records,
  };
  writeSheet(repeat.path, sheet);
  forgetOldest(sheetFolder(project), sheetName, KEPT_SHEETS);
}

/** A folder counts by its own figures alone. */
function seeOutside(path: string, digest: string | null, since: number): Seen {
  if (!path.endsWith('/')) return see(path, digest, path, since);
  const folder = path.slice(0, -1);
  return see(folder, lookAt(folder) ? 'a folder' : null, folder, since);
}

/** Undefined when the entry may not be the one that this run has read or written. */
function recordOf({ at, settled, inputs, ttlMs }: Note, store: string, since: number): SheetRecord | undefined {
  const key = settled.key!;
  const stat = lookAt(entryPath(store, key));
  if (!stat) return undefined;
  const ours =
    settled.hit === null ? stat.ctimeMs >= since && stat.ctimeMs <= settled.madeAt + WRITING_MS : stat.ctimeMs < since;
  if (!ours) return undefined;
  const { root } = at.run.options.project;
  return {
    id: at.phase.id,
    key,
    madeAt: settled.madeAt,
    usedAt: stat.mtimeMs,
    ...(ttlMs !== undefined && { ttlMs }),
    entry: [stat.ino, stat.size, stat.ctimeMs],
    inputs: inputs.map(([path, digest]) => see(path, digest, `${root}/${path}`, since)),
    kind: at.phase.kind,
    ...(settled.model !== undefined && { model: settled.model }),
    saved: savingsOf(settled.cost),
    output: JSON.stringify(settled.output),
    more: moreOf(resultLine(at, asHit(settled), undefined)),
  };
}

/** What of the journal's line is the same in every run and does not stand in the record. */
function moreOf(line: ResultLine): string {
  const { attempts, durationMs, usage, saved, cost, model, facts } = line;
  return JSON.stringify({ attempts, durationMs, usage, saved, cost, model, facts }).slice(1, -1);
}

/** The result as the next run will find it. */
function asHit({ output, model, facts, key, runKey, madeAt, cost }: Settled): Settled {
  return {
    status: 'done',
    output,
    usage: NO_USAGE,
    durationMs: 0,
    attempts: 0,
    files: [],
    model,
    facts,
    hit: 'cross-run',
    reason: '',
    key,
    runKey,
    madeAt,
    cost,
    saved: savingsOf(cost),
  };
}
