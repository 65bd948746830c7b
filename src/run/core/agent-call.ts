import { type AgentFile, findAgent } from '../../agent/agent-files.js';
import { modelRole, noSuchRole } from '../../model/config.js';
import type { Failure } from '../../model/failure.js';
import type { Flow, TaskBody } from '../../model/flow.js';
import type { JsonObject } from '../../model/json.js';
import { nearestName } from '../../util/nearest.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { PooledRunner } from '../context/runner-pool.js';
import { costUnknown } from './held-budget.js';

/** Who answers a task: the runner and all that decides how it answers. */
export interface AgentCall {
  readonly pooled: PooledRunner;
  readonly model?: string;
  readonly thinking?: string;
  readonly tools?: readonly string[];
  readonly systemPrompt?: string;
  readonly identity: JsonObject;
  /** The flow, the settings and the agent's file say all of it: no client was searched for or asked. */
  readonly isWritten: boolean;
}

const UNASKED_VERSION: Failure = {
  code: 'forecast',
  message: "a dry run does not ask the client's version (pinVersion)",
};

type Called = AgentCall | { readonly failure: Failure };
type Place = Pick<PhaseContext, 'run' | 'scope'>;

interface KnownCall {
  readonly run: PhaseContext['run'];
  readonly flow: Flow;
  readonly system: string | undefined;
  readonly call: AgentCall;
}

/** The last one of each body: all items and rows have the same, and its part of their identities is encoded once. */
const lastCalls = new WeakMap<TaskBody, KnownCall>();

/** `system` is the body's system prompt, rendered or not; that of an agent's file holds no placeholders. */
export function agentCall(at: Place, body: TaskBody, system = body.systemPrompt): Called | Promise<Called> {
  const known = lastCalls.get(body);
  const isSame = known && known.run === at.run && known.flow === at.scope.flow && known.system === system;
  return isSame ? known.call : findCall(at, body, system);
}

async function findCall(at: Place, body: TaskBody, system: string | undefined): Promise<Called> {
  const { run, scope } = at;
  const { options } = run;
  const agent = body.agent === undefined ? undefined : await agentFile(at, body.agent);
  if (agent && 'failure' in agent) return agent;
  const pooling = run.flows.runners.get(body.runner, scope.flow.runner);
  const pooled = pooling instanceof Promise ? await pooling : pooling;
  if ('failure' in pooled) return pooled;
  const { runner } = pooled;
  const unpriced = costUnknown(options, runner);
  if (unpriced) return { failure: unpriced };
  const written =
    options.model ?? body.model ?? agent?.model ?? scope.flow.model ?? options.config.model ?? runner.defaultModel;
  const chosen = modelFor(written, options.config.models);
  if ('failure' in chosen) return chosen;
  const { model } = chosen;
  const thinking = body.thinking ?? agent?.thinking ?? scope.flow.thinking ?? options.config.thinking;
  const tools = body.tools ?? agent?.tools;
  const systemPrompt = [agent?.systemPrompt, system].filter(Boolean).join('\n\n') || undefined;
  const pins = options.config.runners[runner.name]?.pinVersion === true;
  // A dry run starts and asks nothing, so it cannot tell.
  if (pins && options.forecast && runner.probe !== undefined) return { failure: UNASKED_VERSION };
  const pinned = pins ? await pooled.version() : undefined;
  if (pinned && 'failure' in pinned) return pinned;
  const call: AgentCall = {
    pooled,
    model,
    thinking,
    tools,
    systemPrompt,
    isWritten: pinned === undefined && (body.runner ?? scope.flow.runner ?? options.config.runner) !== undefined,
    identity: {
      runner: runner.name,
      type: runner.type,
      settings: runner.settings,
      model: model ?? null,
      thinking: thinking ?? null,
      tools: tools ? [...tools] : null,
      agent: body.agent ?? null,
      systemPrompt: systemPrompt ?? null,
      ...(pinned ? { clientVersion: pinned.version } : {}),
    },
  };
  // An agent's file may change at any time.
  if (!agent) lastCalls.set(body, { run, flow: scope.flow, system, call });
  return call;
}

/** A role is looked up in the settings; any other name is the model itself. */
function modelFor(
  written: string | undefined,
  models: Readonly<Record<string, string>>,
): { readonly model: string | undefined } | { readonly failure: Failure } {
  const role = written === undefined ? undefined : modelRole(written);
  if (role === undefined) return { model: written };
  if (!Object.hasOwn(models, role)) return { failure: { code: 'bad-input', ...noSuchRole(role) } };
  return { model: models[role] };
}

async function agentFile(at: Place, name: string): Promise<AgentFile | { readonly failure: Failure }> {
  const found = findAgent(at.run.options.project, name, { scope: at.scope.flow.agentScope });
  if ('agent' in found) return found.agent;
  const nearest = await nearestName(name, found.known);
  const hint = nearest === undefined ? undefined : `Did you mean ${nearest}?`;
  return { failure: { code: 'bad-input', message: found.problem, hint } };
}
