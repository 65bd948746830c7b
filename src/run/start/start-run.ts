import type { RunEvent } from '../../model/event.js';
import type { RunOptions } from '../core/options.js';
import { type ResultFacts, type RunResult, runResult } from '../core/result.js';
import { ownScope } from '../core/scope.js';
import { windDown } from '../execute/leftovers.js';
import { letTickPass } from '../history/end-stamp.js';
import { RunHooks } from '../hooks/run-hooks.js';
import { runScope } from '../schedule/schedule.js';
import { openRun, type RunRefused } from './open-run.js';

/** Runs a checked flow with bound arguments. Never throws; everything that can happen is in the result. */
export async function startRun(
  options: RunOptions,
  onEvent?: (event: RunEvent) => void,
): Promise<RunResult | RunRefused> {
  const session = await openRun(options, { onEvent });
  if ('refused' in session) return session;
  const { context } = session;
  const hooks = new RunHooks({ ...options, warn: session.warn });
  hooks.start(context.runId);
  const scope = ownScope(options, context.limits.admission);
  const result = await runScope(context, scope, context.limits.signal);
  await hooks.started;
  await windDown(context);
  if (context.limits.processes.started > 0) await letTickPass();
  session.end(result);
  await context.reuse.tidyStore();
  const facts: ResultFacts = {
    runId: context.runId,
    root: options.project.root,
    flow: options.flow,
    outcomes: scope.outcomes,
    result,
    ledger: context.limits.ledger,
    durationMs: options.project.clock.elapsed() - session.startedAt,
    continues: session.continues?.runId,
    warnings: session.warnings,
    secrets: context.io.secrets,
  };
  await hooks.end(context.runId, result.status, () => runResult(facts));
  return runResult(facts);
}
