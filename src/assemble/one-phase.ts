import { diskWorld } from '../check/world.js';
import type { Config } from '../model/config.js';
import type { Failure } from '../model/failure.js';
import type { RunResult } from '../run/core/result.js';
import { startRun } from '../run/start/start-run.js';
import type { Project } from '../util/project.js';
import { limitsOf, type OnAssembleEvent } from './events.js';

/** The agent that is asked, and what ends the call: the same for the planner and for the judge. */
export interface AgentCallOptions {
  readonly project: Project;
  readonly config: Config;
  readonly runner?: string;
  readonly model?: string;
  readonly signal?: AbortSignal;
  /** False: a provider's usage limit ends it, and the same call goes on later. */
  readonly waitForLimits?: boolean;
  readonly onEvent: OnAssembleEvent;
}

/** Picks these fields from larger options. */
export function askingOf({
  project,
  config,
  runner,
  model,
  signal,
  waitForLimits,
  onEvent,
}: AgentCallOptions): AgentCallOptions {
  return { project, config, runner, model, signal, waitForLimits, onEvent };
}

interface OnePhase extends AgentCallOptions {
  /** Of the run in the history. */
  readonly name: string;
  /** Fields of the phase. Its task is the argument `prompt`, whose braces are not placeholders. */
  readonly phase: object;
  readonly prompt: string;
  readonly maxUSD?: number;
}

/** Asks an agent one thing, as a run of its own: it is in the history, and its processes end with it. */
export async function runOnePhase(options: OnePhase): Promise<RunResult | { readonly refused: Failure }> {
  const { project, name, phase, prompt, config: settings, onEvent, ...limits } = options;
  // A step of assembling: hooks are for whole runs.
  const { hooks: _hooks, ...config } = settings;
  const phases = [{ ...phase, task: '{args.prompt}', tools: [], cwd: 'temp', cache: { scope: 'off' } }];
  const { checkFlowText } = await import('../check/check-flow.js');
  const { flow, diagnostics } = await checkFlowText({
    file: `${name}.json`,
    text: JSON.stringify({ name, args: { prompt: { type: 'string' } }, phases }),
    world: diskWorld(project, Object.keys(config.runners), { models: Object.keys(config.models) }),
  });
  if (!flow) throw new Error(`the flow of ${name} has problems: ${diagnostics[0]?.message}`);
  const { file: _file, ...unnamed } = flow;
  const run = {
    ...limits,
    project,
    config,
    flow: unnamed,
    source: { ref: name, byName: true },
    args: { prompt },
    reuse: 'off',
    continuation: { how: 'fresh' },
  } as const;
  return startRun(run, limitsOf(onEvent));
}
