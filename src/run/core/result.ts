import type { RunStatus } from '../../model/event.js';
import type { JsonObject, JsonValue } from '../../model/json.js';
import { type Savings, type ShownOutcome, totalTokens } from '../../model/outcome.js';
import type { ShownFile } from '../../model/output.js';
import type { Ledger } from './budget.js';
import type { PhaseOutcome } from './execution.js';
import { lookedOf } from './observation-union.js';
import { shownOutput } from './output-folder.js';
import type { ScopeResult } from './scope.js';
import type { Secrets } from './secrets.js';

/** What `run --json` prints and the library returns. Fields are only ever added. */
export interface RunResult {
  readonly runId: string;
  readonly flow: string;
  readonly status: RunStatus;
  /** Of a large output the beginning; the whole is in `outputFile`. */
  readonly output: string;
  readonly json: JsonValue;
  readonly outputFile?: ShownFile;
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

/** Named as in events. */
type Shown =
  | ('id' | 'kind' | 'status' | 'cacheHit' | 'ageMs' | 'shared' | 'reason' | 'key' | 'attempts' | 'durationMs')
  | ('usage' | 'saved' | 'model' | 'remark' | 'optional' | 'items' | 'observed');

export interface PhaseResult extends Pick<ShownOutcome, Shown> {
  readonly output: string;
  readonly json: JsonValue;
  readonly base64?: string;
  readonly outputFile?: ShownFile;
  readonly files?: readonly string[];
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly hint?: string;
    readonly detail?: string;
  };
}

export interface ResultFacts {
  readonly runId: string;
  readonly root: string;
  readonly flow: { readonly name: string; readonly phases: readonly { readonly id: string }[] };
  readonly outcomes: ReadonlyMap<string, PhaseOutcome>;
  readonly result: Pick<ScopeResult, 'status' | 'output' | 'reuse' | 'failure'>;
  readonly ledger: Ledger;
  readonly durationMs: number;
  readonly continues?: string;
  readonly warnings: readonly string[];
  readonly secrets: Secrets;
}

/** The long parts are put together when somebody reads them: a person at a terminal never does. */
export function runResult(facts: ResultFacts): RunResult {
  const { flow, result, ledger, secrets } = facts;
  const outcomes = () => flow.phases.flatMap(({ id }) => facts.outcomes.get(id) ?? []);
  let phases: readonly PhaseResult[] | undefined;
  let checkpoint: RunResult['checkpoint'] | undefined;
  const failure = hidden(result.failure, secrets);
  const output = shownOutput(secrets.maskOutput(result.output), facts.root);
  return {
    runId: facts.runId,
    flow: flow.name,
    status: result.status,
    output: output.text,
    json: output.json,
    outputFile: output.file,
    durationMs: Math.round(facts.durationMs),
    spent: spentOf(ledger),
    saved: { ...ledger.saved, ms: Math.round(ledger.saved.ms) },
    reuse: result.reuse,
    continues: facts.continues,
    get phases() {
      phases ??= outcomes().map((phase) => phaseResult(phase, facts));
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
      message: failure.message,
      hint: failure.hint,
      detail: failure.detail,
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
    keys: Object.fromEntries(
      done.flatMap((phase) => (phase.result.key === undefined ? [] : [[phase.id, phase.result.key]])),
    ),
    failed: result.failure?.phase,
  };
}

export function spentOf(ledger: Ledger): { usd: number | null; tokens: number } {
  const { spent } = ledger;
  return { usd: spent.usd ?? null, tokens: totalTokens(spent) };
}

function hidden<T extends object>(said: T | undefined, secrets: Secrets): T | undefined {
  return secrets.maskValue(said as JsonObject | undefined) as T | undefined;
}

function phaseResult(phase: PhaseOutcome, { secrets, root }: ResultFacts): PhaseResult {
  const failure = hidden(phase.failure, secrets);
  const { result, origin, settled } = phase;
  const output = shownOutput(secrets.maskOutput(result.output), root);
  return {
    id: phase.id,
    kind: phase.kind,
    status: phase.status,
    cacheHit: origin.hit,
    ageMs: origin.ageMs,
    shared: origin.shared,
    reason: secrets.mask(origin.reason),
    key: result.key,
    output: output.text,
    json: output.json,
    base64: output.base64,
    outputFile: output.file,
    attempts: settled.attempts,
    durationMs: Math.round(settled.durationMs),
    usage: settled.usage,
    saved: settled.saved,
    model: result.model,
    files: result.files.length === 0 ? undefined : result.files.map((file) => file.path),
    remark: settled.remark === undefined ? undefined : secrets.mask(settled.remark),
    error: failure && {
      code: failure.code,
      message: failure.message,
      hint: failure.hint,
      detail: failure.detail,
    },
    optional: phase.optional,
    items: result.items,
    observed: lookedOf(settled),
  };
}
