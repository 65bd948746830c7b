import { dirname, join } from 'node:path';
import { loadFlow } from '../../check/load-flow.js';
import { loadConfig } from '../../config/load.js';
import { CONFIG_DEFAULTS, type Config } from '../../model/config.js';
import type { RunStatus } from '../../model/event.js';
import type { JsonObject } from '../../model/json.js';
import { bindArgs } from '../../plan/args.js';
import type { RowResult } from '../../run/batch/result.js';
import { commonSpecs } from '../../run/batch/rows/row-arguments.js';
import { runBatch } from '../../run/batch/run-batch.js';
import type { RunOptions } from '../../run/core/options.js';
import { flowOrigin } from '../../run/start/flow-origin.js';
import { startRun } from '../../run/start/start-run.js';
import { isInside, relativePath } from '../../util/inside.js';
import type { Project } from '../../util/project.js';
import type { ActualText } from '../expect/matchers.js';
import { StepLog } from '../expect/steps.js';
import { rowsOfCase } from '../file/read-rows.js';
import type { TestCase, TestFile } from '../file/test-file.js';
import { layFiles } from '../project/lay-files.js';
import type { TemporaryProject } from '../project/temporary-projects.js';
import type { CaseCalls } from '../recordings/recorded-runner.js';

/** What running a case produced. */
export interface CaseRun {
  readonly status: RunStatus;
  readonly output: ActualText;
  readonly error?: {
    readonly phase: string;
    readonly code: string;
    readonly message: string;
    readonly detail?: string;
  };
  readonly log: StepLog;
  /** In a batch: by name. */
  readonly rows: ReadonlyMap<string, RowResult & { readonly output: ActualText }>;
  /** Root of the temporary project. */
  readonly root: string;
  readonly calls: CaseCalls;
}

export interface CaseOptions extends Pick<RunOptions, 'runner' | 'model' | 'maxUSD' | 'signal'> {
  /** Lets the surface change the settings. */
  readonly configure?: (config: Config) => Config;
}

interface CaseSite {
  readonly file: TestFile;
  /** The project that is tested, and the copy in which this case runs. */
  readonly original: Project;
  readonly temporary: TemporaryProject;
  readonly calls: CaseCalls;
  readonly options: CaseOptions;
}

/** Runs one case as a person would run its flow. `problem`: it could not begin. */
export async function runCase(test: TestCase, site: CaseSite): Promise<CaseRun | { readonly problem: string }> {
  const { file, temporary, calls, options } = site;
  const { project } = temporary;
  layFiles(project.root, test, dirname(file.file));
  await temporary.track();
  const prepared = await prepare(test, site);
  if ('problem' in prepared) return prepared;
  const log = new StepLog();
  const { runner, model, maxUSD, signal } = options;
  const run: RunOptions = {
    ...{ runner, model, maxUSD, signal },
    ...prepared,
    project,
    continuation: { how: 'auto', finished: false },
    resolveRunner: calls.resolveRunner,
    approve: async ({ phase }) => ({ decision: test.approvals?.[phase.split('/').at(-1)!] ?? 'pause' }),
    onUnit: log.onUnit,
  };
  const base = { log, root: project.root, calls };
  if (test.over !== undefined) {
    const batch = await batchOf({ ...test, over: test.over }, { ...run, onEvent: log.onEvent }, file);
    return 'problem' in batch ? batch : { ...base, ...batch };
  }
  const result = await startRun(run, log.onEvent);
  if ('refused' in result) return { problem: result.refused.message };
  const { status, output: text, json, error } = result;
  return { ...base, status, output: { text, json }, rows: new Map(), ...(error && { error }) };
}

/** The flow of the copy, with the settings that hold there. */
async function prepare(
  test: TestCase,
  { file, original, temporary: { project }, options }: CaseSite,
): Promise<Pick<RunOptions, 'flow' | 'source' | 'config' | 'args'> | { readonly problem: string }> {
  const { flow: tested } = file;
  const path = isInside(original.root, tested.file)
    ? join(project.root, relativePath(original.root, tested.file))
    : tested.file;
  const loaded = await loadFlow(project, path);
  const { config, problems } = await loadConfig(project);
  const errors = [...('flow' in loaded ? [] : loaded.diagnostics), ...problems].filter(
    ({ severity }) => severity === 'error',
  );
  if (!('flow' in loaded) || errors.length > 0) {
    return { problem: errors.map((each) => `${each.file}:${each.line}: ${each.message}`).join('\n') };
  }
  const { digest, looked } = loaded;
  const { hooks: _, ...flow } = loaded.flow;
  const specs = test.over === undefined ? flow.args : commonSpecs(flow.args);
  const bound = bindArgs(specs, (test.args ?? {}) as JsonObject, { root: project.root, source: 'json' });
  if ('problems' in bound) return { problem: bound.problems.map(({ message }) => message).join('\n') };
  const source = flowOrigin(tested.ref, { file: loaded.file, digest, files: looked.map((each) => each.path) });
  const own = forTests(config);
  return { flow, source, config: options.configure?.(own) ?? own, args: bound.args };
}

/** Settings for tests: no store of the user or shared cache decides what a case executes, and no hook is called. */
function forTests({ cache, hooks: ___, ...config }: Config): Config {
  const { signingKey: _, dirFrom: __, ...rest } = cache;
  return { ...config, cache: { ...rest, dir: CONFIG_DEFAULTS.cache.dir } };
}

async function batchOf(
  { over, as }: TestCase & { readonly over: NonNullable<TestCase['over']> },
  { args, onEvent, ...run }: RunOptions & { readonly onEvent: StepLog['onEvent'] },
  { file }: TestFile,
): Promise<Pick<CaseRun, 'status' | 'output' | 'rows' | 'error'> | { readonly problem: string }> {
  const folder = dirname(file);
  const bound = await rowsOfCase({ over, as, folder, flow: run.flow, project: run.project, common: args });
  if ('problems' in bound) return { problem: bound.problems.map(({ message }) => message).join('\n') };
  const fresh = { how: 'fresh' } as const;
  const options = { ...run, rows: bound.rows, over: 'rows', keepOutputs: true, continuation: fresh };
  const result = await runBatch(options, onEvent);
  if ('refused' in result) return { problem: result.refused.message };
  const { status, error } = result;
  const outputOf = (row: number): ActualText => result.outputOf(row) ?? { text: '' };
  const rows = new Map(result.rows.map((row) => [row.label, { ...row, output: outputOf(row.row) }]));
  return { status, output: { text: '' }, rows, ...(error && { error }) };
}
