import { isJsonObject } from '../../model/json.js';
import { askedOf } from './details.js';
import { inputsOf } from './inputs.js';
import type { KeptIn } from './made-from.js';
import type { ReadRun } from './read-run.js';
import type { TextBudget } from './text.js';
import type { Detail } from './types.js';

export interface InputSources {
  readonly kept: KeptIn;
  /** The run to compare with. */
  readonly before?: ReadRun;
  readonly texts: TextBudget;
  /** False: contents are left out. */
  readonly outputs: boolean;
}

/** A detail with the inputs of its result. For a reused result, the prompt comes from its entry. */
export function withInputs(run: ReadRun, name: string, sources: InputSources): Detail | undefined {
  const detail = run.details.get(name);
  const made = detail && run.madeFrom.find(name, sources.kept);
  if (!made) return detail;
  if ('unknown' in made) return { ...detail, inputs: made };
  const { kept, before, texts, outputs } = sources;
  const earlier = before?.madeFrom.find(name, kept);
  const beside = before && earlier && 'identity' in earlier ? { runId: before.view.runId, made: earlier } : undefined;
  const body = made.identity['body'];
  const asks = outputs && detail.asked.length === 0 && isJsonObject(body ?? null);
  return {
    ...detail,
    ...(asks && { asked: askedOf(body as Parameters<typeof askedOf>[0], texts), askedThen: true as const }),
    inputs: inputsOf(made, beside, texts),
  };
}
