import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { canonicalEncode } from '../../util/canonical.js';
import { isReallyInside } from '../../util/inside.js';
import { type Project, prefixOf, shortPath } from '../../util/project.js';
import type { RunLine } from '../journal/lines.js';
import { endOfRun } from '../run-state.js';
import { lastRunUnder, runFolder } from '../runs-folder.js';
import type { World } from '../world.js';
import { compare, type Seen, see } from './seen.js';
import type { Sheet, SheetHead } from './sheet.js';
import { folderOf, type SheetRecord } from './sheet-records.js';
import { StandingRecords } from './standing-records.js';

/** What of a sheet is as it was. */
export interface Standing {
  /** All of it: a run would come to what it says. */
  readonly sheet?: Sheet;
  /** All of it, but some figures are others: what should be kept instead. */
  readonly moved?: { readonly head: SheetHead; readonly records: StandingRecords };
  /** Where not all of it stands: the phases that do, and so does everything above them. */
  readonly phases?: StandingRecords;
  /** What these were found among: the flow, the settings. */
  readonly files?: readonly Seen[];
  /** What was asked of the outside, for the run that has to be run. */
  readonly world?: World;
}

const NOTHING: Standing = {};

/** Compares everything that the sheet was made from with what is there now. Where there is any doubt it does not stand. */
export async function standing(sheet: Sheet, project: Project): Promise<Standing> {
  const now = project.clock.now();
  const look = new Look(now, project);
  if (!nothingToContinue(sheet, project)) return NOTHING;
  const files = look.all(sheet.head.files);
  if (!files) return NOTHING;
  const store = shortPath(project, sheet.head.store);
  const { records } = sheet;
  const { rows } = records;
  /** Records that fell, and those with other figures: mostly there are none, and no record is put together. */
  const fallen = new Set<string>();
  const moved = new Map<number, readonly Seen[]>();
  const areInPlace = records.folders.every((folder) => look.isInPlace(folder));
  let world: World | undefined;
  let needs: ReadonlyMap<string, readonly string[]> | undefined;
  for (let record = 0; record < records.count; record++) {
    const id = records.id(record);
    // Until the first one falls, everything above a phase stands.
    if (needs?.get(id)?.some((need) => fallen.has(need))) {
      fallen.add(id);
      continue;
    }
    let stands = rows.stands(record, store, now, records.ttlMs(record));
    if (stands && !(areInPlace && records.hasSameFigures(record, look.base))) {
      const inputs = look.inputs(records.inputs(record));
      if (inputs) moved.set(record, inputs);
      else stands = false;
    }
    const declared = stands ? records.world(record) : undefined;
    if (declared) {
      world ??= (await import('../world.js')).openWorld(project, sheet.head.store);
      stands = await worldStands(declared, world);
    }
    if (stands) continue;
    fallen.add(id);
    needs ??= new Map((JSON.parse(sheet.outline) as RunLine['phases']).map((phase) => [phase.id, phase.needs]));
  }
  const standing = new StandingRecords(records, fallen, moved);
  if (needs) return { phases: standing, files, world };
  return look.moved ? { sheet, moved: { head: { ...sheet.head, files }, records: standing } } : { sheet };
}

async function worldStands(declared: NonNullable<SheetRecord['world']>, { fingerprints }: World): Promise<boolean> {
  for (const [entry, value] of declared) {
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

class Look {
  moved = false;

  /** What stands before a path from the root. */
  readonly base: string;
  /** Folders that are where they seem to be: a link in their place could lead out of the project. */
  readonly #places = new Set<string>();

  constructor(
    private readonly now: number,
    private readonly project: Project,
  ) {
    this.base = prefixOf(project);
  }

  /** What a phase reads, by paths from the root. */
  inputs(list: readonly Seen[]): readonly Seen[] | undefined {
    if (!list.every(({ path }) => this.isInPlace(folderOf(path)))) return undefined;
    return this.all(list, this.base, (path) => isReallyInside(this.project.root, resolve(path)));
  }

  isInPlace(folder: string): boolean {
    if (this.#places.has(folder)) return true;
    if (!isReallyInside(this.project.root, join(this.project.root, folder))) return false;
    this.#places.add(folder);
    return true;
  }

  /** The same list if the figures are the same; undefined if anything else is not. */
  all(list: readonly Seen[], base = '', mayLead: (path: string) => boolean = () => true): readonly Seen[] | undefined {
    let others: Seen[] | undefined;
    for (const [index, seen] of list.entries()) {
      const path = base + seen.path;
      const found = compare(seen, path, mayLead);
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
