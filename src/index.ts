/** The library: load, check and run flows from a program, once or over many rows. */

export type { ResolvedRunner, RunnerChoice } from './agent/resolve-runner.js';
export type { Runner, RunnerEvent, RunnerRequest, RunnerResult } from './agent/runner.js';
export type { AssembleEvent } from './assemble/events.js';
export * from './library.js';
export type { Config, RunnerConfig } from './model/config.js';
export type { Diagnostic } from './model/diagnostic.js';
export type { RunEvent, RunEventType, RunStatus } from './model/event.js';
export type { Failure, FailureCode } from './model/failure.js';
export type { Flow, Phase } from './model/flow.js';
export type { JsonObject, JsonValue } from './model/json.js';
export { KINDS, type Kind } from './model/kind.js';
export type { Savings, ShownOutcome as PhaseOutcome, Status, Usage } from './model/outcome.js';
export type { TextOutput as Output } from './model/output.js';
export type { BatchResult, RowResult, Spent } from './run/batch/result.js';
export type { BatchRow } from './run/batch/rows/bind-rows.js';
export type { RowProblem } from './run/batch/rows/raw-row.js';
export type { ApprovalAnswer, ApprovalRequest, Continuation, Selection } from './run/core/options.js';
export type { PhaseResult, RunResult } from './run/core/result.js';
export type { CaseReport, Difference, FileReport, TestReport, UnrecordedCall } from './testing/suite/report.js';
export type { Project } from './util/project.js';
