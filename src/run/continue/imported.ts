import type { Failure } from '../../model/failure.js';
import type { Flow } from '../../model/flow.js';
import { resolveSigningKey } from '../../store/signing-key.js';
import type { RunOptions } from '../core/options.js';
import type { CarriedLines } from './carry.js';
import { type ReadCheckpoint, readCheckpoint } from './checkpoint.js';
import { fromAnotherFlow } from './same-flow.js';

/** What `--resume-from` brings. */
export interface ImportedCheckpoint extends CarriedLines {
  /** Warnings: which of its results cannot be used here. */
  readonly unusable: readonly string[];
}

/** The checkpoint that a run is to continue from, if it is to; or why it cannot be used. */
export function importedCheckpoint(
  options: RunOptions,
): ImportedCheckpoint | { readonly failure: Failure } | undefined {
  const { project, config, flow, continuation } = options;
  if (continuation?.how !== 'checkpoint') return undefined;
  const key = resolveSigningKey(config, project);
  if ('problem' in key) return { failure: { code: 'bad-input', message: key.problem } };
  const read = readCheckpoint(project, continuation.file, key.key);
  const another = 'of' in read && read.of && fromAnotherFlow(flow, { runId: continuation.file, run: read.of });
  if (another) return { failure: another };
  return 'failure' in read ? read : { ...read, unusable: unusableIn(read, flow) };
}

function unusableIn({ lines, absent = [] }: ReadCheckpoint, flow: Flow): string[] {
  const known = new Set(flow.phases.map(({ id }) => id));
  const gone = lines.flatMap((line) => (line.type === 'phase' && isTopLevel(line.phase) ? [line.phase] : []));
  const warnings: string[] = [];
  const names = listed(gone.filter((id) => !known.has(id)));
  if (names !== '') warnings.push(`of the checkpoint, the flow no longer has ${names}`);
  if (absent.length > 0) {
    const how = '`taskflow checkpoint export` makes a file that has them';
    warnings.push(`no run of this machine has the result of ${listed(absent)}; ${how}`);
  }
  return warnings;
}

const MOST_LISTED = 10;

function listed(names: readonly string[]): string {
  const all = [...new Set(names)];
  const more = all.length - MOST_LISTED;
  return more > 0 ? `${all.slice(0, MOST_LISTED).join(', ')} and ${more} more` : all.join(', ');
}

/** Rows of a batch and nested flows have phases of their own. */
function isTopLevel(path: string): boolean {
  return !path.includes('/');
}
