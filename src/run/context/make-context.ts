import { isInRepository } from '../../memo/fingerprint/git-repository.js';
import { recomputeKey } from '../../memo/identity.js';
import { ObservedFiles } from '../../memo/observed/observed-files.js';
import { sealedIdentity } from '../../memo/sealed-identity.js';
import { storedIdentity } from '../../memo/stored-identity.js';
import type { RunEventBody } from '../../model/event.js';
import type { Failure } from '../../model/failure.js';
import type { DetachedRequest } from '../../process/start-detached.js';
import { type DiskStore, openStore } from '../../store/disk-store.js';
import { isLogLong } from '../../store/index-log.js';
import type { StoreOptions } from '../../store/options.js';
import { openSeal } from '../../store/secret.js';
import { resolveSigningKey } from '../../store/signing-key.js';
import { storeFolder } from '../../store/store-folder.js';
import { encodeTidyRequest } from '../../store/tidy-request.js';
import { formatDuration } from '../../util/duration.js';
import { once } from '../../util/remembered.js';
import { statIfThere } from '../../util/stat.js';
import { startTimer } from '../../util/timer.js';
import type { PriorResults } from '../continue/prior-results.js';
import { Admission } from '../core/admission.js';
import { Ledger } from '../core/budget.js';
import { moneyCannotBeHeld } from '../core/held-budget.js';
import { downstreamOf } from '../core/neighbours.js';
import type { RunOptions } from '../core/options.js';
import { OutputFolder, outputsBeside } from '../core/output-folder.js';
import { Secrets, scopeSecrets } from '../core/secrets.js';
import { EffectsLedger } from '../effects/ledger.js';
import { Slots } from '../execute/slots.js';
import { LastRun } from '../history/last-run.js';
import { journalOf, runFolder } from '../history/runs-folder.js';
import type { ResultLine } from '../journal/lines.js';
import { readLineAt } from '../journal/reader.js';
import type { JournalWriter, LinePlace } from '../journal/writer.js';
import { declaredFiles } from '../reuse/declared-files.js';
import { KeptEntries } from '../reuse/kept-entries.js';
import { SharedResults } from '../reuse/shared-results.js';
import type { RunContext, RunLimits, RunReuse, Scheduler } from './context.js';
import { NestedFlows } from './nested-flows.js';
import { RunnerPool } from './runner-pool.js';
import { openWorld } from './world.js';

const DEFAULT_CONCURRENCY = 8;

export interface ContextParts {
  readonly scheduler: Scheduler;
  readonly options: RunOptions;
  readonly runId: string;
  readonly journal: JournalWriter;
  readonly prior: PriorResults;
  readonly emit: (event: RunEventBody) => void;
  readonly warn: (message: string) => void;
  readonly flowId: string;
  readonly argsDigest: string;
  /** The run before this one, to say what changed since. */
  readonly previousRun: string | undefined;
}

/** Puts the services of a run together. Nothing is opened or started before it is used. */
export async function makeContext(parts: ContextParts): Promise<RunContext | { readonly refused: Failure }> {
  const { options, runId, journal, emit } = parts;
  const { project, flow, config } = options;
  const folder = storeFolder(project, config);
  if ('problem' in folder) return { refused: { code: 'bad-input', message: folder.problem, hint: folder.hint } };
  const storeDir = folder.dir;
  const key = resolveSigningKey(config, project);
  const local = options.reuse === 'off' ? undefined : openRunStore(parts, storeDir, key);
  if (local && 'refused' in local) return local;
  const runners = new RunnerPool(options);
  const nested = new NestedFlows(project, {
    runners: Object.keys(config.runners),
    models: Object.keys(config.models),
  });
  const unpriced = await moneyCannotBeHeld(options, runners, nested);
  if (unpriced) return { refused: unpriced };
  const secrets = new Secrets();
  secrets.add(flow.args, options.args);
  const admission = new Admission();
  const limit = interruption(parts, admission);
  const store = local && (await withShared(local, parts, limit.signal));
  const from = options.selection?.from;
  const context: RunContext = {
    options,
    runId,
    runDir: runFolder(project, runId),
    io: {
      journal,
      emit: (event) => emit(secrets.any ? (secrets.maskValue(event as never) as RunEventBody) : event),
      warn: (message) => parts.warn(secrets.mask(message)),
      secrets,
      outputs: new OutputFolder({
        folder: outputsBeside(journalOf(project, runId)),
        limit: config.limits.outputBytes,
        secrets,
      }),
      readBack: (place) => readBack(journal, place),
    },
    limits: {
      ...concurrencyOf(options),
      ledger: new Ledger(options.maxUSD === undefined ? flow.budget : { ...flow.budget, maxUSD: options.maxUSD }),
      admission,
      signal: limit.signal,
      endsAt: options.timeoutMs === undefined ? undefined : project.clock.elapsed() + options.timeoutMs,
      background: new Set(),
      executions: { count: 0 },
      processes: { started: 0, marked: 0 },
    },
    reuse: reuseOf(parts, { store, storeDir, key, secrets, signal: limit.signal }),
    flows: {
      nested,
      runners,
      runScope: (scope, signal) => parts.scheduler.runScope(context, scope, signal),
      rerunPhase: (again) => parts.scheduler.rerunPhase(context, again),
      following: from === undefined ? new Set() : downstreamOf(flow, from),
    },
    close: limit.clear,
  };
  return context;
}

function concurrencyOf({
  concurrency,
  flow,
  config,
  workers,
}: RunOptions): Pick<RunLimits, 'slots' | 'away' | 'atOnce'> {
  const slots = new Slots(concurrency ?? flow.concurrency ?? config.concurrency ?? DEFAULT_CONCURRENCY);
  if (!workers) return { slots, atOnce: slots.size };
  const away = new Slots(concurrency ?? flow.concurrency ?? workers.concurrency);
  return { slots, away, atOnce: Math.max(slots.size, away.size) };
}

