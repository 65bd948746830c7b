import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import type { JsonValue } from '../../model/json.js';
import type { Kind } from '../../model/kind.js';
import type { SeenInputs } from '../../model/observation.js';
import type { Output, OutputFile, Usage } from '../../model/outcome.js';
import { storeFolder } from '../../store/store-folder.js';
import { canonicalEncode } from '../../util/canonical.js';
import { digestFile } from '../../util/digest-file.js';
import { statIfThere } from '../../util/stat.js';
import type { PhaseContext } from '../context/phase-context.js';
import { openWorld } from '../context/world.js';
import { Admission } from '../core/admission.js';
import type { ReusedWork } from '../core/made-phase.js';
import type { RunOptions } from '../core/options.js';
import { readText } from '../core/output-text.js';
import { ownScope } from '../core/scope.js';
import { runScope } from '../schedule/schedule.js';
import { openRun, type RunRefused } from '../start/open-run.js';
import { ForecastJournal } from './forecast-journal.js';

/** One kept result that was executed again. */
export interface Audited {
  readonly phase: string;
  readonly unit?: string;
  readonly kind: Kind;
  /** Whether an agent made it: two good answers may differ. */
  readonly isAgent: boolean;
  /** What the agent was asked. */
  readonly task: JsonValue;
  readonly result: 'same' | 'different' | 'failed';
  readonly before: string;
  readonly now: string;
  /** Files of `outputs` that are not what they were; they were put back. */
  readonly files: readonly string[];
  /** How many undeclared paths were looked at, when it was made and now; undefined where nobody looked. */
  readonly observed: { readonly before?: number; readonly now?: number };
  /** Undeclared paths that it looked at now and not when it was made. */
  readonly news: readonly string[];
  readonly usage: Usage;
  readonly message?: string;
  /** What a judge thinks of a difference. */
  readonly opinion?: { readonly same: boolean; readonly reason: string };
}

export interface Audit {
  readonly flow: string;
  /** Kept results that the flow would reuse now, and those of them that are one call or process each. */
  readonly hits: number;
  readonly audited: readonly Audited[];
}

export interface AuditPlan {
  readonly hits: number;
  readonly chosen: readonly { readonly phase: string; readonly unit?: string; readonly usage: Usage }[];
}

/** Where results are executed again. */
export type AuditSite = Pick<PhaseContext, 'run' | 'scope'>;

interface AuditRequest {
  /** From 0 to 1: how many of the hits. At least one is taken. */
  readonly sample: number;
  /** Fingerprints may ask commands. */
  readonly mayAsk: boolean;
  /** False: nothing is executed. */
  readonly confirm: (plan: AuditPlan) => Promise<boolean>;
  readonly judge?: (at: AuditSite, audited: Audited) => Promise<Audited['opinion']>;
  readonly onAudited?: (audited: Audited) => void;
}

/** Executes a sample of what a flow would reuse again, beside the store, and compares. Nothing of it is kept. */
export async function auditRun(options: RunOptions, request: AuditRequest): Promise<Audit | RunRefused> {
  const { project, config, flow } = options;
  const folder = storeFolder(project, config);
  const world = 'problem' in folder ? undefined : openWorld(project, folder.dir, { runCommands: request.mayAsk });
  const hits: ReusedWork[] = [];
  const session = await openRun({ ...options, world, onReused: (hit) => hits.push(hit) }, forecastInto());
  if ('refused' in session) return session;
  const { context } = session;
  const at: AuditSite = { run: context, scope: ownScope(options, new Admission()) };
  const result = await runScope(context, at.scope, context.limits.signal);
  // What consists of other work, and has its own result, is made by calls and processes that are audited themselves.
  const single = hits.filter(({ isSingle, phase }) => isSingle && phase.idempotent);
  const chosen = pick(single, request.sample);
  const plan = chosen.map(({ path, unit, settled }) => ({ phase: path, unit, usage: settled.result.cost.usage }));
  const audited: Audited[] = [];
  if (chosen.length > 0 && (await request.confirm({ hits: single.length, chosen: plan }))) {
    for (const reused of chosen) {
      if (context.limits.signal.aborted) break;
      const one = await auditOne(at, reused, request);
      request.onAudited?.(one);
      audited.push(one);
    }
  }
  session.end(result);
  return { flow: flow.name, hits: single.length, audited };
}

function forecastInto() {
  return { forecastInto: new ForecastJournal() };
}

function pick<T>(all: readonly T[], sample: number): readonly T[] {
  const rest = [...all];
  const wanted = rest.length === 0 ? 0 : Math.max(1, Math.round(rest.length * sample));
  const chosen: T[] = [];
  while (chosen.length < wanted) chosen.push(...rest.splice(randomInt(rest.length), 1));
  return all.filter((one) => chosen.includes(one));
}

async function auditOne(at: AuditSite, reused: ReusedWork, { judge }: AuditRequest): Promise<Audited> {
  const { path, unit, phase, identity } = reused;
  const { output, files: kept, seen } = reused.settled.result;
  const now = await reused.again();
  const files = await changedFiles(at, kept);
  const known = new Set(seen ? pathsOf(seen) : []);
  const isSame = files.length === 0 && sameOutput(output, now.result.output);
  const message = now.failure?.message ?? now.result.unkeepable;
  const seenNow = now.result.seen && pathsOf(now.result.seen);
  const audited: Audited = {
    phase: path,
    unit,
    kind: phase.kind,
    isAgent: identity.agent !== null,
    task: identity.body['task'] ?? null,
    result: now.status !== 'done' ? 'failed' : isSame ? 'same' : 'different',
    before: textOf(output),
    now: textOf(now.result.output),
    files,
    observed: { before: seen && known.size, now: seenNow?.length },
    news: seenNow?.filter((path) => !known.has(path)) ?? [],
    usage: now.usage,
    ...(message !== undefined && { message }),
  };
  if (audited.result !== 'different' || !audited.isAgent || !judge) return audited;
  const opinion = await judge(at, audited);
  return opinion ? { ...audited, opinion } : audited;
}

/** The files of the kept result that are other ones now. They are put back as they were kept. */
async function changedFiles({ run }: AuditSite, files: readonly OutputFile[]): Promise<readonly string[]> {
  const changed: string[] = [];
  for (const file of files) {
    const absolute = join(run.options.project.root, file.path);
    if (await isAsKept(absolute, file)) continue;
    changed.push(file.path);
    run.reuse.store?.blobs.restore(file.digest, absolute, file.mode);
  }
  if (changed.length > 0) run.reuse.fingerprints.touched();
  return changed;
}

async function isAsKept(absolute: string, { digest }: OutputFile): Promise<boolean> {
  const stat = statIfThere(absolute);
  return stat?.isFile() === true && (await digestFile(absolute, stat.size)) === digest;
}

function sameOutput(before: Output, now: Output): boolean {
  return canonicalEncode(before) === canonicalEncode(now) || textOf(before) === textOf(now);
}

function textOf(output: Output): string {
  const read = readText(output);
  return 'text' in read ? read.text : '';
}

function pathsOf({ set: { reads, lists, absent } }: SeenInputs): readonly string[] {
  return [...reads, ...absent, ...lists.map(({ path }) => `${path}/`)];
}
