/** What a program can do with flows. The package's entry adds the types of what goes in and comes out. */
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
export { type Recorded, type RecordMode, recorded, type TestFlowOptions, testFlow } from './library/testing.js';