interface ReuseParts {
  readonly store: DiskStore | undefined;
  readonly storeDir: string;
  readonly key: ReturnType<typeof resolveSigningKey>;
  readonly secrets: Secrets;
  readonly signal: AbortSignal;
}

function reuseOf(parts: ContextParts, { store, storeDir, key, secrets, signal }: ReuseParts): RunReuse {
  const { options, runId, prior, flowId, argsDigest, previousRun } = parts;
  const { project } = options;
  const world = options.world ?? openWorld(project, storeDir, { runCommands: !options.forecast });
  world.endWith(signal);
  // A run without a store needs it for its keys too: a run with a store may continue it.
  const seal = store?.seal ?? openSeal({ dir: storeDir, signingKey: 'key' in key ? key.key : undefined });
  const { fingerprints, stats } = world;
  const observed = new ObservedFiles({ project, stats, touches: () => fingerprints.touches });
  return {
    store,
    fingerprints,
    stats,
    observed,
    prior,
    shared: new SharedResults(),
    effects: new EffectsLedger({ project, runId, flowId, argsDigest }),
    last: new LastRun(
      () => (previousRun === undefined ? undefined : journalOf(project, previousRun)),
      store,
      () => project.clock.now(),
    ),
    kept: new KeptEntries(store?.options),
    outputFiles: declaredFiles({ project, store, stats, secrets, look: options.forecast === true }),
    inRepository: once(() => isInRepository(project)),
    sealedIdentity: (identity, scope) => sealedIdentity(identity, { seal, secrets: scopeSecrets(options, scope) }),
    sealsAreShared: 'key' in key && key.key !== undefined,
    storedIdentity: (identity, length) => storedIdentity(identity, { seal, secrets: secrets.values, length }),
    tidyStore: () => {
      stats.flush();
      return tidy(store, { ...options, signal });
    },
  };
}

function readBack(journal: JournalWriter, place: LinePlace): ResultLine | undefined {
  journal.flush();
  const line = readLineAt(journal.path, place);
  return line && (line.type === 'unit' || line.type === 'phase') ? line : undefined;
}

/** Records what was used, and collects garbage if the run has added to the store or the list of uses is long. */
async function tidy(
  store: DiskStore | undefined,
  { signal, tidier }: { readonly signal: AbortSignal } & Pick<RunOptions, 'tidier'>,
): Promise<void> {
  if (!store) return;
  store.log.flush();
  const hasAdded = store.added.entries > 0 || store.added.bytes > 0;
  if (signal.aborted || (!hasAdded && !isLogLong(store.options.dir))) return;
  const { maybeCollect } = await import('../../store/maybe-collect.js');
  const { startDetached } = await import('../../process/start-detached.js');
  const later = (options: StoreOptions) => {
    const request = tidyRequest(options, tidier);
    if (request) void startDetached(request);
    return request !== undefined;
  };
  try {
    await maybeCollect(store, later);
  } catch {
    // The store's folder has a problem, reported when it mattered; the next run that adds to the store tries again.
  }
}

/** Undefined where there is no program for it. */
function tidyRequest(options: StoreOptions, tidier: string | undefined): DetachedRequest | undefined {
  if (tidier === undefined || !statIfThere(tidier)) return undefined;
  const argv = [process.execPath, tidier];
  return { argv, cwd: options.dir, env: options.project.env, input: encodeTidyRequest(options) };
}

function openRunStore(
  { options, warn }: ContextParts,
  dir: string,
  key: ReturnType<typeof resolveSigningKey>,
): DiskStore | { refused: Failure } {
  const { project, config } = options;
  const { maxBytes, maxEntries, maxAgeMs } = config.cache;
  if ('problem' in key) {
    return {
      refused: { code: 'bad-input', message: key.problem, hint: 'See cache.signingKey in `taskflow config list`.' },
    };
  }
  return openStore({ dir, project, limits: { maxBytes, maxEntries, maxAgeMs }, signingKey: key.key, onWarning: warn });
}

/** With the shared store behind it, if there is one. A forecast asks it only if it is to bring what it finds. */
async function withShared(store: DiskStore, { options, warn }: ContextParts, signal: AbortSignal): Promise<DiskStore> {
  const { config, forecast, remote = forecast ? 'off' : 'on' } = options;
  if (!config.cache.remote || remote === 'off') return store;
  const { shareStore } = await import('../../remote/shared-store.js');
  return shareStore(store, { config, warn, signal, recomputeKey });
}

function tooLong(timeoutMs: number): Failure {
  return {
    code: 'timeout',
    message: `the run took longer than --timeout allows (${formatDuration(timeoutMs)})`,
    hint: 'Give it more time and run again: what is done is kept.',
  };
}

/** Ends the run when the person or its time limit says so. */
function interruption({ options, warn }: ContextParts, admission: Admission): { signal: AbortSignal; clear(): void } {
  const controller = new AbortController();
  const stop = (failure: Failure) => {
    admission.close(failure);
    controller.abort(failure);
  };
  const onAbort = () => stop({ code: 'interrupted', message: 'interrupted' });
  if (options.signal?.aborted) onAbort();
  else options.signal?.addEventListener('abort', onAbort, { once: true });
  const { timeoutMs } = options;
  const onLimit = (failure: Failure) => {
    warn(failure.message);
    stop(failure);
  };
  const timer = timeoutMs === undefined ? undefined : startTimer(timeoutMs, () => onLimit(tooLong(timeoutMs)));
  return {
    signal: controller.signal,
    clear: () => {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', onAbort);
    },
  };
}
