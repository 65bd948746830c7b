import type { AssembleOutcome } from '../../../assemble/assemble.js';
import { recordFile } from '../../../assemble/folder.js';

export type Complete = Extract<AssembleOutcome, { readonly status: 'complete' }>;

/** For programs. */
export function assembledJson({ status, how, spent, record }: Complete) {
  const { id, inputId, flowId, rounds, uses, flow, allowScripts } = record;
  const facts = { id, inputId, flowId, file: recordFile(id), rounds: rounds.length, spent, allowScripts, uses };
  return { status, how, ...facts, flow };
}
