import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { entryPath } from '../../store/paths.js';
import { TOUCH_AFTER_MS } from '../../store/touch.js';
import { canonicalEncode } from '../../util/canonical.js';
import type { Project } from '../../util/project.js';
import { endOfRun } from '../run-state.js';
import { lastRunUnder, runFolder } from '../runs-folder.js';
import type { World } from '../world.js';
import { compare, lookAt, type Seen, see } from './seen.js';
import type { Sheet, SheetRecord } from './sheet.js';

/** `world`: what was asked of the outside, for the run that has to be run instead. */
export type Standing =
  | { readonly sheet: Sheet; readonly moved: boolean }
  | { readonly sheet?: undefined; readonly world?: World };

const FALLEN: Standing = {};

/**
 * Whether everything that the sheet was made from is as it was, so that a run would come to what it says. Gives the
 * sheet, with new figures where only those are others; none where there is any doubt.
 */
export async function standing(sheet: Sheet, project: Project): Promise<Standing> {
  const now = project.clock.now();
  const look = new Look(now);
  if (!nothingToContinue(sheet, project)) return FALLEN;
  const files = look.all(sheet.head.files, '');
  if (!files) return FALLEN;
  const records: SheetRecord[] = [];
  for (const record of sheet.records) {
    if (!entryStands(sheet.head.store, record, now)) return FALLEN;
    const inputs = look.all(record.inputs, `${project.root}/`);
    if (!inputs) return FALLEN;
    records.push(inputs === record.inputs ? record : { ...record, inputs });
  }
  // What costs most comes last: most changes are seen by then.
  if (records.some((record) => record.world)) {
    const { openWorld } = await import('../world.js');
    const world = openWorld(project, sheet.head.store);
    if (!(await worldStands(records, world))) return { world };
  }
  return look.moved
    ? { sheet: { ...sheet, head: { ...sheet.head, files }, records }, moved: true }
    : { sheet, moved: false };
}

async function worldStands(records: readonly SheetRecord[], { fingerprints }: World): Promise<boolean> {
  for (const [entry, value] of records.flatMap((record) => record.world ?? [])) {
    const now = await fingerprints.resolve(entry, { ownOutputs: [] });
    if ('failed' in now || now.warning !== undefined || canonicalEncode(now.value.value) !== value) return false;
  }
  return true;
}

/** The last run of the flow ended well and nobody went on with it: a run that did not might have to be continued. */
function nothingToContinue({ head }: Sheet, project: Project): boolean {
  const last = lastRunUnder(project, head.pointers[1]);
  if (last === undefined) return true;
  const end = endOfRun(project, last);
  return end?.status === 'success' && !end.partial && !existsSync(join(runFolder(project, last), 'continued-by'));
}

/** It is the very file that was read, it may still be used, and the store knows that it is in use. */
function entryStands(store: string, { key, madeAt, usedAt, ttlMs, entry }: SheetRecord, now: number): boolean {
  if (now < madeAt || (ttlMs !== undefined && now - madeAt > ttlMs) || now - usedAt >= TOUCH_AFTER_MS) return false;
  const stat = lookAt(entryPath(store, key));
  return stat !== undefined && stat.ctimeMs === entry[2] && stat.ino === entry[0] && stat.size === entry[1];
}

class Look {
  moved = false;

  constructor(private readonly now: number) {}

  /** The same list if the figures are the same; undefined if anything else is not. */
  all(list: readonly Seen[], base: string): readonly Seen[] | undefined {
    let others: Seen[] | undefined;
    for (const [index, seen] of list.entries()) {
      const path = base + seen.path;
      const found = compare(seen, path);
      if (found === 'other') return undefined;
      if (found === 'same') continue;
      others ??= [...list];
      others[index] = see(seen.path, seen.digest, path, this.now);
      // Without figures before and after there is nothing new to keep.
      if (others[index].figures !== undefined) this.moved = true;
    }
    return others ?? list;
  }
}
