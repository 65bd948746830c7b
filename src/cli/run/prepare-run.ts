import { assembleInRun } from '../../assemble/in-run.js';
import type { RunnableFlow } from '../../assemble/run-options.js';
import type { Config } from '../../model/config.js';
import type { Flow } from '../../model/flow.js';
import type { Continuation, FlowOrigin, RunOptions, Selection } from '../../run/core/options.js';
import { unknownInSelection } from '../../run/schedule/selection.js';
import { flowOrigin } from '../../run/start/flow-origin.js';
import type { Invocation } from '../boot/command.js';
import { complain, complainAll } from '../errors/problem.js';
import type { GivenArgs } from '../flags/given-args.js';
import { readRunFlags } from '../flags/run-flags.js';
import { requireFlow, type UsableFlow } from '../load/flow-file.js';
import { requireConfig, type UsableConfig } from '../load/settings.js';

/** The parts of a command line that differ between the commands that run a flow. */
interface RunRequest {
  /** FLOW: a path or a saved flow's name. */
  readonly typed: string;
  readonly args: (flow: Flow) => GivenArgs | Promise<GivenArgs>;
  /** `--only`, `--from`, `--until`. */
  readonly selection?: Selection;
  /** The selection as the flow knows it, for a batch, whose paths may begin with a row. */
  readonly selectionInFlow?: (selection: Selection) => Selection;
  readonly continuation?: (flow: Flow) => Promise<Continuation | Refusal> | Continuation;
  /** How the continued run named its flow. Default: as typed. */
  readonly named?: Pick<FlowOrigin, 'ref' | 'byName'>;
  /** Called with the flow and the settings before they are used. */
  readonly onLoaded?: (loaded: UsableFlow, configured: UsableConfig) => void;
  /** Loads a flow that has no file of its own, instead of the typed one. */
  readonly kept?: (config: Config) => Promise<RunnableFlow | Refusal>;
  /** Of a command that has no run flags and has read the settings already. */
  readonly config?: Config;
}

interface Refusal {
  readonly problem: string;
  readonly hint?: string;
}

type Stopped = { readonly status: number };

/** Turns a command line into a run's options; or gives the exit status after every problem has been shown. */
export async function prepareRun(invocation: Invocation, request: RunRequest): Promise<RunOptions | Stopped> {
  const settings: Partial<RunOptions> | Refusal = request.config ? {} : readRunFlags(invocation, request.selection);
  if ('problem' in settings) return { status: complain(invocation, settings.problem) };
  const loaded = request.kept ? undefined : await requireFlow(invocation, request.typed);
  if (loaded && 'status' in loaded) return loaded;
  const configured = request.config ? { config: request.config } : await requireRunConfig(invocation);
  if ('status' in configured) return configured;
  if (loaded && 'problems' in configured) request.onLoaded?.(loaded, configured);
  const kept = await request.kept?.(configured.config);
  if (kept && 'problem' in kept) return { status: complain(invocation, kept.problem, kept.hint) };
  const { flow, ...origin } = kept ?? {
    flow: loaded!.flow,
    source: { ...originOf(loaded!, request.typed), ...request.named },
  };
  const bound = await request.args(flow);
  if ('problems' in bound) return { status: complainAll(invocation, bound.problems) };
  const { selection = {} } = settings;
  const unknown = await unknownSelector(flow, request.selectionInFlow?.(selection) ?? selection);
  if (unknown) return { status: complain(invocation, unknown.message, unknown.hint) };
  const continuation = await request.continuation?.(flow);
  if (continuation && 'problem' in continuation) {
    return { status: complain(invocation, continuation.problem, continuation.hint) };
  }
  return {
    ...settings,
    assemble: assembleInRun,
    project: invocation.project,
    config: configured.config,
    flow,
    ...origin,
    args: bound.args,
    ...(continuation && { continuation }),
  };
}

/** The settings, with a runner for `--runner`. */
export async function requireRunConfig(invocation: Invocation): Promise<UsableConfig | Stopped> {
  const configured = await requireConfig(invocation);
  if ('status' in configured) return configured;
  const name = invocation.flags.string('runner');
  if (name === undefined) return configured;
  const { unknownRunner } = await import('../../config/runners.js');
  const unknown = await unknownRunner(name, Object.keys(configured.config.runners));
  return unknown ? { status: complain(invocation, unknown.message, unknown.hint) } : configured;
}

function originOf({ file, digest, looked }: UsableFlow, typed: string): FlowOrigin {
  return flowOrigin(typed, { file, digest, files: looked.map(({ path }) => path) });
}

const MOST_LISTED = 20;

async function unknownSelector(flow: Flow, selection: Selection) {
  const [unknown] = unknownInSelection(flow, selection);
  if (unknown === undefined) return undefined;
  const { nearestName } = await import('../../util/nearest.js');
  const ids = flow.phases.map(({ id }) => id);
  const nearest = await nearestName(unknown, ids);
  const more = ids.length > MOST_LISTED ? ', …' : '';
  const hint = nearest ? `did you mean ${nearest}?` : `it has: ${ids.slice(0, MOST_LISTED).join(', ')}${more}`;
  return { message: `the flow has no phase ${unknown}`, hint };
}
