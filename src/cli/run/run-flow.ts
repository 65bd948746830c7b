import { resolve } from 'node:path';
import type { Flow } from '../../model/flow.js';
import type { Continuation, RunOptions, Selection } from '../../run/core/options.js';
import { lastRunId } from '../../run/history/runs-folder.js';
import type { Invocation } from '../boot/command.js';
import { complain } from '../errors/problem.js';
import { givenArgs } from '../flags/given-args.js';
import type { UsableFlow } from '../load/flow-file.js';
import type { UsableConfig } from '../load/settings.js';
import { type ExecuteOptions, executeRun } from './execute.js';
import { snapshotCollector } from './from-snapshot.js';
import { prepareRun } from './prepare-run.js';

/** How a watch changes each of its runs. */
interface Watching extends Omit<ExecuteOptions, 'snapshot'> {
  /** The run that is continued, whatever the flags say. */
  readonly continued?: string;
  readonly onLoaded: (loaded: UsableFlow, configured: UsableConfig) => void;
  /** Called before anything is read that the run looks at. */
  readonly beforeRun: (options: RunOptions) => Promise<RunOptions>;
}

/** `taskflow run`: finds everything that is wrong with the command line and the flow, then runs it or forecasts. */
export async function runFlowCommand(invocation: Invocation, watching?: Watching): Promise<number> {
  const conflict = contradiction(invocation);
  if (conflict) return complain(invocation, conflict);
  const [typed, ...pairs] = invocation.positionals as [string, ...string[]];
  let collector: ReturnType<typeof snapshotCollector>;
  const options = await prepareRun(invocation, {
    typed,
    args: ({ args }) => givenArgs(invocation, args, { pairs }),
    selection: selectionOf(invocation),
    continuation: (flow) =>
      watching?.continued === undefined
        ? continuationOf(invocation, flow)
        : { how: 'resume', runId: watching.continued },
    onLoaded: (loaded, configured) => {
      collector = snapshotCollector(invocation, loaded, configured);
      watching?.onLoaded(loaded, configured);
    },
  });
  if ('status' in options) return options.status;
  const run = (await watching?.beforeRun(options)) ?? options;
  if (!invocation.flags.boolean('dry-run')) return executeRun(invocation, run, { ...watching, snapshot: collector });
  const { showForecast } = await import('./dry-run.js');
  const { forecastWorkers } = await import('./workers.js');
  return showForecast(invocation, { ...run, ...forecastWorkers(invocation, run.config) });
}

function selectionOf({ flags }: Invocation): Selection {
  return { only: flags.string('only'), from: flags.string('from'), until: flags.string('until') };
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
  flow: Flow,
): Promise<Continuation | { readonly problem: string; readonly hint?: string }> {
  if (flags.boolean('fresh')) return { how: 'fresh' };
  const checkpoint = flags.string('resume-from');
  if (checkpoint !== undefined) return { how: 'checkpoint', file: resolve(cwd, checkpoint) };
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
