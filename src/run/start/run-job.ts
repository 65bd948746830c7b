import { devNull } from 'node:os';
import { strongKey } from '../../memo/identity.js';
import type { RunEventBody } from '../../model/event.js';
import type { Flow, Phase } from '../../model/flow.js';
import type { Store } from '../../store/store.js';
import type { RunContext } from '../context/context.js';
import { makeContext } from '../context/make-context.js';
import { phaseContext } from '../context/phase-context.js';
import { PriorResults } from '../continue/prior-results.js';
import type { Settled } from '../core/execution.js';
import type { RunOptions } from '../core/options.js';
import { runGroup } from '../core/run-group.js';
import { ownScope } from '../core/scope.js';
import type { UnitJob } from '../core/unit-job.js';
import { windDown } from '../execute/leftovers.js';
import { JournalWriter } from '../journal/writer.js';
import { identify } from '../reuse/identify.js';
import { memoized } from '../reuse/memoized.js';
import { scheduler } from '../schedule/scheduler.js';
import { prepareJob } from '../units/from-job.js';

interface JobOptions extends Pick<RunOptions, 'project' | 'config' | 'signal'> {
  readonly job: UnitJob;
  /** Names what the job starts; no other job on this machine has it. */
  readonly runId: string;
  /** Brings what the shared store has into the local one. */
  readonly fetch: NonNullable<Store['fetch']>;
  readonly emit: (event: RunEventBody) => void;
}

/** `keys`: under which the local store has the result, the one that the others lead to first. */
type JobEnd =
  | { readonly settled: Settled; readonly keys: readonly string[] }
  /** It cannot be done here as it was meant: nothing was started. */
  | { readonly refused: string };

/** Executes one unit that another process has sent, unless its result is there. Nothing is journaled. */
export async function runJob(options: JobOptions): Promise<JobEnd> {
  const context = await contextFor(options);
  if ('refused' in context) return { refused: context.refused.message };
  try {
    return await execute(context, options);
  } finally {
    await windDown(context);
    context.close();
    await context.reuse.tidyStore();
  }
}

async function execute(run: RunContext, { job }: JobOptions): Promise<JobEnd> {
  const { flow } = run.options;
  const scope = ownScope({ flow, args: {} }, run.limits.admission);
  const at = phaseContext({ run, scope, phase: flow.phases[0]! });
  const prepared = await prepareJob(at, job);
  if ('failure' in prepared) return { refused: prepared.failure.message };
  const parts = { ...prepared.parts, upstream: job.upstream };
  const known = await identify(at, parts);
  if ('unidentified' in known) return { refused: known.unidentified };
  if (known.key !== job.key) return { refused: OTHER_KEY };
  const { execute: perform, beginsItself } = prepared;
  const record = () => ({ offset: 0, length: 0 });
  const settled = await memoized(at, { parts, private: false, execute: perform, beginsItself, record });
  const { seen } = settled.result;
  return { settled, keys: seen ? [strongKey(job.key, seen.value), job.key] : [job.key] };
}

const OTHER_KEY = 'it would make something else there: a file, a variable or the settings of its runner differ';

/** Whose turn it is, the queue decides: a claim of a worker that was stopped would hold up the one that takes over. */
const NO_CLAIM = { unavailable: 'the queue decides' } as const;

/** A context with the local store, behind which the shared one is asked; uploads are for the caller. */
async function contextFor({ job, fetch, runId, emit, ...given }: JobOptions) {
  const flow = flowOf(job);
  const options: RunOptions = { ...given, flow, args: {}, source: { ref: flow.name, byName: false }, remote: 'off' };
  const context = await makeContext({
    options,
    scheduler,
    runId,
    journal: new JournalWriter(devNull),
    prior: new PriorResults({ how: 'none', journal: devNull }),
    emit,
    warn: () => {},
    ...runGroup(options),
    previousRun: undefined,
  });
  if ('refused' in context || !context.reuse.store) return context;
  const store = { ...context.reuse.store, fetch, claim: async () => NO_CLAIM };
  return { ...context, reuse: { ...context.reuse, store } };
}

/** The phase of the job as a flow of its own. */
function flowOf({ flow, phase }: UnitJob): Flow {
  const rest = { needs: [], join: 'all', optional: false, final: true, idempotent: true } as const;
  return {
    ...flow,
    args: {},
    agentScope: 'project',
    incremental: false,
    strictInterpolation: true,
    phases: [{ ...phase, ...rest } as unknown as Phase],
    result: phase.id,
  };
}
