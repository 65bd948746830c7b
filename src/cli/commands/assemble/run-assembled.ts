import { resultValue } from '../../../assemble/compare.js';
import { assembledRun } from '../../../assemble/run-options.js';
import { approve, isApproved } from '../../../assemble/user-key.js';
import type { Config } from '../../../model/config.js';
import type { RunResult } from '../../../run/core/result.js';
import { startRun } from '../../../run/start/start-run.js';
import type { Invocation } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain, complainAll } from '../../errors/problem.js';
import { givenArgs } from '../../flags/given-args.js';
import { askers } from '../../run/execute.js';
import { listenForInterrupts } from '../../run/interrupt.js';
import { exitStatusOf } from '../../run/run-status.js';
import { printResult, showingRun } from '../../run/show-run.js';
import { askAboutFlow, canAsk } from './ask-flow.js';
import { assembledJson, type Complete } from './outcome-json.js';

interface ToRun {
  readonly outcome: Complete;
  readonly config: Config;
}

/** `--run`: asks a person who has not seen the flow, runs it, and checks its result against the output schema. */
export async function runAssembled(invocation: Invocation, { outcome, config }: ToRun): Promise<number> {
  const { project, positionals } = invocation;
  const { flow, record } = outcome;
  const bound = await givenArgs(invocation, flow.args, { pairs: positionals.slice(1) });
  if ('problems' in bound) return complainAll(invocation, bound.problems);
  const options = await assembledRun(outcome, { project, config, args: bound.args });
  if ('problem' in options) return complain(invocation, options.problem);
  const showing = showingRun(invocation, options.source.ref);
  const interrupt = listenForInterrupts((line) => showing.view.notice(line));
  if (!(await mayRun(invocation, outcome, interrupt.signal))) {
    interrupt.dispose();
    invocation.err.write(
      `taskflow assemble: no person has looked at this flow yet, so it was not run\n` +
        `  taskflow assemble show ${record.id}; --yes runs it all the same\n`,
    );
    return EXIT.waiting;
  }
  const asks = {
    ...(await askers(invocation, showing.view)),
    signal: interrupt.signal,
    waitForLimits: !invocation.flags.boolean('no-wait'),
  };
  const result = await startRun({ ...options, ...asks }, showing.onEvent);
  interrupt.dispose();
  showing.end();
  if ('refused' in result) return complain(invocation, result.refused.message, result.refused.hint);
  return print(invocation, outcome, await heldToOutput(invocation, outcome, result));
}

async function mayRun(invocation: Invocation, { record }: Complete, signal: AbortSignal): Promise<boolean> {
  const { project, flags } = invocation;
  if (flags.boolean('yes') || isApproved(project, record)) return true;
  if (!canAsk(invocation)) return false;
  const why = 'no person has looked at this flow yet:';
  const isWanted = await askAboutFlow(invocation, { record, why, signal });
  if (isWanted) approve(project, record);
  return isWanted;
}

/** A result that does not fit the requested schema is a failure. */
async function heldToOutput({ err }: Invocation, { record }: Complete, result: RunResult): Promise<RunResult> {
  if (result.status !== 'success') return result;
  const found = await resultValue(result, record.output);
  if (!('problem' in found)) return result;
  err.write(`taskflow assemble: ${found.problem}\n`);
  const error = { phase: result.phases.at(-1)?.id ?? '', code: 'expect', message: found.problem };
  return { ...result, status: 'failed', error };
}

function print(invocation: Invocation, outcome: Complete, result: RunResult): number {
  if (!invocation.flags.boolean('json')) return printResult(invocation, result);
  const { flow: _flow, ...assembled } = assembledJson(outcome);
  invocation.out.write(`${JSON.stringify({ ...result, assembled })}\n`);
  return exitStatusOf(result);
}
