import type { OutputFile } from '../../model/outcome.js';
import type { PhaseContext } from '../context/phase-context.js';
import { failedBefore, type Settled } from '../core/execution.js';
import { keepEffect } from '../effects/act.js';
import type { Ruling } from '../effects/rule.js';
import type { ResultLine } from '../journal/lines.js';
import { coveringOutputs } from './covering-outputs.js';
import { type Found, fromLine, markedDone, ran, type SideEffect } from './settle.js';

/** A side effect that is not done again: its recorded result, or one that a person marks done. */
export async function keptOrReused(
  at: PhaseContext,
  found: SideEffect,
  ruling: Extract<Ruling, { go: 'reuse' | 'keep' }>,
): Promise<Settled> {
  const { line } = ruling;
  const problem = line && (await bringBack(at, found, line.files));
  const remark = problem === undefined ? {} : { remark: `its files were not restored: ${problem}` };
  if (ruling.go === 'reuse') return { ...fromLine(at, withOutputHere(at, ruling.line)), ...remark };
  const failure = at.run.options.forecast ? undefined : keepEffect(at, found.effect, ruling.over);
  if (failure) return ran(at, found, { execution: failedBefore(failure), reason: 'in doubt' });
  return ran(at, found, {
    execution: markedDone(line && withOutputHere(at, line), remark),
    reason: 'marked as done (--skip)',
  });
}

/** A large output of a side effect is lost with its run's folder: whoever needs it then says so. */
function withOutputHere(at: PhaseContext, line: ResultLine): ResultLine {
  return { ...line, output: at.run.io.outputs.link(line.output) ?? line.output };
}

/** Restores the files of a reused result; returns what is in the way, in words. */
export async function bringBack(
  at: PhaseContext,
  found: Found,
  files: readonly OutputFile[] = [],
): Promise<string | undefined> {
  if (files.length === 0) return undefined;
  const outputs = [...found.identity.outputs, ...(await coveringOutputs(at))];
  const restored = await at.run.reuse.outputFiles.restore(files, outputs);
  if ('failed' in restored) return restored.failed;
  if (restored.changed) at.run.reuse.fingerprints.touched();
  return undefined;
}
