import type { Runner } from '../../agent/runner.js';
import type { Failure } from '../../model/failure.js';
import type { Flow, Phase, TaskBody } from '../../model/flow.js';
import type { NestedFlows } from '../context/nested-flows.js';
import type { RunnerPool } from '../context/runner-pool.js';
import type { RunOptions } from './options.js';

type BudgetOptions = Pick<RunOptions, 'flow' | 'maxUSD'>;

/**
 * A budget in money means nothing with a runner that does not report its cost, so the run refuses one before anything
 * starts. A generated flow has its runner from here; a flow that is known only later is checked at each call.
 */
export async function moneyCannotBeHeld(
  options: RunOptions,
  runners: RunnerPool,
  nested: NestedFlows,
): Promise<Failure | undefined> {
  if (!isInMoney(options)) return undefined;
  const seen = new Set<string>();
  const open: Flow[] = [options.flow];
  for (let flow = open.pop(); flow !== undefined; flow = open.pop()) {
    for (const phase of flow.phases) {
      for (const runner of runnersOf(phase)) {
        const pooled = await runners.get(runner, flow.runner);
        const unpriced = 'failure' in pooled ? undefined : costUnknown(options, pooled.runner);
        if (unpriced) return unpriced;
      }
      const inside = insideOf(phase);
      if (typeof inside === 'object') open.push(inside);
      if (typeof inside !== 'string' || inside.includes('{') || seen.has(inside)) continue;
      seen.add(inside);
      const loaded = await nested.load(inside);
      if ('flow' in loaded) open.push(loaded.flow);
    }
  }
  return undefined;
}

function isInMoney({ flow, maxUSD }: BudgetOptions): boolean {
  return maxUSD !== undefined || flow.budget?.maxUSD !== undefined;
}

/** Why this runner may not be called in such a run; undefined when it may. */
export function costUnknown(options: BudgetOptions, runner: Pick<Runner, 'name' | 'reportsCost'>): Failure | undefined {
  if (runner.reportsCost || !isInMoney(options)) return undefined;
  return {
    code: 'bad-input',
    message: `the budget is in money, and the runner ${runner.name} does not report what it costs`,
    hint: 'Use maxTokens instead of maxUSD, or another runner.',
  };
}

/** Flows that a model makes. */
const MADE: ReadonlySet<string> = new Set(['generated', 'assemble']);

/** What each call of the phase names; a generated flow calls agents too, and may not name a runner. */
function runnersOf(phase: Phase): (string | undefined)[] {
  const generates = (phase.kind === 'flow' || phase.kind === 'expand') && MADE.has(phase.source.from);
  return generates ? [undefined] : tasksOf(phase).map((body) => body.runner);
}

/** Every agent call of a phase, judges included. */
export function tasksOf(phase: Phase): TaskBody[] {
  const own = 'body' in phase && phase.body?.type === 'task' ? [phase.body] : [];
  const branches =
    'branches' in phase ? phase.branches.flatMap(({ body }) => (body.type === 'task' ? [body] : [])) : [];
  const judge = phase.kind === 'tournament' ? [phase.judgeBody] : [];
  const scorer = phase.kind === 'gate' && phase.score?.judge ? [phase.score.judge] : [];
  return [...own, ...branches, ...judge, ...scorer];
}

/** The flow that a phase runs: itself, or how it is named. */
export function insideOf(phase: Phase): Flow | string | undefined {
  if (phase.kind === 'map' && phase.body.type === 'use') return phase.body.use;
  if (phase.kind !== 'flow' && phase.kind !== 'expand') return undefined;
  if (phase.source.from === 'inline') return phase.source.flow;
  return phase.source.from === 'use' ? phase.source.use : undefined;
}
