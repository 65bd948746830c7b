/** The library: load, check and run flows from a program, once or over many rows. */

export type { ResolvedRunner, RunnerChoice } from './agent/resolve-runner.js';
export type { Runner, RunnerEvent, RunnerRequest, RunnerResult } from './agent/runner.js';
export type { AssembleEvent } from './assemble/events.js';
export {
  type AssembledFlow,
  type AssembleFlowOptions,
  type AssembleHandle,
  assembleFlow,
  type FlowRequest,
} from './library/assemble.js';
export {
  type BatchHandle,
  type BatchRowValue,
  RowsError,
  type RunBatchOptions,
  runBatch,
} from './library/batch.js';
export { FlowError } from './library/flow-error.js';
export {
  checkFlow,
  type FlowCheck,
  type LoadedFlow,
  type LoadFlowOptions,
  loadFlow,
} from './library/load.js';
export { openProject } from './library/project.js';
export { type RunFlowOptions, type RunHandle, runFlow } from './library/run.js';
export { type GivenConfig, loadSettings } from './library/settings.js';
export { type Recorded, recorded, type TestFlowOptions, testFlow } from './library/testing.js';
export type { Config, RunnerConfig } from './model/config.js';
export type { Diagnostic } from './model/diagnostic.js';
export type { RunEvent, RunEventType, RunStatus } from './model/event.js';
export type { Failure, FailureCode } from './model/failure.js';
export type { Flow, Phase } from './model/flow.js';
export type { JsonObject, JsonValue } from './model/json.js';
export { KINDS, type Kind } from './model/kind.js';
export type { Savings, ShownOutcome as PhaseOutcome, Spent, Status, Usage } from './model/outcome.js';
export type { TextOutput as Output } from './model/output.js';
export type { BatchResult, RowResult } from './run/batch/result.js';
export type { BatchRow } from './run/batch/rows/bind-rows.js';
export type { RowProblem } from './run/batch/rows/raw-row.js';
export type { ApprovalAnswer, ApprovalRequest, Continuation, Selection } from './run/core/options.js';
export type { PhaseResult, RunResult } from './run/core/result.js';
export type { RecordMode } from './testing/recordings/recordings.js';
export type { CaseReport, Difference, FileReport, TestReport, UnrecordedCall } from './testing/suite/report.js';
export type { Project } from './util/project.js';
