import type { RunOptions } from '../run/core/options.js';
import type { RecordMode } from '../testing/recordings/recordings.js';
import type { TestReport, UnrecordedCall } from '../testing/suite/report.js';
import type { Project } from '../util/project.js';
import { FlowError } from './flow-error.js';
import { requireTrusted } from './trust.js';

/** How a program runs tests: the flags of `taskflow test` as fields. */
export interface TestFlowOptions extends Pick<RunOptions, 'runner' | 'model' | 'maxUSD' | 'signal'> {
  /** Default: `replay`. */
  readonly mode?: RecordMode;
  /** Only cases with this in their name. */
  readonly only?: string;
  /** Cases at once. Default: 4; one when recording. */
  readonly jobs?: number;
}

/**
 * Runs the cases of a test file (`NAME.test.yaml`) in temporary copies of the project. Cases that fail are in the
 * report; throws `FlowError` when the file, its flow or a recording has problems.
 */
export async function testFlow(project: Project, file: string, options: TestFlowOptions = {}): Promise<TestReport> {
  await requireTrusted(project);
  const { mode = 'replay', ...rest } = options;
  const { openTests } = await import('../testing/suite/open-tests.js');
  const { runSuite } = await import('../testing/suite/run-suite.js');
  const opened = await openTests(project, [file], mode);
  if ('diagnostics' in opened) throw new FlowError(opened.diagnostics);
  return runSuite(project, opened.tested, rest);
}

/** A runner that answers from recordings, for `runFlow` and `runBatch`. */
export interface Recorded {
  readonly resolveRunner: NonNullable<RunOptions['resolveRunner']>;
  /** How often an agent was asked. */
  readonly calls: number;
  /** Calls that nothing was recorded for: each has failed. */
  readonly unrecorded: readonly UnrecordedCall[];
  /** Files of recordings that were not used. */
  readonly unused: readonly string[];
}

/**
 * The recordings of a folder as a runner: `runFlow(project, flow, { resolveRunner: agent.resolveRunner })`. Equal calls
 * are numbered from here on, so use a new one for each test. Throws `FlowError` for a recording that cannot be used.
 */
export async function recorded(
  folder: string,
  { mode = 'replay' }: { readonly mode?: RecordMode } = {},
): Promise<Recorded> {
  const { readRecordings } = await import('../testing/recordings/read-recordings.js');
  const { Recordings } = await import('../testing/recordings/recordings.js');
  const { CaseCalls } = await import('../testing/recordings/recorded-runner.js');
  const { recordings: kept, problems } = await readRecordings(folder, folder);
  if (problems.length > 0) throw new FlowError(problems);
  const recordings = new Recordings(folder, kept, mode);
  const calls = new CaseCalls(recordings);
  return {
    resolveRunner: calls.resolveRunner,
    get calls() {
      return calls.count;
    },
    get unrecorded() {
      return calls.unrecorded;
    },
    get unused() {
      return recordings.unused().map(({ file }) => file);
    },
  };
}
