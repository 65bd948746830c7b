import type { Identity } from '../../memo/identity.js';
import { NO_USAGE } from '../../model/outcome.js';
import type { PhaseContext } from '../context/phase-context.js';
import { type Execution, failedBefore, type Settled } from '../core/execution.js';
import type { DeclaredFile, Travelling, UnitAnswer, UnitJob } from '../core/unit-job.js';
import { mayNotStart, slotOf } from '../execute/with-slot.js';
import { render } from '../render/render.js';
import { getOptions, type LookUp, lookUp } from './from-store.js';
import { type Found, ran } from './settle.js';
import { whyStays } from './travels.js';

/** Work that may be done on another machine. */
interface AwayWork {
  readonly at: PhaseContext;
  readonly found: Found;
  readonly unit?: string;
  readonly travelling: Travelling;
  readonly reason: string;
  readonly begin: () => unknown;
}

/** Has the work done on another machine. Undefined: it is to be done here. */
export async function doneElsewhere(work: AwayWork): Promise<Settled | undefined> {
  const { at, found, travelling, reason } = work;
  const { workers } = at.run.options;
  const { away } = at.run.limits;
  if (!workers || !away || whyStays(at, found, travelling) !== undefined) return undefined;
  const release = await slotOf(at, { runner: await runnerOf(at, travelling), slots: away });
  try {
    const closed = mayNotStart(at);
    if (closed) return ran(at, found, { execution: failedBefore(closed), reason });
    const answer = await workers.send(jobOf(work), {
      files: declaredFiles(found.identity),
      signal: at.signal,
      onBegun: () => void work.begin(),
      onNews: (news) => {
        if (at.run.options.progress === 'none') return;
        at.run.io.emit({ type: 'phase-progress', phase: at.path, unit: work.unit, ...news });
      },
      isStored: async () => 'settled' in (await fromShared(at, found)),
    });
    return await settled(work, answer);
  } finally {
    release();
  }
}

/** Its bounds hold on all machines together: who sends the work keeps to them. */
async function runnerOf(at: PhaseContext, { body }: Travelling) {
  if (body?.type !== 'task') return undefined;
  const pooled = await at.run.flows.runners.get(String(body.agent['runner']), undefined);
  return 'failure' in pooled ? undefined : pooled;
}

async function settled(work: AwayWork, answer: UnitAnswer): Promise<Settled | undefined> {
  const { at, found, reason } = work;
  const { ledger } = at.run.limits;
  if ('stays' in answer) {
    if (answer.usage) ledger.spend(answer.usage);
    if (!at.signal.aborted) at.run.io.warn(`${at.phase.id} is done here: ${answer.stays}`);
    return undefined;
  }
  work.begin();
  const { worker = 'a worker', attempts = 1, inputs } = answer;
  const remark = `on ${worker}`;
  if ('failure' in answer) {
    const { status, failure, usage = NO_USAGE, durationMs = 0 } = answer;
    ledger.spend(usage);
    const execution = { ...failedBefore(failure), status, usage, durationMs, attempts, inputs, remark };
    return ran(at, found, { execution, reason });
  }
  const result = await fromShared(at, found);
  if ('miss' in result) {
    const why = result.miss ?? 'the shared cache does not have it';
    if (answer.usage) ledger.spend(answer.usage);
    at.run.io.warn(`${at.phase.id} is done here: what ${worker} made cannot be used (${why})`);
    return undefined;
  }
  const { output, files, model, facts, seen, cost } = result.settled.result;
  const { usage = cost.usage, durationMs = cost.durationMs } = answer;
  ledger.spend(usage);
  const made = { output, files, model, facts, seen, usage, durationMs };
  const execution: Execution = { status: 'done', ...made, attempts, inputs, remark };
  return { ...ran(at, found, { execution, reason }), kept: true };
}

/** The result as the shared store has it, brought into the local one. */
async function fromShared(at: PhaseContext, found: Found): Promise<LookUp> {
  const { store } = at.run.reuse;
  const fetch = async (key: string) => (await store?.fetch?.(key, getOptions(at, found))) ?? { miss: undefined };
  const fetched = await fetch(found.key);
  const result = await lookUp(at, found, fetch);
  return 'miss' in result && 'miss' in fetched ? { miss: fetched.miss ?? result.miss } : result;
}

function jobOf({ at, found: { key, identity }, unit, travelling }: AwayWork): UnitJob {
  const { scope, phase, run, path } = at;
  const { id, kind, retry, timeoutMs, idleTimeoutMs, output, expect, contextLimit, cache } = phase;
  return {
    ...travelling,
    body: travelling.body!,
    key,
    runId: run.runId,
    path,
    unit,
    flow: { name: scope.flow.name, idleTimeoutMs: scope.flow.idleTimeoutMs },
    phase: {
      ...{ id, kind, retry, timeoutMs, idleTimeoutMs, output, expect, contextLimit },
      context: contextOf(at, identity),
      outputs: identity.outputs,
      cache: { ...cache, fingerprint: identity.fingerprints.map(({ entry }) => entry) },
    },
    upstream: identity.upstream,
  };
}

/** Patterns are matched again where the task is done; whatever differs there makes another key. */
function contextOf(at: PhaseContext, { context }: Identity): readonly string[] {
  const patterns = at.phase.context.map((entry) => render(at, entry, undefined));
  if (patterns.every(({ unresolved }) => unresolved.length === 0)) return patterns.map(({ text }) => text);
  return context.flatMap(({ path }) => (typeof path === 'string' ? [path] : []));
}

/** Each file that the identity names with its digest: what the unit may read. */
function declaredFiles({ fingerprints, context, upstream }: Identity): readonly DeclaredFile[] {
  const files = new Map<string, DeclaredFile>();
  const add = (path: string, digest: unknown, mode?: number) => {
    if (typeof digest === 'string') files.set(path, { path, digest, ...(mode !== undefined && { mode }) });
  };
  for (const { entry, value, parts } of fingerprints) {
    if (entry.startsWith('file:')) add(entry.slice('file:'.length).trim(), value);
    if (entry.startsWith('glob')) for (const [path, digest] of Object.entries(parts ?? {})) add(path, digest);
  }
  for (const { path, whole } of context) if (typeof path === 'string') add(path, whole);
  for (const part of upstream) {
    if (!('files' in part)) continue;
    for (const [path, value] of Object.entries(part.files)) {
      const [digest, mode] = String(value).split(':');
      add(path, digest, Number(mode));
    }
  }
  return [...files.values()];
}
