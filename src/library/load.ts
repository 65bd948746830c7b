import { loadFlow as loadChecked } from '../check/load-flow.js';
import type { Config } from '../model/config.js';
import type { Diagnostic } from '../model/diagnostic.js';
import type { Flow } from '../model/flow.js';
import type { Project } from '../util/project.js';
import { FlowError } from './flow-error.js';
import { completeConfig, type GivenConfig } from './settings.js';
import { requireTrusted } from './trust.js';

export interface LoadedFlow {
  readonly flow: Flow;
  readonly warnings: readonly Diagnostic[];
  /** Absolute. */
  readonly file: string;
  readonly digest: string;
  /** The files that the check read: the flow itself and the flows that it uses. */
  readonly files: readonly string[];
  readonly ref: string;
  /** Made by a model: its runs have the limits for generated flows. */
  readonly generated?: boolean;
  /** The given settings that it was checked with. Its runs use them, too, unless they are given others. */
  readonly config?: Config;
}

export interface LoadFlowOptions {
  /**
   * Settings instead of the settings files: the runners that the flow may name are those of its `runners`, and the
   * built-in ones.
   */
  readonly config?: GivenConfig;
}

/** A flow by its path or saved name, checked. Throws `FlowError` with all diagnostics if it has problems. */
export async function loadFlow(project: Project, ref: string, options: LoadFlowOptions = {}): Promise<LoadedFlow> {
  const config = options.config && completeConfig(options.config);
  await requireTrusted(project);
  const loaded = await loadChecked(project, ref, checkedWith(options));
  if ('diagnostics' in loaded) throw new FlowError(loaded.diagnostics);
  const { flow, warnings, file, digest, looked } = loaded;
  return { flow, warnings, file, digest, files: looked.map(({ path }) => path), ref, ...(config && { config }) };
}

export interface FlowCheck {
  readonly ok: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

/** All problems of a flow; starts nothing. */
export async function checkFlow(project: Project, ref: string, options: LoadFlowOptions = {}): Promise<FlowCheck> {
  await requireTrusted(project);
  const loaded = await loadChecked(project, ref, checkedWith(options));
  if ('diagnostics' in loaded) return { ok: false, diagnostics: loaded.diagnostics };
  return { ok: true, diagnostics: loaded.warnings };
}

function checkedWith({ config }: LoadFlowOptions) {
  return config ? { runners: Object.keys(config.runners ?? {}), models: Object.keys(config.models ?? {}) } : {};
}
