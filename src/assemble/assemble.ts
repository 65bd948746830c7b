import type { Flow } from '../model/flow.js';
import type { JsonObject } from '../model/json.js';
import { NOTHING_SPENT, type Spent } from '../model/outcome.js';
import { VERSION } from '../util/version.js';
import { claimRequest } from './claim.js';
import { type DecideOptions, decide, type PlanDecision, remember } from './decide.js';
import type { OnAssembleEvent } from './events.js';
import { ASSEMBLED_DIR, appendRecord, makeFolder, timestampText } from './folder.js';
import { flowIdOf, inputIdOf } from './identity.js';
import type { AgentCallOptions } from './one-phase.js';
import { type AssembledRecord, type PlanEnding, RECORD_FORMAT } from './record.js';
import type { AssembleLimits, AssembleRequest } from './request.js';
import { type RequestProblem, requestProblems } from './request-problems.js';
import { errorOf, type PlanState, plannerOf, planRounds } from './rounds.js';
import { makeUserKey } from './user-key.js';
import { type Uses, usesOf } from './uses.js';

/** `runner` and `model` write the flow; its own phases have those of the project. */
interface AssembleOptions extends Omit<AgentCallOptions, 'onEvent'> {
  readonly request: AssembleRequest;
  readonly limits: AssembleLimits;
  /** Ignores what is there, and adds to it. */
  readonly replan?: boolean;
  /** The flow may have commands. */
  readonly allowScripts?: boolean;
  readonly onEvent?: OnAssembleEvent;
  readonly askForeign?: DecideOptions['askForeign'];
}

/** How a complete plan was found or made. */
export type How = 'memory' | 'disk' | 'planned' | 'repaired' | 'continued';

export type AssembleOutcome =
  | {
      readonly status: 'complete';
      readonly how: How;
      readonly record: AssembledRecord;
      readonly flow: Flow;
      /** In this call. */
      readonly spent: Spent;
    }
  | {
      readonly status: 'incomplete';
      readonly ended: PlanEnding;
      readonly error: string;
      readonly hint?: string;
      readonly spent: Spent;
      /** Undefined where nothing could be written. */
      readonly record?: AssembledRecord;
      /** The last flow: the only copy where nothing could be written. */
      readonly definition?: JsonObject;
      /** The outcome of an earlier attempt: nothing was tried now. */
      readonly known?: true;
    }
  | { readonly status: 'refused'; readonly problems: readonly RequestProblem[] };

/** A flow for a task: one that is there, or one that the planner writes. Never throws for what can happen outside. */
export async function assemble(options: AssembleOptions): Promise<AssembleOutcome> {
  const { project, request, replan = false, signal, onEvent = () => {} } = options;
  const inputId = inputIdOf({ request });
  const call: Call = { ...options, inputId, onEvent };
  onEvent({ type: 'assemble-start', inputId, task: request.task });
  const first: PlanDecision = replan ? { do: 'plan' } : await decide(call);
  const settled = settledBy(call, first);
  if (settled) return settled;
  const problems = await requestProblems(request);
  if (problems.length > 0) return { status: 'refused', problems };
  const unwritable = makeFolder(project);
  if (unwritable !== undefined) return cannotKeep(unwritable);
  const onWait = (holder: string) => onEvent({ type: 'assemble-waiting', for: holder });
  const claimed = await claimRequest(project, inputId, { ...(signal && { signal }), onWait });
  if ('aborted' in claimed) return { status: 'incomplete', ended: 'interrupted', error: 'interrupted', ...NOTHING };
  if ('failed' in claimed) return cannotKeep(claimed.failed);
  try {
    // Another process may have planned the same since the first look.
    const decision = replan ? first : await decide({ ...call, askForeign: undefined, onEvent: () => {} });
    return settledBy(call, decision) ?? (await planned(call, decision));
  } finally {
    claimed.release();
  }
}

const NOTHING = { spent: NOTHING_SPENT } as const;

interface Call extends AssembleOptions {
  readonly inputId: string;
  readonly onEvent: OnAssembleEvent;
}

function cannotKeep(why: string): AssembleOutcome {
  const error = `${ASSEMBLED_DIR} cannot be written: ${why}`;
  return { status: 'incomplete', ended: 'disk', error, hint: 'Nothing was spent.', ...NOTHING };
}

/** The outcome of a decision that needs no planning. */
function settledBy(call: Call, decision: PlanDecision): AssembleOutcome | undefined {
  if (decision.do === 'take') {
    const { record, flow, from } = decision;
    call.onEvent({ type: 'assemble-found', id: record.id, from });
    remember(call, record);
    return { status: 'complete', how: from, record, flow, ...NOTHING };
  }
  if (decision.do !== 'give-up') return undefined;
  const { record } = decision;
  return {
    status: 'incomplete',
    known: true,
    ended: record.ended,
    error: record.error ?? 'an earlier attempt came to nothing',
    hint: tryAgain(record.ended),
    record,
    ...(record.flow && { definition: record.flow }),
    ...NOTHING,
  };
}

