import type { Failure } from '../../model/failure.js';
import type { JsonObject } from '../../model/json.js';
import type { Usage } from '../../model/outcome.js';
import { outputBytes } from '../../run/core/output-text.js';
import type { AttemptLine, EndLine, ResultLine, RowLine, RunLine } from '../../run/journal/lines.js';
import { CLIENT, INTERNAL, type Span, type Values } from './span.js';

/** The content of a span, without its place in the tree. */
export interface Described {
  readonly name: string;
  readonly kind?: Span['kind'];
  readonly from: number;
  readonly to: number;
  readonly values: Values;
  readonly failure?: Pick<Failure, 'message'>;
}

/** Outputs and prompts are not sent, only their size. */
export function describeResult(line: ResultLine, startedAt: number | undefined): Described {
  const { phase, unit, hit, status, saved, items, at } = line;
  const from = hit === null ? (startedAt ?? at - line.durationMs) : at;
  return {
    name: unit === undefined ? phase : `${phase} ${unit}`,
    from,
    to: at,
    values: {
      'taskflow.phase.path': phase,
      'taskflow.phase.unit': unit,
      'taskflow.phase.kind': line.kind,
      'taskflow.phase.status': status,
      'taskflow.phase.attempts': line.attempts,
      'taskflow.reuse.hit': hit !== null,
      'taskflow.reuse.scope': hit,
      'taskflow.reuse.shared': line.shared,
      'taskflow.reuse.age_ms': hit === null ? undefined : at - (line.madeAt ?? at),
      'taskflow.reuse.reason': line.reason,
      'taskflow.reuse.saved_usd': saved?.usd,
      'taskflow.reuse.saved_tokens': saved?.tokens,
      'taskflow.reuse.saved_ms': saved?.ms,
      'taskflow.cost.usd': line.usage.usd,
      'taskflow.output.bytes': outputBytes(line.output),
      'taskflow.items.total': items?.total,
      'taskflow.items.executed': items?.executed,
      'taskflow.items.reused': items?.reused,
      'taskflow.items.failed': items?.failed,
      ...errorType(status, line.failure),
    },
    ...badly(status, line.failure),
  };
}

interface Tried {
  readonly attempt: number;
  readonly from: number;
  readonly to: number;
  readonly usage: Usage;
  readonly inputs?: JsonObject;
  readonly model?: string;
  readonly failure?: Failure;
}

/** The journal has a line for each attempt that failed; the one after them is what the result is. */
export function attemptsOf(line: ResultLine, failed: readonly AttemptLine[], limitedUntil: number): Tried[] {
  const tried = failed.map(({ at, durationMs, ...rest }): Tried => ({ ...rest, from: at - durationMs, to: at }));
  const isCall = line.inputs?.['runner'] !== undefined || line.inputs?.['argv'] !== undefined;
  if (line.hit !== null || !isCall || line.attempts <= failed.length) return tried;
  const last = failed.at(-1);
  const again = last === undefined ? 0 : last.at + (last.retryInMs ?? 0);
  const reset = last?.failure.code === 'usage-limit' && limitedUntil < line.at ? limitedUntil : 0;
  const from = Math.min(line.at, Math.max(line.at - line.durationMs, again, reset));
  const usage = failed.reduce((left, one) => minus(left, one.usage), line.usage);
  const { inputs, model, attempts: attempt } = line;
  return [...tried, { attempt, from, to: line.at, usage, inputs, model }];
}

function minus(usage: Usage, part: Usage): Usage {
  const less = (all: number, some: number) => Math.max(0, all - some);
  return {
    inputTokens: less(usage.inputTokens, part.inputTokens),
    cachedInputTokens: less(usage.cachedInputTokens, part.cachedInputTokens),
    outputTokens: less(usage.outputTokens, part.outputTokens),
    ...(usage.usd !== undefined && part.usd !== undefined && { usd: less(usage.usd, part.usd) }),
  };
}

/** Provider by client name. Any other runner's name is used as its provider. */
const PROVIDERS: Readonly<Record<string, string>> = { claude: 'anthropic', codex: 'openai' };

export function describeAttempt({ attempt, from, to, usage, inputs = {}, model, failure }: Tried): Described {
  const { runner, model: asked } = inputs;
  const values = { 'taskflow.attempt': attempt, 'error.type': failure?.code };
  if (typeof runner !== 'string') return { name: `attempt ${attempt}`, kind: INTERNAL, from, to, values, failure };
  return {
    name: `invoke_agent ${runner}`,
    kind: CLIENT,
    from,
    to,
    failure,
    values: {
      ...values,
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': PROVIDERS[runner] ?? runner,
      'gen_ai.agent.name': runner,
      'gen_ai.request.model': typeof asked === 'string' ? asked : undefined,
      'gen_ai.response.model': model,
      'gen_ai.usage.input_tokens': usage.inputTokens + usage.cachedInputTokens,
      'gen_ai.usage.cache_read.input_tokens': usage.cachedInputTokens,
      'gen_ai.usage.output_tokens': usage.outputTokens,
      'taskflow.cost.usd': usage.usd,
    },
  };
}

export function describeRow({ at, row, label, status, usage, saved, durationMs, failure }: RowLine): Described {
  return {
    name: `row ${row}`,
    from: at - durationMs,
    to: at,
    values: {
      'taskflow.row.number': row,
      'taskflow.row.label': label,
      'taskflow.row.status': status,
      'taskflow.cost.usd': usage.usd,
      'taskflow.reuse.saved_usd': saved.usd,
      ...errorType(status, failure),
    },
    ...badly(status, failure),
  };
}

export function describeRun(run: RunLine, end: EndLine | undefined, lastAt: number): Described {
  const status = end?.status ?? 'running';
  return {
    name: `invoke_workflow ${run.flow}`,
    from: run.at,
    to: end?.at ?? lastAt,
    values: {
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.workflow.name': run.flow,
      'taskflow.run.id': run.runId,
      'taskflow.run.status': status,
      'taskflow.run.mode': run.mode,
      'taskflow.run.continues': run.continues,
      'taskflow.run.rows': run.rows,
      'taskflow.flow.file': run.file,
      'taskflow.cost.usd': end?.spent.usd,
      'taskflow.reuse.saved_usd': end?.saved.usd,
      'taskflow.reuse.saved_tokens': end?.saved.tokens,
      'taskflow.reuse.saved_ms': end?.saved.ms,
      ...errorType(status, end?.failure),
    },
    ...badly(status, end?.failure),
  };
}

/** Waiting and skipped phases have not failed. */
const BAD = new Set<string>(['failed', 'blocked', 'over-budget', 'interrupted']);

function errorType(status: string, failure: { readonly code: string } | undefined): Values {
  return { 'error.type': BAD.has(status) ? (failure?.code ?? status) : undefined };
}

function badly(status: string, failure: { readonly message: string } | undefined): Pick<Described, 'failure'> {
  return BAD.has(status) ? { failure: failure ?? { message: status } } : {};
}
