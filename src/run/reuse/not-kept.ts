import type { Result } from '../../model/outcome.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { Settled } from '../core/execution.js';
import { declaredOutputs, type IdentityParts } from './identify.js';

/** Why a result that is done may not be kept across runs, in words; undefined when it may. */
export function whyNotKept(
  at: PhaseContext,
  work: { readonly unit?: string; readonly parts: IdentityParts },
  result: Result,
): string | undefined {
  return result.unkeepable ?? secretIn(at, result) ?? unassignedOutputs(at, work);
}

function secretIn(at: PhaseContext, { output }: Result): string | undefined {
  const { secrets } = at.run.io;
  if (!secrets.any || secrets.maskOutput(output) === output) return undefined;
  return 'its output holds a secret argument';
}

/** A unit among several can be kept only if `outputs` says which files are its own. */
function unassignedOutputs(at: PhaseContext, { unit, parts }: Parameters<typeof whyNotKept>[1]): string | undefined {
  if (at.phase.outputs.length === 0 || declaredOutputs(at, unit, parts.variables).length > 0) return undefined;
  return '`outputs` does not say which files are of which item (use {item…} in it)';
}

/** The result with a remark that says why it is not kept. */
export function notKept(settled: Settled, why: string): Settled {
  const { remark } = settled;
  if (remark === undefined) return { ...settled, remark: `not kept: ${why}` };
  return { ...settled, remark: remark.includes(why) ? `${remark}; not kept` : `${remark}; not kept: ${why}` };
}
