import type { Failure } from '../model/failure.js';
import type { Flow, Phase, TaskBody } from '../model/flow.js';
import type { NestedFlows } from './nested-flows.js';
import type { RunOptions } from './options.js';
import type { RunnerPool } from './runner-pool.js';

/**
 * A budget in money means nothing with a runner that does not say what it costs; better said before anything runs.
 * Flows that are only known later (generated, or named by an output) are held by the ledger instead.
 */
export async function moneyCannotBeHeld(
  options: RunOptions,
  runners: RunnerPool,
  nested: NestedFlows,
): Promise<Failure | undefined> {
  if (options.maxUSD === undefined && options.flow.budget?.maxUSD === undefined) return undefined;
  const seen = new Set<string>();
  const open: Flow[] = [options.flow];
  for (let flow = open.pop(); flow !== undefined; flow = open.pop()) {
    for (const phase of flow.phases) {
      for (const body of tasksOf(phase)) {
        const pooled = await runners.get(body.runner, flow.runner);
        if (!('failure' in pooled) && !pooled.runner.reportsCost) return unpriced(pooled.runner.name);
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

function unpriced(runner: string): Failure {
  return {
    code: 'bad-input',
    message: `the budget is in money, and the runner ${runner} does not report what it costs`,
    hint: 'Use maxTokens instead of maxUSD, or another runner.',
  };
}

function tasksOf(phase: Phase): TaskBody[] {
  const own = 'body' in phase && phase.body?.type === 'task' ? [phase.body] : [];
  const branches =
    'branches' in phase ? phase.branches.flatMap(({ body }) => (body.type === 'task' ? [body] : [])) : [];
  const judge = phase.kind === 'tournament' ? [phase.judgeBody] : [];
  const scorer = phase.kind === 'gate' && phase.score?.judge ? [phase.score.judge] : [];
  return [...own, ...branches, ...judge, ...scorer];
}

/** The flow that a phase runs: itself, or how it is named. */
function insideOf(phase: Phase): Flow | string | undefined {
  if (phase.kind === 'map' && phase.body.type === 'use') return phase.body.use;
  if (phase.kind !== 'flow' && phase.kind !== 'expand') return undefined;
  if (phase.source.from === 'inline') return phase.source.flow;
  return phase.source.from === 'use' ? phase.source.use : undefined;
}
