import type { RunEventBody } from '../../model/event.js';
import type { RunContext } from '../context/context.js';
import type { ContextParts } from '../context/make-context.js';
import type { Continued } from './recording.js';
import { outline } from './run-line.js';

interface Announced {
  readonly parts: ContextParts;
  readonly context: RunContext;
  readonly continued: Continued;
}

/** Says that the run starts, what it continues and what of that cannot be used. */
export async function announceStart({ parts, context, continued }: Announced): Promise<void> {
  const { options, emit, warn } = parts;
  const { flow, batch, forecast } = options;
  const { decision, imported } = continued;
  const found = forecast ? undefined : await continuesWhat(parts, context, decision.notice);
  const { continues, mismatches = [] } = found ?? {};
  emit({
    type: 'run-start',
    flow: flow.name,
    file: flow.file,
    phases: outline(flow),
    result: flow.result,
    rows: batch?.total,
    continues,
  });
  if (decision.notice !== undefined && !decision.previous) warn(decision.notice);
  for (const message of [...(imported?.unusable ?? []), ...mismatches]) warn(message);
}

/** Counting looks at each result before the run begins: with more of them, a person would wait too long. */
const MOST_COUNTED = 300;

type Continues = Extract<RunEventBody, { readonly type: 'run-start' }>['continues'];

async function continuesWhat(
  parts: ContextParts,
  { reuse }: RunContext,
  notice: string | undefined,
): Promise<{ readonly continues: Continues; readonly mismatches?: readonly string[] } | undefined> {
  const { options, prior } = parts;
  if (prior.runId === undefined) return undefined;
  const { phases } = options.flow;
  const facts = { runId: prior.runId, total: phases.length, notice };
  const done = { ...facts, reusable: phases.filter(({ id }) => prior.has(id)).length, known: 'done' as const };
  if (options.batch || prior.size > MOST_COUNTED) return { continues: done };
  const { countReusable } = await import('./count-reusable.js');
  const found = await countReusable(parts, reuse);
  if (!found) return { continues: done };
  const known = found.atLeast ? ('at-least' as const) : undefined;
  return {
    continues: { ...facts, reusable: found.reusable, known },
    mismatches: prior.how === 'checkpoint' ? found.mismatched.map(mismatch) : undefined,
  };
}

function mismatch({ id, reason }: { readonly id: string; readonly reason: string }): string {
  return `${id} does not match the checkpoint: ${reason}`;
}
