import type { RunStatus } from '../../model/event.js';
import type { JsonValue } from '../../model/json.js';
import type { Kind } from '../../model/kind.js';
import {
  type ItemCounts,
  type PhaseOutcome,
  type Savings,
  type Status,
  totalTokens,
  type Usage,
} from '../../model/outcome.js';
import type { Ledger } from './budget.js';
import type { ScopeResult } from './scope.js';

/** What `run --json` prints and the library returns. Fields are only ever added. */
export interface RunResult {
  readonly runId: string;
  readonly flow: string;
  readonly status: RunStatus;
  readonly output: string;
  readonly json: JsonValue;
  readonly durationMs: number;
  /** `usd` is null when some of it has no known price. */
  readonly spent: { readonly usd: number | null; readonly tokens: number };
  readonly saved: Savings;
  readonly reuse: { readonly executed: number; readonly run: number; readonly crossRun: number };
  readonly continues?: string;
  readonly phases: readonly PhaseResult[];
  readonly checkpoint: {
    readonly runId: string;
    readonly flow: string;
    readonly completed: readonly string[];
    readonly keys: Readonly<Record<string, string>>;
    readonly failed?: string;
  };
  readonly warnings?: readonly string[];
  readonly error?: {
    readonly phase: string;
    readonly code: string;
    readonly message: string;
    readonly hint?: string;
    readonly detail?: string;
  };
}

export interface PhaseResult {
  readonly id: string;
  readonly kind: Kind;
  readonly status: Status;
  readonly cacheHit: 'run' | 'cross-run' | null;
  readonly ageMs?: number;
  readonly reason: string;
  readonly key?: string;
  readonly output: string;
  readonly json: JsonValue;
  readonly base64?: string;
  readonly attempts: number;
  readonly durationMs: number;
  readonly usage: Usage;
  readonly saved?: Savings;
  readonly model?: string;
  readonly files?: readonly string[];
  readonly remark?: string;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly hint?: string;
    readonly detail?: string;
  };
  /** It failed or was blocked, and the run went on without it. */
  readonly optional?: true;
  readonly items?: ItemCounts;
}

export interface ResultFacts {
  readonly runId: string;
  readonly flow: { readonly name: string; readonly phases: readonly { readonly id: string }[] };
  readonly outcomes: ReadonlyMap<string, PhaseOutcome>;
  readonly result: Pick<ScopeResult, 'status' | 'output' | 'reuse' | 'failure'>;
  readonly ledger: Ledger;
  readonly durationMs: number;
  readonly continues?: string;
  readonly warnings: readonly string[];
  readonly mask: <T extends JsonValue>(value: T) => T;
}

/** The long parts are put together when somebody reads them: a person at a terminal never does. */
export function runResult(facts: ResultFacts): RunResult {
  const { flow, result, ledger, mask } = facts;
  const outcomes = () => flow.phases.flatMap(({ id }) => facts.outcomes.get(id) ?? []);
  let phases: readonly PhaseResult[] | undefined;
  let checkpoint: RunResult['checkpoint'] | undefined;
  const { failure } = result;
  return {
    runId: facts.runId,
    flow: flow.name,
    status: result.status,
    output: mask(result.output.text),
    json: mask(result.output.json),
    durationMs: Math.round(facts.durationMs),
    spent: spentOf(ledger),
    saved: { ...ledger.saved, ms: Math.round(ledger.saved.ms) },
    reuse: result.reuse,
    continues: facts.continues,
    get phases() {
      phases ??= outcomes().map((phase) => phaseResult(phase, mask));
      return phases;
    },
    get checkpoint() {
      checkpoint ??= checkpointOf(facts, outcomes());
      return checkpoint;
    },
    warnings: facts.warnings.length === 0 ? undefined : facts.warnings,
    error: failure && {
      phase: failure.phase,
      code: failure.code,
      message: mask(failure.message),
      hint: failure.hint,
      detail: failure.detail === undefined ? undefined : mask(failure.detail),
    },
  };
}

function checkpointOf(
  { runId, flow, result }: ResultFacts,
  outcomes: readonly PhaseOutcome[],
): RunResult['checkpoint'] {
  const done = outcomes.filter((phase) => phase.status === 'done');
  return {
    runId,
    flow: flow.name,
    completed: done.map((phase) => phase.id),
    keys: Object.fromEntries(done.flatMap((phase) => (phase.key === undefined ? [] : [[phase.id, phase.key]]))),
    failed: result.failure?.phase,
  };
}

export function spentOf(ledger: Ledger): { usd: number | null; tokens: number } {
  const { spent } = ledger;
  return { usd: spent.usd ?? null, tokens: totalTokens(spent) };
}

function phaseResult(phase: PhaseOutcome, mask: ResultFacts['mask']): PhaseResult {
  const { failure } = phase;
  return {
    id: phase.id,
    kind: phase.kind,
    status: phase.status,
    cacheHit: phase.cacheHit,
    ageMs: phase.ageMs,
    reason: mask(phase.reason),
    key: phase.key,
    output: mask(phase.output.text),
    json: mask(phase.output.json),
    base64: phase.output.base64,
    attempts: phase.attempts,
    durationMs: Math.round(phase.durationMs),
    usage: phase.usage,
    saved: phase.saved,
    model: phase.model,
    files: phase.files.length === 0 ? undefined : phase.files.map((file) => file.path),
    remark: phase.remark,
    error: failure && {
      code: failure.code,
      message: mask(failure.message),
      hint: failure.hint,
      detail: failure.detail === undefined ? undefined : mask(failure.detail),
    },
    optional: phase.optional,
    items: phase.items,
  };
}
