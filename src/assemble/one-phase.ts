import { checkFlowText } from '../check/check-flow.js';
import { diskWorld } from '../check/world.js';
import type { Config } from '../model/config.js';
import type { Failure } from '../model/failure.js';
import type { RunResult } from '../run/core/result.js';
import { startRun } from '../run/start/start-run.js';
import type { Project } from '../util/project.js';
import { limitsOf, type OnAssembleEvent } from './events.js';

/** Who is asked, and what ends it: the same for the planner and for the judge. */
export interface Asking {
  readonly project: Project;
  readonly config: Config;
  readonly runner?: string;
  readonly model?: string;
  readonly signal?: AbortSignal;
  /** False: at a provider's usage limit it ends, and the same call goes on later. */
  readonly waitForLimits?: boolean;
  readonly onEvent: OnAssembleEvent;
}

/** That alone, of something that is asked with more. */
export function askingOf({ project, config, runner, model, signal, waitForLimits, onEvent }: Asking): Asking {
  return { project, config, runner, model, signal, waitForLimits, onEvent };
}

export interface OnePhase extends Asking {
  /** Of the run in the history. */
  readonly name: string;
  /** Fields of the phase; its text is `prompt`, whatever braces that has. */
  readonly phase: object;
  readonly prompt: string;
  readonly maxUSD?: number;
}

/** Asks an agent one thing, as a run of its own: it is in the history, and its processes end with it. */
export async function runOnePhase(options: OnePhase): Promise<RunResult | { readonly refused: Failure }> {
  const { project, name, phase, prompt, config: settings, onEvent, ...limits } = options;
  // It is a step of something else: who waits for runs to end is not told.
  const { hooks: _hooks, ...config } = settings;
  const phases = [{ ...phase, task: '{args.prompt}', tools: [], cwd: 'temp', cache: { scope: 'off' } }];
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
