import { join } from 'node:path';
import { uncovered } from '../../memo/files/select-paths.js';
import { changedInputs } from '../../memo/observed/changed-inputs.js';
import { type LookedAt, marksOf, namesIn, stateOf } from '../../memo/observed/observed-files.js';
import type { ListedFolder, Observation, PathSet, SeenInputs } from '../../model/observation.js';
import { lstatIfThere } from '../../util/stat.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { Execution } from '../core/execution.js';
import { coveringOutputs } from './covering-outputs.js';
import { anyNameIn, countedPaths, declaredAmong } from './declared-paths.js';
import { withoutFlowOutputs } from './flow-outputs.js';
import type { Found } from './settle.js';
import type { Watch } from './watch-inputs.js';

/** What an execution looked at, as its result can be found by it; or why the result may not be kept. */
export type Seen = { readonly seen?: SeenInputs } | { readonly unkept: string };

/** An execution that was watched. */
export interface Watched {
  readonly found: Found;
  readonly watch: Watch;
  readonly observed: Observation;
}

/** An execution that was watched, with what it looked at. */
export async function withSeen(
  at: PhaseContext,
  execution: Execution,
  { found, watch }: Pick<Watched, 'found' | 'watch'>,
): Promise<Execution> {
  const { observed } = execution;
  const result: Seen = observed ? await seenInputs(at, { found, watch, observed }) : {};
  if ('seen' in result && hasSecret(at, result.seen)) {
    return { ...execution, unkeepable: execution.unkeepable ?? 'a path that it looked at holds a secret argument' };
  }
  if ('unkept' in result) return { ...execution, unkeepable: execution.unkeepable ?? result.unkept };
  const unkeepable = execution.unkeepable ?? whyUnsure(at, observed);
  return { ...execution, ...result, ...(unkeepable !== undefined && { unkeepable }) };
}

/** Where nobody followed it, what is declared decides; where somebody lost it, nobody knows what it was made from. */
function whyUnsure({ policy }: PhaseContext, observed: Observation | undefined): string | undefined {
  const why = observed?.incomplete ?? 'nobody could look';
  if (policy.observe.mode === 'strict' && !observed?.complete) return `observe: strict, and not all was seen: ${why}`;
  return observed?.trouble ? `not all that it read was seen: ${why}` : undefined;
}

/** Decides what of an observation counts. In doubt the result is not kept. */
async function seenInputs(at: PhaseContext, { found, watch, observed }: Watched): Promise<Seen> {
  const counted = await countedPaths(observed, at.policy.observe);
  const unkept = await undeclaredWrite(at, found, counted);
  if (unkept !== undefined) return { unkept };
  const { identity } = found;
  const written = new Set(counted.writes);
  const own = withFolders(counted.writes);
  const { present = [] } = counted;
  const paths = [...counted.reads, ...counted.absent, ...present, ...counted.lists.map(anyNameIn)];
  const { root: cwd, env } = at.run.options.project;
  const declared = await declaredAmong(paths, identity, { cwd, env, signal: at.signal });
  const isOpen = (path: string) => !declared.has(path);
  const set = {
    complete: counted.complete,
    reads: counted.reads.filter(isOpen),
    lists: withoutFlowOutputs(
      at,
      counted.lists.filter((folder) => isOpen(anyNameIn(folder))),
    ),
    // What it looked for and then made itself is its own output.
    absent: counted.absent.filter((path) => isOpen(path) && !own.has(path)),
    present: present.filter((path) => isOpen(path) && !own.has(path)),
    marks: [],
  };
  return stateNow(at, set, { ...watch, written });
}

/** Its files, and the folders that it may have found or made for them. */
function withFolders(written: readonly string[]): ReadonlySet<string> {
  const own = new Set(written);
  for (const path of written) {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) own.add(path.slice(0, end));
  }
  return own;
}

async function undeclaredWrite(
  at: PhaseContext,
  { identity }: Found,
  { source, writes }: Observation,
): Promise<string | undefined> {
  // What a client says it wrote was looked at with its answer.
  if (source !== 'system' || writes.length === 0) return undefined;
  const path = await uncovered(writes, [...identity.outputs, ...(await coveringOutputs(at))]);
  return path === undefined ? undefined : `it wrote ${path}, which \`outputs\` does not name`;
}

type Moment = Watch & { readonly written: ReadonlySet<string> };

async function stateNow({ run }: PhaseContext, set: PathSet, moment: Moment): Promise<Seen> {
  const { root } = run.options.project;
  const looked = await run.reuse.observed.look(set);
  const [appeared] = looked.appeared;
  if (appeared !== undefined) return { unkept: `${appeared} appeared while the phase ran` };
  const [gone] = looked.gone;
  if (gone !== undefined) return { unkept: `${gone} disappeared while the phase ran` };
  const digests = [...looked.digests];
  for (const [index, path] of set.reads.entries()) {
    const stat = lstatIfThere(join(root, path));
    if (stat && stat.ctimeMs < moment.start && !moment.written.has(path)) continue;
    if (!moment.written.has(path)) return { unkept: `${path} changed while the phase ran` };
    const before = moment.before.get(path);
    if (before === undefined) return { unkept: `it read ${path} and then wrote it` };
    digests[index] = before;
  }
  const other = set.lists.find((folder) => hasOthers(root, folder, moment));
  if (other) return { unkept: `the listing of ${other.path}/ changed while the phase ran` };
  const now: LookedAt = { ...looked, digests };
  return { seen: { set: { ...set, marks: marksOf(now) }, value: stateOf(set, now)! } };
}

/** Somebody else made, moved or removed names in a folder that the execution listed. */
function hasOthers(root: string, folder: ListedFolder, { start, written }: Moment): boolean {
  const absolute = join(root, folder.path);
  const stat = lstatIfThere(absolute);
  if (!stat) return true;
  if (stat.ctimeMs < start) return false;
  // The execution itself has changed the folder: then the names say who was there before.
  const inFolder = (name: string) => (folder.path === '.' ? name : `${folder.path}/${name}`);
  const isOurs = folder.own.length > 0 || [...written].some((path) => inFolder(path.split('/').at(-1)!) === path);
  if (!isOurs) return true;
  const isNew = (name: string) => (lstatIfThere(join(absolute, name))?.ctimeMs ?? start) >= start;
  return (namesIn(absolute, folder) ?? ['']).some((name) => !written.has(inFolder(name)) && isNew(name));
}

function hasSecret({ run }: PhaseContext, seen: SeenInputs | undefined): boolean {
  const { secrets } = run.io;
  if (!secrets.any || !seen) return false;
  const text = JSON.stringify(seen.set);
  return secrets.mask(text) !== text;
}

/** What changed since at the paths that an execution looked at, in words; undefined when nothing did. */
export async function changedSinceSeen(
  { run, policy }: PhaseContext,
  { set, value }: SeenInputs,
): Promise<string | undefined> {
  if (policy.observe.mode === 'off') return undefined;
  const now = await run.reuse.observed.look(set);
  return stateOf(set, now) === value ? undefined : (changedInputs(set, now) ?? 'what it read changed since');
}
