import type { Failure } from '../../model/failure.js';
import type { AssembleSpec, ExpandPhase, Flow, FlowPhase, FlowSource } from '../../model/flow.js';
import type { JsonObject } from '../../model/json.js';
import { parseTemplate, templateRefs } from '../../plan/template.js';
import type { PhaseContext } from '../context/phase-context.js';
import { failedBefore, type Settled } from '../core/execution.js';
import type { MadeFlow } from '../core/options.js';
import { withRetries } from '../execute/retry.js';
import { render, renderValue } from '../render/render.js';
import { unresolvedIn } from '../render/unresolved.js';
import { rejectResults } from '../reuse/reject.js';
import { whyEntered } from '../reuse/why-missed.js';
import { type NestedSpec, prepareFlow } from '../units/nested-unit.js';
import { runWhole } from '../units/run-unit.js';
import { settleComposite } from './aggregate.js';
import type { KindHandler } from './kind.js';

export const flowKind: KindHandler<FlowPhase> = {
  run: async (at) => {
    const given = renderValue(at, at.phase.with);
    const { failure, unkeepable } = unresolvedIn(at, given.unresolved);
    if (failure) return refuse(at, failure);
    return runSource(at, { with: given.value as JsonObject, unkeepable });
  },
};

/** Finds the flow, then runs it as one piece of work. */
export async function runSource(
  at: PhaseContext<FlowPhase | ExpandPhase>,
  spec: Pick<NestedSpec, 'with' | 'unkeepable' | 'graft' | 'readInside'>,
  objection: (flow: Flow) => Failure | undefined = () => undefined,
): Promise<Settled> {
  const { source } = at.phase;
  const found = await flowOf(at, source, spec.with);
  const failure = 'failure' in found ? found.failure : objection(found.flow);
  if ('failure' in found || failure) return refuseSource(at, failure!);
  const prepared = await prepareFlow(at, { flow: found.flow, generated: found.generated === true, ...spec });
  if ('failure' in prepared) return refuseSource(at, prepared.failure);
  // Phases that are done inside are not done again by a retry: each is reused for itself, unless the whole was no good.
  return runWhole(at, {
    ...prepared,
    execute: (begin) => withRetries(at, { calls: 'process' }, () => prepared.execute(begin)),
  });
}

async function flowOf(
  at: PhaseContext,
  source: FlowSource,
  given: JsonObject,
): Promise<{ flow: Flow; generated?: boolean } | { failure: Failure }> {
  switch (source.from) {
    case 'inline':
      return { flow: source.flow };
    case 'use':
      return at.run.flows.nested.load(render(at, source.use).text);
    case 'generated': {
      const rendered = render(at, source.def);
      if (rendered.unresolved.length > 0) {
        return { failure: { code: 'unresolved', message: `no value for {${rendered.unresolved[0]}}` } };
      }
      const made = await at.run.flows.nested.generated(rendered.value, { parent: at.scope, phase: at.phase.id, given });
      return { ...made, generated: true };
    }
    case 'assemble':
      return assembled(at, source.assemble);
  }
}

/** A flow that an agent has planned, or plans now. */
async function assembled(at: PhaseContext, spec: AssembleSpec): Promise<MadeFlow | { failure: Failure }> {
  const { options, limits, io } = at.run;
  const { project, config, forecast = false, assemble, waitForLimits } = options;
  if (!assemble) return { failure: { code: 'bad-input', message: 'no flow can be assembled here' } };
  const made = await assemble({
    spec,
    project,
    config,
    forecast,
    leftUSD: limits.ledger.leftUSD,
    signal: at.signal,
    waitForLimits,
    say: (text) => io.emit({ type: 'phase-progress', phase: at.path, text }),
    warn: (message) => io.warn(`${at.path}: ${message}`),
  });
  limits.ledger.spend(made.usage);
  return made;
}

/** A flow that was made and cannot be used is no result of the phase that made it. */
function refuseSource(at: PhaseContext<FlowPhase | ExpandPhase>, failure: Failure): Settled {
  const { source, needs } = at.phase;
  if (source.from === 'generated') {
    const refs = templateRefs(parseTemplate(source.def));
    const made = refs.flatMap(({ root, name }) =>
      root === 'steps' ? [name] : root === 'previous' ? needs.map(({ id }) => id) : [],
    );
    rejectResults(at, new Set(made));
  }
  return refuse(at, failure);
}

export function refuse(at: PhaseContext, failure: Failure): Settled {
  const reason = failure.code === 'forecast' ? failure.message : whyEntered(at);
  const pauses = failure.code === 'usage-limit' && at.run.options.waitForLimits === false;
  return settleComposite(at, { ...failedBefore(failure), ...(pauses && { status: 'paused' }) }, reason);
}
