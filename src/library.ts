import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { loadFlow as loadChecked } from './check/load-flow.js';
import { loadConfig } from './config/load.js';
import type { Config } from './model/config.js';
import type { Diagnostic } from './model/diagnostic.js';
import type { RunEvent } from './model/event.js';
import type { Flow } from './model/flow.js';
import type { JsonValue } from './model/json.js';
import { bindArgs } from './plan/args.js';
import type { RunOptions } from './run/options.js';
import type { RunResult } from './run/result.js';
import { startRun } from './run/start-run.js';
import { systemClock } from './util/clock.js';
import type { Project } from './util/project.js';

/** A project by its folder; this process's environment unless another one is given. */
export function openProject(root: string, env: Project['env'] = process.env): Project {
  return { root: realpathSync(resolve(root)), home: env['HOME'] ?? homedir(), env, clock: systemClock };
}

export interface LoadedFlow {
  readonly flow: Flow;
  readonly warnings: readonly Diagnostic[];
  /** Absolute. */
  readonly file: string;
  readonly digest: string;
  readonly ref: string;
}

/** A flow by its path or saved name, checked. Throws `FlowError` with all diagnostics if it has problems. */
export async function loadFlow(project: Project, ref: string): Promise<LoadedFlow> {
  const loaded = await loadChecked(project, ref);
  if ('diagnostics' in loaded) throw new FlowError(loaded.diagnostics);
  return { flow: loaded.flow, warnings: loaded.warnings, file: loaded.file, digest: loaded.digest, ref };
}

/** What is wrong with a flow, where and what to do about it. */
export class FlowError extends Error {
  constructor(readonly diagnostics: readonly Diagnostic[]) {
    const errors = diagnostics.filter((diagnostic) => diagnostic.severity === 'error');
    super(errors.map((d) => `${d.file}:${d.line}:${d.column}: ${d.message}`).join('\n'));
    this.name = 'FlowError';
  }
}

export interface FlowCheck {
  readonly ok: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

/** All problems of a flow; starts nothing. */
export async function checkFlow(project: Project, ref: string): Promise<FlowCheck> {
  const loaded = await loadChecked(project, ref);
  if ('diagnostics' in loaded) return { ok: false, diagnostics: loaded.diagnostics };
  return { ok: true, diagnostics: loaded.warnings };
}

/** How a program runs a flow: what the command line's flags say, as fields. */
export interface RunFlowOptions
  extends Partial<Omit<RunOptions, 'project' | 'flow' | 'source' | 'args' | 'config' | 'forecast'>> {
  readonly args?: Readonly<Record<string, JsonValue>>;
  readonly config?: Config;
}

export interface RunHandle {
  /** Every event of the run, in order; ends with the run. Need not be read. */
  readonly events: AsyncIterable<RunEvent>;
  /** Rejects only when the run cannot begin: wrong arguments, wrong configuration, nothing to resume. */
  readonly result: Promise<RunResult>;
}

export function runFlow(project: Project, flow: LoadedFlow, options: RunFlowOptions = {}): RunHandle {
  const queue = new EventQueue();
  const result = begin(project, flow, options, (event) => queue.push(event)).finally(() => queue.end());
  // Whoever only reads the events must not be stopped by a result that nobody looked at.
  result.catch(() => {});
  return { events: queue, result };
}

async function begin(
  project: Project,
  loaded: LoadedFlow,
  { args = {}, config, ...options }: RunFlowOptions,
  onEvent: (event: RunEvent) => void,
): Promise<RunResult> {
  const bound = bindArgs(loaded.flow.args, args, project, { source: 'json' });
  if ('problems' in bound) throw new Error(bound.problems.map((problem) => problem.message).join('\n'));
  const settings = config ?? (await settingsOf(project));
  const byName = !/[/\\]|\.(ya?ml|json)$/.test(loaded.ref);
  const source = { ref: loaded.ref, byName, file: loaded.file, digest: loaded.digest };
  const result = await startRun(
    { ...options, project, config: settings, flow: loaded.flow, source, args: bound.args },
    onEvent,
  );
  if ('refused' in result) throw new Error(result.refused.message);
  return result;
}

async function settingsOf(project: Project): Promise<Config> {
  const { config, problems } = await loadConfig(project);
  const errors = problems.filter((problem) => problem.severity === 'error');
  if (errors.length > 0) throw new FlowError(errors);
  return config;
}

/** Events wait here for a reader that may be slower than the run. */
class EventQueue implements AsyncIterable<RunEvent> {
  readonly #events: RunEvent[] = [];
  #wake: () => void = () => {};
  #ended = false;

  push(event: RunEvent): void {
    this.#events.push(event);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<RunEvent> {
    for (let index = 0; ; ) {
      while (index < this.#events.length) yield this.#events[index++]!;
      if (this.#ended) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
