import type { ArgSpec, Flow, Phase } from '../../model/flow.js';
import type { JsonObject } from '../../model/json.js';

/**
 * Fields of a phase that do not decide its output. The flow itself says which phase is the result; fingerprints count
 * by their resolved values; a tolerated failure is never kept.
 */
const COSMETIC_OF_PHASE = new Set([
  'description',
  'line',
  'column',
  'timeoutMs',
  'idleTimeoutMs',
  'retry',
  'concurrency',
  'optional',
  'final',
  'cache',
]);

/** The model counts as resolved for each agent call inside, so a flow without calls does not depend on it. */
const COSMETIC_OF_FLOW = new Set([
  'description',
  'file',
  'concurrency',
  'budget',
  'runner',
  'model',
  'thinking',
  'idleTimeoutMs',
  'incremental',
  'strictInterpolation',
]);

/** A definition's significant fields. Drops only fields of the language, never a name that a user chose. */
export function significantFields(flow: Flow): JsonObject {
  const { phases, args, ...rest } = flow;
  return { ...without(rest, COSMETIC_OF_FLOW), args: argsEssence(args), phases: phases.map(phaseEssence) };
}

function argsEssence(args: Readonly<Record<string, ArgSpec>>): JsonObject {
  return Object.fromEntries(
    Object.entries(args).map(([name, spec]) => [name, without(spec, new Set(['description', 'secret']))]),
  );
}

function phaseEssence(phase: Phase): JsonObject {
  const plain = without(phase, COSMETIC_OF_PHASE);
  if ((phase.kind !== 'flow' && phase.kind !== 'expand') || phase.source.from !== 'inline') return plain;
  return { ...plain, source: { from: 'inline', flow: significantFields(phase.source.flow) } };
}

function without(record: object, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.has(name)));
}
