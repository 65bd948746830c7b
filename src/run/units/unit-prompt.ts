import type { TaskBody } from '../../model/flow.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { AgentCall } from '../core/agent-call.js';
import { Fence } from '../render/fence.js';
import { renderFenced } from '../render/render.js';
import type { Asking, UnitSpec } from './unit.js';

/** Rendered, as they are identified. */
export interface Texts {
  readonly context: string;
  readonly asked: string;
  readonly system: string;
}

export function joined(...texts: readonly string[]): string {
  let all = '';
  for (const text of texts) if (text !== '') all = all === '' ? text : `${all}\n\n${text}`;
  return all;
}

export function materialOf({ material = '', judges }: UnitSpec, how: Asking): string {
  return judges ? joined(material, judges(how)) : material;
}

/** The prompt that is sent. A judge's has new marks around the data each time. */
export function promptFor(
  at: PhaseContext,
  spec: UnitSpec & { readonly body: TaskBody },
  { call, texts, inJson }: { readonly call: AgentCall; readonly texts: Texts; readonly inJson: boolean },
): { readonly prompt: string; readonly systemPrompt: string | undefined } {
  const { systemPrompt } = call;
  if (!spec.judges) return { prompt: joined(texts.context, texts.asked), systemPrompt };
  const fence = new Fence();
  const filled = { fence, variables: spec.variables };
  const task = renderFenced(at, spec.body.task, filled);
  const material = materialOf(spec, { fence, inJson });
  const context = texts.context === '' ? '' : fence.block(texts.context);
  const own = systemPrompt?.slice(0, systemPrompt.length - texts.system.length);
  return {
    systemPrompt: own === undefined ? undefined : own + renderFenced(at, spec.body.systemPrompt ?? '', filled),
    prompt: fence.explained(joined(context, task, material)),
  };
}
