import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { entryPath } from '../../store/paths.js';
import { TOUCH_AFTER_MS } from '../../store/touch.js';
import { canonicalEncode } from '../../util/canonical.js';
import { isReallyInside } from '../../util/inside.js';
import { type Project, prefixOf, shortPath } from '../../util/project.js';
import { lstatIfThere } from '../../util/stat.js';
import type { RunLine } from '../journal/lines.js';
import { endOfRun } from '../run-state.js';
import { lastRunUnder, runFolder } from '../runs-folder.js';
import type { World } from '../world.js';
import { compare, type Seen, see } from './seen.js';
import type { Sheet, SheetRecord } from './sheet.js';

/** What of a sheet is as it was. */
export interface Standing {
  /** All of it, with new figures where only those are others: a run would come to what it says. */
  readonly sheet?: Sheet;
  /** The figures are others: the sheet should be written again. */
  readonly moved?: boolean;
  /** Where not all of it stands: the phases that do, and so does everything above them. */
  readonly phases?: ReadonlyMap<string, SheetRecord>;
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
  const phases = new Map<string, SheetRecord>();
  let world: World | undefined;
  let needs: ReadonlyMap<string, readonly string[]> | undefined;
  for (const record of sheet.records) {
    // Until the first one falls, everything above a phase stands.
    if (needs && !needs.get(record.id)?.every((id) => phases.has(id))) continue;
    const inputs = entryStands(store, record, now, record.ttlMs) && look.inputs(record.inputs);
    if (inputs && record.world) world ??= (await import('../world.js')).openWorld(project, sheet.head.store);
    if (inputs && (!record.world || (await worldStands(record.world, world!)))) {
      phases.set(record.id, inputs === record.inputs ? record : { ...record, inputs });
    } else {
      needs ??= new Map((JSON.parse(sheet.outline) as RunLine['phases']).map((phase) => [phase.id, phase.needs]));
    }
  }
  if (needs) return { phases, files, world };
  if (!look.moved) return { sheet, moved: false };
  return { sheet: { ...sheet, head: { ...sheet.head, files }, records: [...phases.values()] }, moved: true };
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

export type EntryFigures = Pick<SheetRecord, 'key' | 'madeAt' | 'usedAt' | 'entry'>;

/** It is the very file that was read, it may still be used, and the store knows that it is in use. */
export function entryStands(
  store: string,
  { key, madeAt, usedAt, entry }: EntryFigures,
  now: number,
  ttlMs: number | undefined,
): boolean {
  if (now < madeAt || (ttlMs !== undefined && now - madeAt > ttlMs) || now - usedAt >= TOUCH_AFTER_MS) return false;
  const stat = lstatIfThere(entryPath(store, key));
  return stat !== undefined && stat.ctimeMs === entry[2] && stat.ino === entry[0] && stat.size === entry[1];
}

class Look {
  moved = false;

  /** Folders that are where they seem to be: a link in their place could lead out of the project. */
  readonly #places = new Set<string>();

  constructor(
    private readonly now: number,
    private readonly project: Project,
  ) {}

  /** What a phase reads, by paths from the root. */
  inputs(list: readonly Seen[]): readonly Seen[] | undefined {
    if (!list.every(({ path }) => this.#isInPlace(dirname(path)))) return undefined;
    return this.all(list, prefixOf(this.project), (path) => isReallyInside(this.project.root, resolve(path)));
  }

  #isInPlace(folder: string): boolean {
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