/** How to go on from such an ending. */
function tryAgain(ended: PlanEnding): string | undefined {
  if (ended === 'rounds') return 'A larger --max-rounds goes on from there; --replan starts anew.';
  if (ended === 'money') return 'A larger --max-usd goes on from there; --replan starts anew.';
  if (ended === 'interrupted') return 'The same command goes on from here.';
  if (ended === 'limit') return 'The same command goes on from here, once the limit is reset.';
  return undefined;
}

async function planned(call: Call, decision: PlanDecision): Promise<AssembleOutcome> {
  const { project, config, onEvent } = call;
  const base = decision.do === 'plan' ? undefined : (decision as { readonly record: AssembledRecord }).record;
  if (decision.do === 'repair') onEvent({ type: 'assemble-changed', id: base!.id, changed: decision.changed });
  const goesOn = decision.do === 'continue';
  if (goesOn) onEvent({ type: 'assemble-continues', id: base!.id, rounds: base!.rounds.length });
  const earlier = goesOn ? base!.rounds : [];
  const spentBefore = goesOn ? base!.spent : NOTHING_SPENT;
  const allowScripts = call.allowScripts ?? base?.allowScripts ?? false;
  const writer = new RecordWriter({ ...call, allowScripts }, { base, planner: await plannerOf(call) });
  const start = decision.do === 'repair' ? base!.flow : goesOn ? untried(base!) : undefined;
  const state = await planRounds({
    ...call,
    allowScripts,
    ...(start && { start }),
    earlier,
    spentBefore,
    keep: (now) => writer.write(now),
  });
  const spent = difference(state.spent, spentBefore);
  if (makeUserKey(project) === undefined) onEvent({ type: 'assemble-warning', message: NO_KEY });
  const uses = state.flow && (await usesOf(state.flow, { project, config }));
  const failed = writer.write(state, uses);
  const { record } = writer;
  if (failed !== undefined) {
    const done = state.flow ? 'the flow is good, and ' : '';
    const definition = state.rounds.at(-1)?.flow;
    return { status: 'incomplete', ended: 'disk', error: `${done}${failed}`, spent, ...(definition && { definition }) };
  }
  onEvent({ type: 'assemble-stored', id: record!.id, status: record!.status });
  if (state.flow) {
    remember(call, record!);
    const how = decision.do === 'repair' ? 'repaired' : goesOn ? 'continued' : 'planned';
    return { status: 'complete', how, record: record!, flow: state.flow, spent };
  }
  const { ended, error = 'no flow', hint = tryAgain(ended) } = state;
  return { status: 'incomplete', ended, error, hint, spent, record: record!, definition: record!.flow };
}

const NO_KEY =
  'there is no folder of your own to keep a key in (~/.cache/taskflow): the next call will not know this plan as yours';

/** The flow of a round that was cut short: it was not tried to the end. */
function untried({ rounds }: AssembledRecord): JsonObject | undefined {
  const last = rounds.at(-1);
  return last && errorOf(last) === undefined ? last.flow : undefined;
}

function difference(now: Spent, before: Spent): Spent {
  return { usd: now.usd === null ? null : now.usd - (before.usd ?? 0), tokens: now.tokens - before.tokens };
}

const NO_USES: Uses = { agents: {}, runners: {}, flows: {} };

/** Writes the states of one attempt, each as a record of its own. */
class RecordWriter {
  /** The last one that was written. */
  record: AssembledRecord | undefined;
  readonly #attempt: string;

  constructor(
    private readonly call: Call & { readonly allowScripts: boolean },
    private readonly facts: { base: AssembledRecord | undefined; planner: { runner: string; model?: string } },
  ) {
    this.#attempt = `${timestampText(call.project.clock.now())}-${process.pid}`;
  }

  /** Returns what went wrong. */
  write({ ended, rounds, spent, error }: PlanState, uses: Uses = NO_USES): string | undefined {
    const { project, request, inputId, allowScripts } = this.call;
    const { base, planner } = this.facts;
    const flow = rounds.findLast((round) => round.flow)?.flow;
    const written = appendRecord(project, {
      format: RECORD_FORMAT,
      attempt: this.#attempt,
      inputId,
      flowId: flow ? flowIdOf(flow) : 'none',
      at: project.clock.now(),
      status: ended === 'complete' ? 'complete' : 'incomplete',
      ended,
      ...(error !== undefined && { error }),
      ...request,
      ...(flow && { flow }),
      allowScripts,
      rounds,
      ...(base && { from: base.id }),
      spent,
      ...planner,
      uses,
      taskflow: VERSION,
    });
    if ('failed' in written) return `it cannot be kept in ${ASSEMBLED_DIR}: ${written.failed}`;
    this.record = written.record;
    return undefined;
  }
}
