import { resolveRunner } from '../agent/resolve-runner.js';
import type { Flow } from '../model/flow.js';
import type { JsonObject } from '../model/json.js';
import { addSpent, NOTHING_SPENT, type Spent } from '../model/outcome.js';
import { catalogueOf } from './catalogue.js';
import { checkPlan } from './check-plan.js';
import { definitionOf } from './definition.js';
import { type AgentCallOptions, askingOf, runOnePhase } from './one-phase.js';
import { planPrompt } from './plan-prompt.js';
import type { PlanEnding, Round, Tried } from './record.js';
import { type AssembleLimits, type AssembleRequest, DEFAULT_USD } from './request.js';
import { tryExample } from './try-example.js';

interface Planning extends AgentCallOptions {
  readonly request: AssembleRequest;
  readonly limits: AssembleLimits;
  readonly allowScripts: boolean;
  /** A flow that is tried as it is before the planner is asked. */
  readonly start?: JsonObject;
  /** Rounds of the attempt that this one goes on from. */
  readonly earlier: readonly Round[];
  readonly spentBefore: Spent;
  /** Writes down the state after a round, before the next one is paid for. Returns what went wrong. */
  readonly keep: (state: PlanState) => string | undefined;
}

/** The state of planning. */
export interface PlanState {
  readonly ended: PlanEnding;
  readonly rounds: readonly Round[];
  readonly spent: Spent;
  readonly error?: string;
  readonly hint?: string;
  /** Set exactly when it is complete. */
  readonly flow?: Flow;
}

/** Asks, checks, tries and asks again, until a flow is good, or rounds or money are used up. */
export async function planRounds(planning: Planning): Promise<PlanState> {
  const { earlier, limits, start, signal } = planning;
  let state: PlanState = { ended: 'under-way', rounds: earlier, spent: planning.spentBefore };
  if (start) state = await heldAgainstExamples(planning, state, { how: 'kept', flow: start, ...NOTHING_ASKED });
  while (state.ended === 'under-way') {
    if (signal?.aborted) return { ...state, ended: 'interrupted', error: 'interrupted' };
    if (askedIn(state.rounds) >= limits.maxRounds) return { ...state, ended: 'rounds' };
    state = await oneRound(planning, state);
    if (state.ended !== 'under-way') return state;
    const failed = planning.keep(state);
    if (failed !== undefined) return { ...state, ended: 'disk', error: failed };
  }
  return state;
}

const NOTHING_ASKED = { spent: NOTHING_SPENT, durationMs: 0 } as const;

/** How often the planner was asked. */
export function askedIn(rounds: readonly Round[]): number {
  return rounds.filter(({ how }) => how === 'asked').length;
}

async function oneRound(planning: Planning, state: PlanState): Promise<PlanState> {
  const { project, request, allowScripts, onEvent } = planning;
  const round = askedIn(state.rounds) + 1;
  const maxUSD = await budget(planning, 'planner', state.spent);
  if (maxUSD !== undefined && maxUSD <= 0) return { ...state, ended: 'money', error: lastError(state) };
  const last = state.rounds.at(-1);
  const prompt = planPrompt({ request, allowScripts, ...catalogueOf(project), ...(last && { repair: last }) });
  const who = await plannerOf(planning);
  onEvent({ type: 'assemble-asking', round, ...who });
  const startedAt = project.clock.elapsed();
  const answer = await runOnePhase({
    ...askingOf(planning),
    name: 'assemble',
    phase: { id: 'plan' },
    prompt,
    maxUSD,
  });
  const durationMs = Math.round(project.clock.elapsed() - startedAt);
  if ('refused' in answer) {
    return { ...state, ended: 'runner', error: answer.refused.message, hint: answer.refused.hint };
  }
  const { spent } = answer;
  onEvent({ type: 'assemble-answered', round, spent, durationMs });
  const paid: PlanState = { ...state, spent: addSpent(state.spent, spent) };
  if (answer.status === 'interrupted') return { ...paid, ended: 'interrupted', error: 'interrupted' };
  if (answer.status === 'over-budget') return { ...paid, ended: 'money', error: lastError(state) };
  if (answer.status !== 'success') {
    const { message, hint } = answer.error ?? { message: answer.status };
    if (answer.error?.code === 'usage-limit') return { ...paid, ended: 'limit', error: message };
    return { ...paid, ended: 'runner', error: `the planner gave no answer: ${message}`, hint };
  }
  const flow = definitionOf(answer.output, request);
  return heldAgainstExamples(planning, paid, { how: 'asked', flow, answer: answer.output, spent, durationMs });
}

