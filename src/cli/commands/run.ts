import { resolve } from 'node:path';
import { isFlowPath } from '../../check/find-flow.js';
import type { Continuation, Selection } from '../../run/options.js';
import { lastRunId } from '../../run/runs-folder.js';
import { unknownInSelection } from '../../run/selection.js';
import type { Command, Invocation } from '../command.js';
import { executeRun } from '../execute.js';
import { requireFlow, type UsableFlow } from '../flow-file.js';
import { givenArgs } from '../given-args.js';
import { complain, complainAll } from '../problem.js';
import { RUN_FLAGS, readRunFlags } from '../run-flags.js';
import { requireConfig } from '../settings.js';

export const command: Command = {
  usage: 'FLOW [K=V …] [flags]',
  description: `Status: 0 success, 1 a phase failed, 2 wrong usage or a flow with problems, 3 a gate blocked,
4 waiting for an approval, 5 over budget, 6 --frozen and a miss, 130 interrupted.`,
  examples: [
    { command: 'taskflow run overview', does: 'a saved flow' },
    { command: 'taskflow run ./flow.yaml topic="sea level" --json', does: 'a file with an argument; one JSON result' },
    { command: 'taskflow run ./flow.yaml --dry-run', does: 'what would run, what would be reused, and why' },
    { command: 'taskflow run ./flow.yaml --frozen', does: 'prove in CI that nothing changed' },
    { command: 'taskflow run ./flow.yaml --from report', does: 'from one phase on; earlier outputs are restored' },
  ],
  flags: [
    { name: 'dry-run', alias: 'n', type: 'boolean', help: 'what would run or be reused, and why; executes nothing' },
    { name: 'fresh', type: 'boolean', help: 'never continue an unfinished run' },
    { name: 'iterate', type: 'boolean', help: 'continue the last run even if it is finished' },
    {
      name: 'resume',
      type: 'string',
      value: 'RUN',
      optionalValue: /^\d{8}-\d{6}-[0-9a-z]{6}$/,
      help: 'continue that run (without RUN: the last one of this flow)',
    },
    { name: 'resume-from', type: 'string', value: 'FILE', help: 'continue from an exported checkpoint' },
    { name: 'only', type: 'string', value: 'ID', help: 'this phase alone; what it needs is restored' },
    { name: 'from', type: 'string', value: 'ID', help: 'this phase and everything after it' },
    { name: 'until', type: 'string', value: 'ID', help: 'this phase and everything it needs' },
    ...RUN_FLAGS,
  ],
  positionals: [
    { name: 'FLOW', help: 'a path, or the name of a saved flow', required: true },
    { name: 'K=V', help: 'arguments of the flow', required: false, many: true },
  ],
  async run(invocation) {
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
    const bound = await givenArgs(invocation, pairs, loaded.flow.args);
    if ('problems' in bound) return complainAll(invocation, bound.problems);
    const unknown = await unknownPhase(loaded, settings.selection);
    if (unknown) return complain(invocation, unknown.message, unknown.hint);
    const continuation = await continuationOf(invocation, loaded);
    if ('problem' in continuation) return complain(invocation, continuation.problem);

    const options = {
      ...settings,
      project: invocation.project,
      config: configured.config,
      flow: loaded.flow,
      source: { ref: typed, byName: !isFlowPath(typed), file: loaded.file, digest: loaded.digest },
      args: bound.args,
      continuation,
    };
    if (flags.boolean('dry-run')) return (await import('../dry-run.js')).showForecast(invocation, options);
    return executeRun(invocation, options);
  },
};

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
  if (flags.has('only') && (flags.has('from') || flags.has('until'))) return '--only means neither --from nor --until';
  return undefined;
}

async function continuationOf(
  { flags, project, cwd }: Invocation,
  { flow }: UsableFlow,
): Promise<Continuation | { problem: string }> {
  if (flags.boolean('fresh')) return { how: 'fresh' };
  const checkpoint = flags.string('resume-from');
  if (checkpoint !== undefined) {
    return { how: 'checkpoint', file: resolve(cwd, checkpoint) };
  }
  if (!flags.has('resume')) return { how: 'auto', finished: flags.boolean('iterate') };
  const runId = flags.string('resume') ?? lastRunId(project, flow.file ?? flow.name);
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
