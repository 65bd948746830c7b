import { join } from 'node:path';
import type { AssembleOutcome, How } from '../assemble/assemble.js';
import type { AssembleEvent } from '../assemble/events.js';
import { recordFile } from '../assemble/folder.js';
import type { PlanEnding } from '../assemble/record.js';
import { DEFAULT_ROUNDS, type Example } from '../assemble/request.js';
import type { Uses } from '../assemble/uses.js';
import type { JsonObject } from '../model/json.js';
import type { Spent } from '../model/outcome.js';
import type { Project } from '../util/project.js';
import { handleOf } from './handle.js';
import type { LoadedFlow } from './load.js';
import { completeConfig, type GivenConfig, loadSettings } from './settings.js';
import { requireTrusted } from './trust.js';

/** What a flow is wanted for. */
export interface FlowRequest {
  /** In words. */
  readonly task: string;
  /** JSON Schema of an object: its properties are the flow's arguments. */
  readonly input: JsonObject;
  /** JSON Schema of the result. */
  readonly output: JsonObject;
  readonly examples?: readonly (Omit<Example, 'name'> & { readonly name?: string })[];
}

export interface AssembleFlowOptions {
  /** Settings instead of the settings files. */
  readonly config?: GivenConfig;
  /** The runner that writes the flow; its phases use the runner and model of the settings. */
  readonly runner?: string;
  readonly model?: string;
  /** Flows that the planner may write. Default: 6. */
  readonly maxRounds?: number;
  /** For planning and trying. Default: 2, where the runner reports its cost. */
  readonly maxUSD?: number;
  /** Ignores existing plans, and adds a new one. */
  readonly replan?: boolean;
  /** The flow may execute commands. */
  readonly allowScripts?: boolean;
  readonly signal?: AbortSignal;
}

/** The outcome. A failed attempt is a value, too. */
export type AssembledFlow =
  | {
      readonly status: 'complete';
      readonly how: How;
      readonly id: string;
      readonly inputId: string;
      readonly flowId: string;
      readonly definition: JsonObject;
      readonly uses: Uses;
      /** What this call spent. */
      readonly spent: Spent;
      /** For `runFlow`. */
      readonly flow: LoadedFlow;
    }
  | {
      readonly status: 'incomplete';
      readonly ended: PlanEnding;
      readonly error: string;
      readonly hint?: string;
      readonly spent: Spent;
      readonly id?: string;
      /** The last flow, good or not. */
      readonly definition?: JsonObject;
    };

export interface AssembleHandle {
  /** Every step, in order. Need not be read. */
  readonly events: AsyncIterable<AssembleEvent>;
  /** Rejects for an invalid request: a schema that is none, an example that does not fit it. */
  readonly result: Promise<AssembledFlow>;
}

/** A flow for a task: from memory, from disk, or written by an agent and tried on the examples. */
export function assembleFlow(
  project: Project,
  request: FlowRequest,
  options: AssembleFlowOptions = {},
): AssembleHandle {
  return handleOf<AssembledFlow, AssembleEvent>((onEvent) => begin({ project, request, options }, onEvent));
}

interface AssembleCall {
  readonly project: Project;
  readonly request: FlowRequest;
  readonly options: AssembleFlowOptions;
}

async function begin(
  { project, request, options }: AssembleCall,
  onEvent: (event: AssembleEvent) => void,
): Promise<AssembledFlow> {
  await requireTrusted(project);
  const { config: given, maxRounds = DEFAULT_ROUNDS, maxUSD, ...how } = options;
  const config = given ? completeConfig(given) : await loadSettings(project);
  const examples = (request.examples ?? []).map((example, index) => ({ name: String(index + 1), ...example }));
  // Loaded here: most programs assemble no flow.
  const { assemble } = await import('../assemble/assemble.js');
  const outcome = await assemble({
    ...how,
    project,
    config,
    request: { ...request, examples },
    limits: { maxRounds, ...(maxUSD !== undefined && { maxUSD }) },
    onEvent: (event) => onEvent({ ...event, at: project.clock.now() }),
  });
  if (outcome.status === 'refused') throw new Error(outcome.problems.map(({ message }) => message).join('\n'));
  return outcome.status === 'complete' ? complete(project, outcome, given && { config }) : incomplete(outcome);
}

function complete(
  { root }: Project,
  { status, how, record, flow, spent }: Extract<AssembleOutcome, { readonly status: 'complete' }>,
  settings: Pick<LoadedFlow, 'config'> | undefined,
): AssembledFlow {
  const { id, inputId, flowId, uses, allowScripts, flow: definition = {} } = record;
  const ref = recordFile(id);
  const file = join(root, ref);
  const loaded: LoadedFlow = {
    flow,
    warnings: [],
    file,
    digest: flowId,
    files: [file],
    ref,
    generated: !allowScripts,
    ...settings,
  };
  return { status, how, id, inputId, flowId, definition, uses, spent, flow: loaded };
}

function incomplete(outcome: Extract<AssembleOutcome, { readonly status: 'incomplete' }>): AssembledFlow {
  const { status, ended, error, hint, spent, record, definition } = outcome;
  return {
    status,
    ended,
    error,
    spent,
    ...(hint !== undefined && { hint }),
    ...(record && { id: record.id }),
    ...(definition && { definition }),
  };
}
