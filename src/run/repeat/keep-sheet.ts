import { resolve } from 'node:path';
import { lstatIfThere } from '../../util/stat.js';
import type { RunContext } from '../context.js';
import type { RunLine } from '../journal/lines.js';
import { pointerName } from '../runs-folder.js';
import { entryFigures, newRow, outputLength } from './kept-rows.js';
import type { Note, RepeatNotes } from './notes.js';
import { FOLDER, type Seen, see } from './seen.js';
import { LARGEST, type SheetHead, writeSheet } from './sheet.js';
import { RecordsWriter, type SheetRecord } from './sheet-records.js';

/** Writes down what a run found, if all of it can be found unchanged the next time. */
export function keepSheet(run: RunContext, notes: RepeatNotes, line: RunLine): void {
  const { repeat, project, flow, config, stands } = run.options;
  if (!repeat || run.secrets.any || config.cache.signingKey !== undefined) return;
  if (!flow.phases.every(({ id }) => notes.has(id))) return;
  const store = resolve(project.root, config.cache.dir);
  const place = { root: project.root, store, since: repeat.since };
  const records = new RecordsWriter();
  let length = 0;
  for (const note of notes.values()) {
    if (typeof note === 'number') {
      length += stands!.records.rows.outputLength(note);
      stands!.copyTo(records, note);
    } else {
      const record = recordOf(note, place);
      if (!record) return;
      length += outputLength(record.row.line);
      records.add(record);
    }
    if (length > LARGEST) return;
  }
  const { fileDigest, byName, args, argsDigest } = line;
  const id = flow.file ?? run.options.source.ref;
  const head: SheetHead = {
    asked: repeat.asked,
    files: repeat.looked.map(({ path, digest }) => seeOutside(path, digest, repeat.since)),
    store,
    pointers: [pointerName(id, undefined), pointerName(id, argsDigest)],
    run: { flow: flow.name, file: flow.file, fileDigest, byName, args, argsDigest },
    result: flow.result,
  };
  writeSheet(repeat.path, { head, outline: JSON.stringify(line.phases) }, records);
}

function seeOutside(path: string, digest: string | null, since: number): Seen {
  if (!path.endsWith('/')) return see(path, digest, path, since);
  const folder = path.slice(0, -1);
  return see(folder, lstatIfThere(folder) ? FOLDER : null, folder, since);
}

/** Undefined when the entry may not be the one that this run has read or written. */
function recordOf(
  { phase, key, hit, madeAt, output, model, cost, facts, inputs, world, ttlMs, notedAt }: Note,
  place: { readonly root: string; readonly store: string; readonly since: number },
): SheetRecord | undefined {
  const { root, store, since } = place;
  const entry = entryFigures(store, key);
  if (!entry) return undefined;
  // An older one is there when what was made could not be kept; a newer one was put there by somebody else.
  const isOlder = hit === null && entry.ctimeMs < since;
  if (isOlder || entry.ctimeMs > notedAt + 1) return undefined;
  const { id, kind } = phase;
  return {
    id,
    kind,
    row: newRow({ phase: id, kind, key, madeAt, output, cost, model, facts }, entry),
    ttlMs,
    inputs: inputs.map(([path, digest]) => see(path, digest, `${root}/${path}`, since)),
    world: world.length > 0 ? world : undefined,
  };
}
