import type { PhaseContext } from '../context/phase-context.js';
import { failedBefore, type Settled } from '../core/execution.js';
import { keepEffect } from '../effects/act.js';
import type { Ruling } from '../effects/rule.js';
import type { Effect } from '../journal/lines.js';
import { coveringOutputs } from './covering-outputs.js';
import { type Found, fromLine, ran, takenAsDone } from './settle.js';

/** A side effect that is not done again: as it was, or as a person says that it is. */
export async function keptOrReused(
  at: PhaseContext,
  found: Found,
  effect: Effect,
  ruling: Extract<Ruling, { go: 'reuse' | 'keep' }>,
): Promise<Settled> {
  const { line } = ruling;
  const problem = line && (await bringBack(at, found, line.files ?? []));
  const remark = problem === undefined ? {} : { remark: `its files were not restored: ${problem}` };
  if (ruling.go === 'reuse') return { ...fromLine(at, ruling.line), ...remark };
  const failure = at.run.options.forecast ? undefined : keepEffect(at, effect, ruling.over);
  if (failure) return ran(at, found, failedBefore(failure), 'in doubt');
  return ran(at, found, takenAsDone(line, remark), 'taken as done (--skip)');
}

/** Files of a reused result, put where they belong; what is in the way, in words. */
export async function bringBack(at: PhaseContext, found: Found, files: Settled['files']): Promise<string | undefined> {
  if (files.length === 0) return undefined;
  const outputs = [...found.identity.outputs, ...(await coveringOutputs(at))];
  const restored = await at.run.reuse.outputFiles.restore(files, outputs);
  if ('failed' in restored) return restored.failed;
  if (restored.changed) at.run.reuse.fingerprints.touched();
  return undefined;
}
