import { fileURLToPath } from 'node:url';
import { assembleInRun } from '../assemble/in-run.js';
import type { RunEvent } from '../model/event.js';
import type { JsonValue } from '../model/json.js';
import { bindArgs } from '../plan/args.js';
import type { RunOptions } from '../run/core/options.js';
import type { RunResult } from '../run/core/result.js';
import { flowOrigin } from '../run/start/flow-origin.js';
import { startRun } from '../run/start/start-run.js';
import type { Project } from '../util/project.js';
import { handleOf } from './handle.js';
import type { LoadedFlow } from './load.js';
import { completeConfig, type GivenConfig, loadSettings } from './settings.js';
import { requireTrusted } from './trust.js';

/** How a program runs a flow: the flags of the command line as fields. */
export interface RunFlowOptions
  extends Partial<
    Omit<
      RunOptions,
      | 'project'
      | 'flow'
      | 'source'
      | 'args'
      | 'config'
      | 'forecast'
      | 'batch'
      | 'world'
      | 'assemble'
      | 'generated'
      | 'refuseEffects'
      | 'tidier'
      | 'onReused'
    >
  > {
  readonly args?: Readonly<Record<string, JsonValue>>;
  /** Settings instead of those that the flow was loaded with, or else of the settings files. */
  readonly config?: GivenConfig;
}

export interface RunHandle {
  /** Every event of the run, in order; ends with the run. Need not be read. */
  readonly events: AsyncIterable<RunEvent>;
  /** Rejects only when the run cannot begin: wrong arguments, wrong configuration, nothing to resume. */
  readonly result: Promise<RunResult>;
}

export function runFlow(project: Project, flow: LoadedFlow, options: RunFlowOptions = {}): RunHandle {
  return handleOf((onEvent) => begin({ project, flow, options }, onEvent));
}

interface RunCall {
  readonly project: Project;
  readonly flow: LoadedFlow;
  readonly options: RunFlowOptions;
}

async function begin(call: RunCall, onEvent: (event: RunEvent) => void): Promise<RunResult> {
  const { project, flow: loaded } = call;
  const { args = {}, config, ...options } = call.options;
  const bound = bindArgs(loaded.flow.args, args, { root: project.root, source: 'json' });
  if ('problems' in bound) throw new Error(bound.problems.map((problem) => problem.message).join('\n'));
  const result = await startRun(
    { ...options, ...(await whatToRun(project, loaded, config)), args: bound.args },
    onEvent,
  );
  if ('refused' in result) throw new Error(result.refused.message);
  return result;
}

/** Its place in the package. */
const TIDIER = fileURLToPath(new URL('../../tidy.cjs', import.meta.url));

/** The part of the engine's options that follows from what was loaded. */
export async function whatToRun(
  project: Project,
  { flow, ref, config: loadedWith, generated = false, ...loaded }: LoadedFlow,
  given: GivenConfig | undefined,
): Promise<Pick<RunOptions, 'project' | 'flow' | 'source' | 'config' | 'assemble' | 'generated' | 'tidier'>> {
  await requireTrusted(project);
  const config = given ? completeConfig(given) : (loadedWith ?? (await loadSettings(project)));
  return { project, flow, config, source: flowOrigin(ref, loaded), generated, assemble: assembleInRun, tidier: TIDIER };
}
