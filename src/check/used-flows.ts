import { resolve } from 'node:path';
import { relativePath } from '../util/inside.js';
import type { UsedFlow } from './context.js';
import type { CheckWorld } from './world.js';

/** Checks the file of one used flow. The caller passes it, because the two modules would import each other. */
type CheckUsedFile = (file: string, bytes: Buffer, trail: readonly string[]) => Promise<UsedFlow>;

/** Saved flows that were loaded in this check: each is read and checked once. */
export class LoadedFlows {
  readonly byFile = new Map<string, UsedFlow>();
  /** By the name that flows use, at any depth: a used flow may name flows that only it uses. */
  readonly byName = new Map<string, UsedFlow>();
}

interface UsedFlowOptions {
  readonly world: CheckWorld;
  readonly loaded: LoadedFlows;
  /** Absolute paths of the flows that led here, in order. */
  readonly trail: readonly string[];
  readonly check: CheckUsedFile;
}

/** Loads every flow that a value uses by a fixed name, in advance, because the check itself is synchronous. */
export async function loadUsedFlows(value: unknown, options: UsedFlowOptions): Promise<ReadonlyMap<string, UsedFlow>> {
  const own = new Map<string, UsedFlow>();
  for (const ref of usedNames(value)) own.set(ref, await loadUsed(ref, options));
  const { byName } = options.loaded;
  for (const [ref, used] of own) if ('flow' in used) byName.set(ref, used);
  return new Map([...byName, ...own]);
}

async function loadUsed(ref: string, { world, loaded, trail, check }: UsedFlowOptions): Promise<UsedFlow> {
  const found = world.flow(ref);
  if ('missing' in found) return { problem: found.missing, known: found.known };
  const file = resolve(found.file);
  const from = trail.indexOf(file);
  if (from !== -1) {
    const names = [...trail.slice(from), file].map((path) => relativePath(world.root, path));
    return { problem: `flows use each other in a circle: ${names.join(' → ')}`, circle: true };
  }
  const known = loaded.byFile.get(file);
  if (known) return known;
  const used = await check(file, found.bytes, [...trail, file]);
  loaded.byFile.set(file, used);
  return used;
}

/** Values of `use` without placeholders, anywhere in the phases and in flows written inside them. */
function usedNames(value: unknown, names = new Set<string>()): ReadonlySet<string> {
  if (Array.isArray(value)) for (const item of value) usedNames(item, names);
  else if (typeof value === 'object' && value !== null) {
    const { use, phases, def } = value as Readonly<Record<string, unknown>>;
    if (typeof use === 'string' && !use.includes('{')) names.add(use);
    usedNames(phases, names);
    usedNames(def, names);
  }
  return names;
}
