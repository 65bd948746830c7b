import { resolve } from 'node:path';
import { isFlowPath } from '../../check/find-flow.js';
import type { Continuation, Selection } from '../../run/core/options.js';
import { lastRunId } from '../../run/history/runs-folder.js';
import { unknownInSelection } from '../../run/schedule/selection.js';
import type { Invocation } from '../boot/command.js';
import { complain, complainAll } from '../errors/problem.js';
import { givenArgs } from '../flags/given-args.js';
import { readRunFlags } from '../flags/run-flags.js';
import { requireFlow, type UsableFlow } from '../load/flow-file.js';
import { unknownRunnerFlag } from '../load/named-runner.js';
import { requireConfig } from '../load/settings.js';
import { executeRun } from './execute.js';
import { snapshotCollector } from './from-snapshot.js';

/** `taskflow run`: everything that can be wrong with the command line and the flow, then the run. */
export async function runFlow(invocation: Invocation): Promise<number> {
  const { flags, positionals } = invocation;
  const selection = selectionOf(invocation);
  const settings = readRunFlags(invocation, selection);
  if ('problem' in settings) return complain(invocation, settings.problem);
  const conflict = contradiction(invocation);
  if (conflict) return complain(invocation, conflict);
  const [typed, ...pairs] = positionals as [string, ...string[]];
  const loaded = await requireFlow(invocation, typed);
  if ('status' in loaded) return loaded.status;
  const configured = await requireConfig(invocation);
  if ('status' in configured) return configured.status;
  const runner = await unknownRunnerFlag(invocation, configured.config);
  if (runner) return complain(invocation, runner.message, runner.hint);
  const bound = await givenArgs(invocation, pairs, loaded.flow.args);
  if ('problems' in bound) return complainAll(invocation, bound.problems);
  const unknown = await unknownPhase(loaded, settings.selection);
  if (unknown) return complain(invocation, unknown.message, unknown.hint);
  const continuation = await continuationOf(invocation, loaded);
  if ('problem' in continuation) return complain(invocation, continuation.problem, continuation.hint);

  const options = {
    ...settings,
    project: invocation.project,
    config: configured.config,
    flow: loaded.flow,
    source: {
      ref: typed,
      byName: !isFlowPath(typed),
      file: loaded.file,
      digest: loaded.digest,
      files: pathsOf(loaded),
    },
    args: bound.args,
    continuation,
  };
  if (flags.boolean('dry-run')) return (await import('./dry-run.js')).showForecast(invocation, options);
  return executeRun(invocation, options, snapshotCollector(invocation, loaded, configured));
}

function pathsOf({ looked }: UsableFlow): readonly string[] {
  return looked.map(({ path }) => path);
}

function selectionOf({ flags }: Invocation) {
  const only = flags.string('only');
  const from = flags.string('from');
  const until = flags.string('until');
  return {
    ...(only === undefined ? {} : { only }),
    ...(from === undefined ? {} : { from }),
    ...(until === undefined ? {} : { until }),
  };
}

function contradiction({ flags }: Invocation): string | undefined {
  const continuing = ['fresh', 'iterate', 'resume', 'resume-from'].filter((name) => flags.has(name));
  if (continuing.length > 1) return `--${continuing[0]} and --${continuing[1]} contradict each other`;
  if (flags.boolean('dry-run') && flags.boolean('events'))
    return '--dry-run has no events; --json is the whole forecast';
  if (flags.has('only') && (flags.has('from') || flags.has('until'))) return '--only means neither --from nor --until';
  return undefined;
}

async function continuationOf(
  { flags, project, cwd }: Invocation,
  { flow }: UsableFlow,
): Promise<Continuation | { readonly problem: string; readonly hint?: string }> {
  if (flags.boolean('fresh')) return { how: 'fresh' };
  const checkpoint = flags.string('resume-from');
  if (checkpoint !== undefined) {
    return { how: 'checkpoint', file: resolve(cwd, checkpoint) };
  }
  if (!flags.has('resume')) return { how: 'auto', finished: flags.boolean('iterate') };
  const typed = flags.string('resume') ?? 'last';
  if (typed !== 'last') {
    const { findRun } = await import('../load/run-ref.js');
    const found = findRun(project, typed);
    return 'problem' in found ? found : { how: 'resume', runId: found.runId };
  }
  const runId = lastRunId(project, flow.file ?? flow.name);
  return runId === undefined
    ? { problem: 'this flow has not run yet: there is nothing to resume' }
    : { how: 'resume', runId };
}

async function unknownPhase({ flow }: UsableFlow, selection: Selection) {
  const [unknown] = unknownInSelection(flow, selection);
  if (unknown === undefined) return undefined;
  const { nearestName } = await import('../../util/nearest.js');
  const ids = flow.phases.map(({ id }) => id);
  const nearest = await nearestName(unknown, ids);
  const hint = nearest
    ? `did you mean ${nearest}?`
    : `it has: ${ids.slice(0, 20).join(', ')}${ids.length > 20 ? ', …' : ''}`;
  return { message: `the flow has no phase ${unknown}`, hint };
}
