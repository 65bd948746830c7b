import type { Failure } from '../model/failure.js';
import type { AssembleSpec } from '../model/flow.js';
import { NO_USAGE, type Spent, type Usage } from '../model/outcome.js';
import type { MadeFlow, WantedFlow } from '../run/core/options.js';
import { type AssembleOutcome, assemble } from './assemble.js';
import { decide, type PlanDecision } from './decide.js';
import type { AssembleEventBody } from './events.js';
import { inputIdOf } from './identity.js';
import { readExample } from './read-example.js';
import { type AssembleRequest, DEFAULT_ROUNDS, DEFAULT_USD, type Example } from './request.js';

/** The flow of a phase with `assemble`. */
export async function flowForPhase(wanted: WantedFlow): Promise<MadeFlow> {
  const { spec, project, config, forecast, leftUSD, signal, waitForLimits } = wanted;
  const read = requestOf(spec);
  if ('problem' in read) return { failure: { code: 'bad-input', message: read.problem }, usage: NO_USAGE };
  const { request } = read;
  const { maxRounds = DEFAULT_ROUNDS, maxUSD } = spec;
  const bound = leftUSD === undefined ? maxUSD : Math.min(maxUSD ?? DEFAULT_USD, leftUSD);
  const limits = { maxRounds, ...(bound !== undefined && { maxUSD: bound }) };
  const onEvent = (event: AssembleEventBody) => reportEvent(wanted, event);
  if (forecast) {
    const looking = { project, config, inputId: inputIdOf({ request }), limits, onEvent: () => {} };
    return forecastOf(await decide(looking));
  }
  const outcome = await assemble({ project, config, request, limits, signal, waitForLimits, onEvent });
  return madeFlow(outcome);
}

/** Examples have no names in a flow file: they are numbered. */
function requestOf(spec: AssembleSpec): { readonly request: AssembleRequest } | { readonly problem: string } {
  const examples: Example[] = [];
  for (const [index, value] of spec.examples.entries()) {
    const read = readExample(value, String(index + 1));
    if ('problem' in read) return read;
    examples.push(read.example);
  }
  const { task, input, output } = spec;
  return { request: { task, input, output, examples } };
}

const WOULD: Readonly<Record<Exclude<PlanDecision['do'], 'take'>, string>> = {
  plan: 'a flow would be planned first',
  repair: 'its flow would be repaired first',
  continue: 'planning its flow would go on first',
  'give-up': '',
};

/** What a dry run reports. */
function forecastOf(decision: PlanDecision): MadeFlow {
  if (decision.do === 'take') return { ...reusedFlow(decision), usage: NO_USAGE };
  if (decision.do === 'give-up') return { failure: givenUp(decision.record.error ?? ''), usage: NO_USAGE };
  return { failure: { code: 'forecast', forecast: 'would-run', message: WOULD[decision.do] }, usage: NO_USAGE };
}

function reusedFlow({ flow, record }: Pick<Extract<PlanDecision, { readonly do: 'take' }>, 'flow' | 'record'>) {
  return { flow, generated: !record.allowScripts };
}

function givenUp(error: string, hint = 'See `taskflow assemble list`.'): Failure {
  return { code: 'bad-flow', message: `no flow was assembled: ${error}`, hint };
}

function madeFlow(outcome: AssembleOutcome): MadeFlow {
  if (outcome.status === 'refused') {
    const message = outcome.problems.map((problem) => problem.message).join('; ');
    return { failure: { code: 'bad-input', message }, usage: NO_USAGE };
  }
  const usage = usageOf(outcome.spent);
  if (outcome.status === 'complete') return { ...reusedFlow(outcome), usage };
  const { ended, error, hint } = outcome;
  if (ended === 'interrupted') return { failure: { code: 'interrupted', message: 'interrupted' }, usage };
  if (ended === 'limit') return { failure: { code: 'usage-limit', message: error, hint }, usage };
  return { failure: givenUp(error, hint), usage };
}

function usageOf({ usd, tokens }: Spent): Usage {
  return { inputTokens: tokens, cachedInputTokens: 0, outputTokens: 0, ...(usd !== null && { usd }) };
}

/** Steps are progress of the phase; what a person should know afterwards is a warning. */
function reportEvent({ say, warn }: WantedFlow, event: AssembleEventBody): void {
  const remark = remarkOn(event);
  const step = stepOf(event);
  if (remark !== undefined) warn(remark);
  if (step !== undefined) say(step);
}

function remarkOn(event: AssembleEventBody): string | undefined {
  if (event.type === 'assemble-changed') return `its flow ${event.id} is repaired: ${event.changed.join(', ')}`;
  if (event.type === 'assemble-foreign') return `${event.id} was not made by you here and is not used`;
  return event.type === 'assemble-warning' ? event.message : undefined;
}

function stepOf(event: AssembleEventBody): string | undefined {
  if (event.type === 'assemble-waiting') return `waits for ${event.for}, which plans the same flow`;
  if (event.type === 'assemble-asking') return `round ${event.round}: asks ${event.runner} for a flow`;
  if (event.type === 'assemble-limit') return `waits for the usage limit of ${event.runner}`;
  return event.type === 'assemble-trying' ? `round ${event.round}: tries the example ${event.example}` : undefined;
}
