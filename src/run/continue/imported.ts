import type { Failure } from '../../model/failure.js';
import { resolveSigningKey } from '../../store/signing-key.js';
import type { RunOptions } from '../core/options.js';
import type { JournalLine, RunLine } from '../journal/lines.js';
import { readCheckpoint } from './checkpoint.js';
import { fromAnotherFlow } from './same-flow.js';

/** What `--resume-from` brings. */
export interface Imported {
  readonly runId: string;
  readonly lines: readonly JournalLine[];
  readonly run?: RunLine;
}

/** The checkpoint that a run is to continue from, if it is to; or why it cannot be used. */
export function importedCheckpoint(options: RunOptions): Imported | { readonly failure: Failure } | undefined {
  const { project, config, flow, continuation } = options;
  if (continuation?.how !== 'checkpoint') return undefined;
  const key = resolveSigningKey(config, project);
  if ('problem' in key) return { failure: { code: 'bad-input', message: key.problem } };
  const read = readCheckpoint(project, continuation.file, key.key);
  const another = 'of' in read && read.of && fromAnotherFlow(flow, { runId: continuation.file, run: read.of });
  return another ? { failure: another } : read;
}
