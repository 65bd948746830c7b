import type { Flow } from '../model/flow.js';
import { checkPlan } from './check-plan.js';
import type { OnAssembleEvent } from './events.js';
import { readRecords } from './folder.js';
import type { AssembledRecord, ReadRecord } from './record.js';
import { type AssembleLimits, DEFAULT_USD } from './request.js';
import { askedIn } from './rounds.js';
import { approve, isApproved } from './user-key.js';
import { changedUses, type UsesWorld } from './uses.js';

/** What to do about a request, given the plans that exist. Deciding starts nothing. */
export type PlanDecision =
  | { readonly do: 'take'; readonly record: AssembledRecord; readonly flow: Flow; readonly from: 'memory' | 'disk' }
  | { readonly do: 'repair'; readonly record: AssembledRecord; readonly changed: readonly string[] }
  /** An attempt was cut short, or may now have more rounds or money than it had. */
  | { readonly do: 'continue'; readonly record: AssembledRecord }
  /** All attempts failed: this is the last one. */
  | { readonly do: 'give-up'; readonly record: AssembledRecord }
  | { readonly do: 'plan' };

export interface DecideOptions extends UsesWorld {
  readonly inputId: string;
  readonly limits: AssembleLimits;
  readonly onEvent: OnAssembleEvent;
  /** Shows a plan of another user and asks whether to use it; without it, such plans are passed over. */
  readonly askForeign?: ((record: AssembledRecord) => Promise<boolean>) | undefined;
}

/** Complete plans of this process, by project and request: a program that assembles many need not look on disk. */
const remembered = new Map<string, AssembledRecord>();

export function remember({ project }: UsesWorld, record: AssembledRecord): void {
  remembered.set(memoryKey(project.root, record.inputId), record);
}

function memoryKey(root: string, inputId: string): string {
  return `${root}\0${inputId}`;
}

export async function decide(looking: DecideOptions): Promise<PlanDecision> {
  const known = remembered.get(memoryKey(looking.project.root, looking.inputId));
  const inMemory = known && (await usable(looking, known));
  if (inMemory && 'flow' in inMemory) return { do: 'take', record: known, flow: inMemory.flow, from: 'memory' };
  const read = readRecords(looking.project, looking.inputId);
  const own = read.filter(
    ({ own, record }) => own || (record.status === 'complete' && isApproved(looking.project, record)),
  );
  let stale: Extract<PlanDecision, { readonly do: 'repair' }> | undefined;
  for (const { record } of own.filter(isComplete)) {
    const found = await usable(looking, record);
    if ('flow' in found) return { do: 'take', record, flow: found.flow, from: 'disk' };
    stale ??= { do: 'repair', record, changed: found.changed };
  }
  const foreign = await fromElsewhere(looking, read);
  if (foreign) return foreign;
  const newest = own[0]?.record;
  if (newest?.status === 'incomplete') return goesOn(newest, looking.limits);
  return stale ?? { do: 'plan' };
}

/** The flow of a record if everything that it uses is unchanged; else what changed. */
async function usable(
  world: UsesWorld,
  record: AssembledRecord,
): Promise<{ readonly flow: Flow } | { readonly changed: readonly string[] }> {
  const changed = await changedUses(record.uses, world);
  if (changed.length > 0) return { changed };
  const checked = await checkPlan(record.flow ?? {}, { ...world, allowScripts: record.allowScripts });
  return 'flow' in checked ? checked : { changed: [`it no longer checks: ${checked.problems[0]}`] };
}

/** A plan that came with the project: a person has to approve it. */
async function fromElsewhere(
  { askForeign, onEvent, ...world }: DecideOptions,
  read: readonly ReadRecord[],
): Promise<PlanDecision | undefined> {
  const found = read.find((one) => isComplete(one) && !one.own && !isApproved(world.project, one.record));
  if (!found) return undefined;
  const { record } = found;
  const flow = await usable(world, record);
  if (!('flow' in flow) || !askForeign || !(await askForeign(record))) {
    onEvent({ type: 'assemble-foreign', id: record.id });
    return undefined;
  }
  approve(world.project, record);
  return { do: 'take', record, flow: flow.flow, from: 'disk' };
}

function isComplete({ record }: ReadRecord): boolean {
  return record.status === 'complete' && record.flow !== undefined;
}

/** An attempt goes on if its last flow was not judged, or if it may spend more now. */
function goesOn(record: AssembledRecord, { maxRounds, maxUSD = DEFAULT_USD }: AssembleLimits): PlanDecision {
  const { ended, rounds, spent } = record;
  const isOver =
    (ended === 'rounds' && askedIn(rounds) >= maxRounds) || (ended === 'money' && (spent.usd ?? 0) >= maxUSD);
  return { do: isOver ? 'give-up' : 'continue', record };
}
