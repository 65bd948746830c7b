import { relative, resolve } from 'node:path';
import type { RunnerResult } from '../../agent/runner.js';
import type { Failure } from '../../model/failure.js';
import type { Observation } from '../../model/observation.js';
import type { TracedProcess } from '../../observe/traced.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { Workdir } from '../execute/workdir.js';
import { isWatched } from '../reuse/watch-inputs.js';

/** Follows one process of a phase, where that is wanted and can be done here. */
export async function traceFor(at: PhaseContext, workdir: Workdir): Promise<TracedProcess | undefined> {
  // The files of a worktree are not those of the project.
  if (!isWatched(at) || workdir.name === 'worktree') return undefined;
  const { project } = at.run.options;
  const { observeSupport } = await import('../../observe/support.js');
  const support = await observeSupport(project);
  if ('missing' in support) return undefined;
  const { TracedProcess } = await import('../../observe/traced.js');
  return new TracedProcess({
    strace: support.strace,
    root: project.root,
    // Whoever judges what was seen knows the globs.
    ...(at.policy.observe.include.length > 0 && { all: true }),
  });
}

/** What the client says of its own tools, where nobody has followed its calls. A shell command is opaque to it. */
export function clientObservation(
  { filesRead, filesWritten }: Pick<RunnerResult, 'filesRead' | 'filesWritten'>,
  workPath: string,
  root: string,
): Observation | undefined {
  const inside = (paths: readonly string[]) =>
    [...new Set(paths.map((path) => relative(root, resolve(workPath, path))))]
      .filter((path) => path !== '' && !path.startsWith('..'))
      .sort();
  const [reads, writes] = [inside(filesRead), inside(filesWritten)];
  if (reads.length + writes.length === 0) return undefined;
  const incomplete = 'only what the client reports of its own tools';
  return { source: 'client', complete: false, incomplete, reads, lists: [], absent: [], writes };
}

/** An HTTP request that taskflow sends itself: nothing but what is in it can decide the answer. */
export const NOTHING_READ: Observation = {
  source: 'system',
  complete: true,
  reads: [],
  lists: [],
  absent: [],
  writes: [],
};

/** A failure that the tracer may have caused says so. */
export function withTracerHint(failure: Failure | undefined, observed: Observation | undefined): Failure | undefined {
  if (!failure || observed?.trouble !== 'hindered') return failure;
  return { ...failure, hint: `${observed.incomplete}; \`cache: { observe: off }\` traces nothing` };
}
