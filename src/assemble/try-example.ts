import type { Flow } from '../model/flow.js';
import type { JsonValue } from '../model/json.js';
import { addSpent, NOTHING_SPENT, type Spent } from '../model/outcome.js';
import { bindArgs } from '../plan/args.js';
import type { RunResult } from '../run/core/result.js';
import { startRun } from '../run/start/start-run.js';
import { excerpt, isSame, resultValue } from './compare.js';
import { limitsOf } from './events.js';
import { judgeResult, type Stopped } from './judge.js';
import { type AgentCallOptions, askingOf } from './one-phase.js';
import type { AssembleRequest, Example } from './request.js';
import { makeSandbox } from './sandbox.js';

/** A flow to try, with the bounds of the trial. */
interface Trial extends AgentCallOptions {
  readonly request: AssembleRequest;
  readonly flow: Flow;
  readonly allowScripts: boolean;
  /** What may still be spent by the flow, and by the judge; undefined where money is not counted. */
  readonly budget: (who: 'flow' | 'planner', spent: Spent) => Promise<number | undefined>;
}

interface ExampleOutcome {
  readonly ok: boolean;
  readonly why?: string;
  readonly output?: JsonValue;
  /** The trial was stopped, which says nothing about the flow. */
  readonly stopped?: Stopped;
  readonly spent: Spent;
  readonly durationMs: number;
}

const TOO_LARGE = 'the project is too large to be copied: examples are tried without its files';
const LONGEST_TRIAL_MS = 15 * 60_000;

/** Runs the flow on one example in a copy of the project, with side effects refused, and compares. */
export async function tryExample(trial: Trial, example: Example): Promise<ExampleOutcome> {
  const { clock } = trial.project;
  const startedAt = clock.elapsed();
  const outcome = await attempt(trial, example);
  return { ok: false, ...outcome, durationMs: Math.round(clock.elapsed() - startedAt) };
}

type Attempted = Omit<ExampleOutcome, 'ok' | 'durationMs'> & { readonly ok?: true };

async function attempt(trial: Trial, example: Example): Promise<Attempted> {
  const { flow, project, config } = trial;
  const bound = bindArgs(flow.args, example.input, { root: project.root, source: 'json' });
  if ('problems' in bound) return { why: bound.problems[0]!.message, spent: NOTHING_SPENT };
  const maxUSD = await trial.budget('flow', NOTHING_SPENT);
  if (maxUSD !== undefined && maxUSD <= 0) return { stopped: 'money', spent: NOTHING_SPENT };
  const sandbox = makeSandbox(project, config, example.files);
  if (sandbox.isBare) trial.onEvent({ type: 'assemble-warning', message: TOO_LARGE });
  try {
    const run = {
      project: sandbox.project,
      config: sandbox.config,
      flow: withoutHooks(flow),
      source: { ref: flow.name, byName: true },
      args: bound.args,
      reuse: 'off',
      continuation: { how: 'fresh' },
      generated: !trial.allowScripts,
      refuseEffects: true,
      maxUSD,
      timeoutMs: LONGEST_TRIAL_MS,
      signal: trial.signal,
      waitForLimits: trial.waitForLimits,
    } as const;
    const result = await startRun(run, limitsOf(trial.onEvent));
    if ('refused' in result) return { why: result.refused.message, spent: NOTHING_SPENT };
    return result.status === 'success' ? await judged(trial, example, result) : failed(result);
  } finally {
    sandbox.remove();
  }
}

function withoutHooks({ hooks: _hooks, ...flow }: Flow): Flow {
  return flow;
}

function failed({ status, error, spent }: RunResult): Attempted {
  if (status === 'interrupted' && error?.code !== 'timeout') return { stopped: 'interrupted', spent };
  if (status === 'over-budget') return { stopped: 'money', spent };
  if (error?.code === 'usage-limit') return { stopped: 'limit', spent };
  if (status === 'paused') {
    return { why: 'it waits for an approval, and a trial has no person to ask', spent };
  }
  const detail = error?.detail === undefined ? '' : `\n${error.detail}`;
  return { why: `the flow failed in ${error?.phase ?? '?'}: ${error?.message ?? status}${detail}`, spent };
}

/** Checks the schema first; then the exact value, or asks a judge where the example has a criterion. */
async function judged(trial: Trial, example: Example, result: RunResult): Promise<Attempted> {
  const { spent } = result;
  const found = await resultValue(result, trial.request.output);
  if ('problem' in found) return { why: found.problem, output: result.json ?? result.output, spent };
  const { value: output } = found;
  if (example.output !== undefined && isSame(output, example.output)) return { ok: true, output, spent };
  if (example.judge === undefined) {
    if (example.output === undefined) return { ok: true, output, spent };
    return { why: `the result is ${excerpt(output)}, and not ${excerpt(example.output)}`, output, spent };
  }
  const maxUSD = await trial.budget('planner', spent);
  if (maxUSD !== undefined && maxUSD <= 0) return { stopped: 'money', output, spent };
  const { task } = trial.request;
  const verdict = await judgeResult(output, { ...askingOf(trial), example, task, maxUSD });
  const { why, stopped } = verdict;
  const total = addSpent(spent, verdict.spent);
  if (stopped) return { stopped, output, spent: total };
  return why === undefined ? { ok: true, output, spent: total } : { why, output, spent: total };
}
