import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Failure } from '../model/failure.js';
import { formatDuration } from '../util/duration.js';
import type { Project } from '../util/project.js';
import type { RunOptions } from './options.js';
import { isUnfinished, type RunHead, runHead } from './run-state.js';
import { isRunId, lastRunId, runFolder } from './runs-folder.js';

/** What to continue, or why not. `notice`: worth a line for the person. */
export type Decision =
  | { readonly previous: RunHead; readonly how: 'auto' | 'resume'; readonly notice?: string }
  | { readonly previous?: undefined; readonly notice?: string }
  | { readonly failure: Failure };

/** Without a new run's id (a dry run) it only looks, and claims nothing. */
export function decideContinuation(
  options: RunOptions,
  flowId: string,
  argsDigest: string,
  newRunId: string | undefined,
): Decision {
  const wanted = options.continuation ?? { how: 'auto', finished: false };
  const { project } = options;
  if (wanted.how === 'checkpoint') return {};
  if (wanted.how === 'resume') return resume(project, wanted.runId, newRunId);
  const { only, from } = options.selection ?? {};
  if (only !== undefined || from !== undefined) return partial(project, flowId);
  if (wanted.how !== 'auto' || options.reuse === 'off' || options.reuse === 'refresh') return {};
  if (options.source.byName || options.source.file === undefined) return {};
  if (!options.config.iteration.enabled && !wanted.finished) return {};
  return auto(options, flowId, argsDigest, newRunId, wanted.finished);
}

function auto(
  options: RunOptions,
  flowId: string,
  argsDigest: string,
  newRunId: string | undefined,
  finished: boolean,
): Decision {
  const { project, config } = options;
  const runId = lastRunId(project, flowId, argsDigest);
  const head = runId === undefined ? undefined : runHead(project, runId);
  if (!head || head.run.mode === 'batch') return {};
  if (head.state === 'running') return { notice: `run ${head.runId} of this flow is under way: starting afresh` };
  if (!isUnfinished(head.state) && !finished) return {};
  const ageMs = project.clock.now() - head.endedAt;
  if (ageMs > config.iteration.ttlMs && !finished) return {};
  const taken = claim(project, head.runId, newRunId);
  if (taken !== undefined) return { notice: `run ${head.runId} is being continued by run ${taken}: starting afresh` };
  return { previous: head, how: 'auto', notice: `${head.state} ${formatDuration(ageMs)} ago` };
}

/** The named run, or the newest of those that continue it: what happened since must not happen twice. */
function resume(project: Project, runId: string, newRunId: string | undefined): Decision {
  let head = isRunId(runId) ? runHead(project, runId) : undefined;
  if (!head) {
    return { failure: { code: 'bad-input', message: `there is no run ${runId}`, hint: '`taskflow runs` lists them.' } };
  }
  for (let next = successor(project, head.runId); next !== undefined; next = successor(project, head.runId)) {
    const later = runHead(project, next);
    if (!later) break;
    head = later;
  }
  if (head.state === 'running') {
    return {
      failure: {
        code: 'bad-input',
        message: `run ${head.runId} is under way in another process`,
        hint: 'Wait for it, or end it.',
      },
    };
  }
  const taken = claim(project, head.runId, newRunId);
  if (taken !== undefined) {
    return { failure: { code: 'bad-input', message: `run ${head.runId} is being continued by run ${taken}` } };
  }
  return {
    previous: head,
    how: 'resume',
    notice: head.runId === runId ? undefined : `run ${runId} went on as ${head.runId}`,
  };
}

/** Outputs for a partial run; the run they come from may be continued by others all the same. */
function partial(project: Project, flowId: string): Decision {
  const runId = lastRunId(project, flowId);
  const head = runId === undefined ? undefined : runHead(project, runId);
  return head ? { previous: head, how: 'resume' } : {};
}

const CONTINUED = 'continued-by';

function successor(project: Project, runId: string): string | undefined {
  try {
    const next = readFileSync(join(runFolder(project, runId), CONTINUED), 'utf8').trim();
    return isRunId(next) ? next : undefined;
  } catch {
    // Nobody has continued it.
    return undefined;
  }
}

/**
 * Takes the right to continue a run; the id of whoever has it otherwise. A successor that never wrote its first line
 * has died at once, and left nothing that could be lost.
 */
function claim(project: Project, runId: string, newRunId: string | undefined): string | undefined {
  if (newRunId === undefined) return undefined;
  const path = join(runFolder(project, runId), CONTINUED);
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      writeFileSync(path, `${newRunId}\n`, { flag: 'wx', mode: 0o600 });
      return undefined;
    } catch (error) {
      // A read-only folder cannot be claimed; what it holds can still be used.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return undefined;
    }
    const other = successor(project, runId);
    const head = other === undefined ? undefined : runHead(project, other);
    if (head) return other;
    if (!staleClaim(project, path)) return other ?? 'unknown';
    unlinkSync(path);
  }
  return 'unknown';
}

function staleClaim(project: Project, path: string): boolean {
  try {
    const runId = readFileSync(path, 'utf8').trim();
    // Between its claim and its first line a run needs milliseconds.
    return !isRunId(runId) || project.clock.now() - timeOf(runId) > 10_000;
  } catch {
    // Gone by now.
    return true;
  }
}

function timeOf(runId: string): number {
  const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)/.exec(runId) ?? [];
  return Date.UTC(Number(y), Number(mo) - 1, Number(d), Number(h), Number(mi), Number(s));
}