interface Planned {
  readonly how: Round['how'];
  readonly flow: JsonObject | undefined;
  readonly answer?: string;
  readonly spent: Spent;
  readonly durationMs: number;
}

const STOPPED = { interrupted: 'interrupted', money: 'money', limit: 'a usage limit is reached' } as const;
const NO_FLOW = 'the answer is no flow: it has to be one JSON object with "phases"';
const LONGEST_ANSWER = 4_000;

/** Checks a plan and tries it on all examples, so that the planner gets all problems at once. */
async function heldAgainstExamples(planning: Planning, state: PlanState, planned: Planned): Promise<PlanState> {
  const { onEvent, project, config, allowScripts, request } = planning;
  const { how, flow: definition, answer, spent, durationMs } = planned;
  const number = askedIn(state.rounds) + (how === 'asked' ? 1 : 0);
  const checked = definition ? await checkPlan(definition, { project, config, allowScripts }) : { problems: [NO_FLOW] };
  const diagnostics = 'problems' in checked ? checked.problems : [];
  onEvent({ type: 'assemble-checked', round: number, problems: diagnostics });
  const round: Round = {
    how,
    ...(definition ? { flow: definition } : { answer: (answer ?? '').slice(0, LONGEST_ANSWER) }),
    diagnostics,
    examples: [],
    spent,
    durationMs,
  };
  if ('problems' in checked) return after(state, round);
  const examples: Tried[] = [];
  let total = state.spent;
  for (const example of request.examples) {
    onEvent({ type: 'assemble-trying', round: number, example: example.name });
    const tried = await tryExample(
      {
        ...planning,
        flow: checked.flow,
        budget: (of, more) => budget(planning, of, addSpent(total, more)),
      },
      example,
    );
    const { ok, why, output, stopped } = tried;
    total = addSpent(total, tried.spent);
    const facts = { round: number, example: example.name, spent: tried.spent, durationMs: tried.durationMs };
    onEvent({ type: 'assemble-tried', ...facts, ok, why: why ?? stopped });
    if (stopped) {
      const cut = { ...round, examples };
      return { rounds: [...state.rounds, cut], spent: total, ended: stopped, error: errorOf(cut) ?? STOPPED[stopped] };
    }
    examples.push({
      name: example.name,
      ok,
      ...(why !== undefined && { why }),
      ...(output !== undefined && { output }),
    });
  }
  return after({ ...state, spent: total }, { ...round, examples }, checked.flow);
}

/** Complete, if nothing is wrong with the last round. */
function after(state: PlanState, round: Round, flow?: Flow): PlanState {
  const error = errorOf(round);
  const rounds = [...state.rounds, round];
  if (error === undefined && flow) return { ...state, rounds, ended: 'complete', flow, error: undefined };
  return { ...state, rounds, ended: 'under-way', error };
}

/** The first problem of a round; undefined where none is known. */
export function errorOf({ diagnostics, examples }: Round): string | undefined {
  if (diagnostics.length > 0) {
    const more = diagnostics.length > 1 ? ` (and ${diagnostics.length - 1} more)` : '';
    return `the flow does not check: ${diagnostics[0]}${more}`;
  }
  const failed = examples.find(({ ok }) => !ok);
  return failed && `the example ${failed.name} failed: ${failed.why}`;
}

function lastError({ rounds, error }: PlanState): string {
  return error ?? (rounds.at(-1) && errorOf(rounds.at(-1)!)) ?? 'the money was used up before a flow was tried';
}

/** What may still be spent; undefined where the runner reports no cost and no limit is set. */
async function budget(planning: Planning, who: 'flow' | 'planner', spent: Spent): Promise<number | undefined> {
  const { project, config, limits } = planning;
  const left = (limits.maxUSD ?? DEFAULT_USD) - (spent.usd ?? 0);
  if (limits.maxUSD !== undefined) return left;
  const found = await resolveRunner({ project, config, ...(who === 'planner' && { cliRunner: planning.runner }) });
  return 'runner' in found && found.runner.reportsCost ? left : undefined;
}

export async function plannerOf({
  project,
  config,
  runner: cliRunner,
  model,
}: Pick<Planning, 'project' | 'config' | 'runner' | 'model'>): Promise<{ runner: string; model?: string }> {
  const found = await resolveRunner({ project, config, cliRunner });
  if ('failure' in found) return { runner: cliRunner ?? 'none', ...(model !== undefined && { model }) };
  const used = model ?? config.model ?? found.runner.defaultModel;
  return { runner: found.runner.name, ...(used !== undefined && { model: used }) };
}
