import type { JsonValue } from '../../model/json.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { AgentCall } from '../core/agent-call.js';
import type { RenderedTask, UnitJob } from '../core/unit-job.js';
import { contextText } from '../render/context-files.js';
import { renderedScript } from './rendered-script.js';
import { scriptUnit } from './script-unit.js';
import { taskUnit } from './task-unit.js';
import type { Prepared, UnitSpec } from './unit.js';

/** A unit that another process has rendered. Runners, variables and files are those of this machine. */
export async function prepareJob(
  at: PhaseContext,
  { body, cwd, ordinal, role, plainOutput }: UnitJob,
): Promise<Prepared> {
  if (!body) return { failure: { code: 'bad-input', message: 'the job does not say what is to be done' } };
  const placed = { ordinal, role, plainOutput, ...(cwd !== '.' && { cwd }) };
  if (body.type === 'run') {
    const rendered = renderedScript(body, at.run.options.project.env);
    const spec: UnitSpec = { ...placed, body: { type: 'run', run: body.run, env: {} } };
    return scriptUnit(at, spec, { rendered, unkeepable: undefined });
  }
  const context = await contextText(at, undefined);
  if ('failure' in context) return context;
  const call = await callOf(at, body);
  if ('failure' in call) return call;
  const spec = { ...placed, body: { type: 'task', task: body.task } } as const;
  const ready = { call, context, asked: body.task, system: '', inJson: false, unkeepable: undefined };
  return taskUnit(at, spec, ready);
}

/** The agent of the job, answered by the runner that has its name here. */
async function callOf(
  at: PhaseContext,
  { agent }: RenderedTask,
): Promise<AgentCall | Extract<Prepared, { failure: unknown }>> {
  const pooled = await at.run.flows.runners.get(textOf(agent['runner']), undefined);
  if ('failure' in pooled) return pooled;
  const { runner } = pooled;
  const pinned = agent['clientVersion'] === undefined ? undefined : await pooled.version();
  if (pinned && 'failure' in pinned) return pinned;
  const tools = agent['tools'];
  return {
    pooled,
    model: textOf(agent['model']),
    thinking: textOf(agent['thinking']),
    tools: Array.isArray(tools) ? tools.map(String) : undefined,
    systemPrompt: textOf(agent['systemPrompt']),
    isWritten: false,
    identity: {
      ...agent,
      runner: runner.name,
      type: runner.type,
      settings: runner.settings,
      ...(pinned && { clientVersion: pinned.version }),
    },
  };
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
