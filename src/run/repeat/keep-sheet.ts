import { resolve } from 'node:path';
import { entryPath } from '../../store/paths.js';
import { lstatIfThere } from '../../util/stat.js';
import { savingsOf } from '../budget.js';
import type { RunContext } from '../context.js';
import type { RunLine } from '../journal/lines.js';
import { reusedFigures } from '../journal/reused-line.js';
import { pointerName } from '../runs-folder.js';
import type { Note, RepeatNotes } from './notes.js';
import { FOLDER, type Seen, see } from './seen.js';
import { LARGEST, type Sheet, type SheetRecord, writeSheet } from './sheet.js';

/** Writes down what a run found, if all of it can be found unchanged the next time. */
export function keepSheet(run: RunContext, notes: RepeatNotes, line: RunLine): void {
  const { repeat, project, flow, config } = run.options;
  if (!repeat || run.secrets.any || config.cache.signingKey !== undefined) return;
  if (!flow.phases.every(({ id }) => notes.has(id))) return;
  const store = resolve(project.root, config.cache.dir);
  const place = { root: project.root, store, since: repeat.since };
  const records: SheetRecord[] = [];
  let length = 0;
  for (const note of notes.values()) {
    const record = 'phase' in note ? recordOf(note, place) : note;
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
  const saved = savingsOf(cost);
  const stat = lstatIfThere(entryPath(store, key));
  if (!stat) return undefined;
  // An older one is there when what was made could not be kept; a newer one was put there by somebody else.
  const isOlder = hit === null && stat.ctimeMs < since;
  if (isOlder || stat.ctimeMs > notedAt + 1) return undefined;
  return {
    id: phase.id,
    key,
    madeAt,
    usedAt: stat.mtimeMs,
    ttlMs,
    entry: [stat.ino, stat.size, stat.ctimeMs],
    inputs: inputs.map(([path, digest]) => see(path, digest, `${root}/${path}`, since)),
    world: world.length > 0 ? world : undefined,
    kind: phase.kind,
    model,
    saved,
    output: JSON.stringify(output),
    figures: reusedFigures({ cost, model, facts }),
  };
}
