import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { isFlowPath } from '../../check/find-flow.js';
import { loadFlow } from '../../check/load-flow.js';
import { loadConfig } from '../../config/load.js';
import { RUNNER_SETTINGS, SETTINGS } from '../../config/settings.js';
import { knownRunners } from '../../model/config.js';
import type { Flow } from '../../model/flow.js';
import { isTestFile } from '../../model/names.js';
import { listRuns } from '../../run/history/list-runs.js';
import { runHead } from '../../run/history/run-head.js';
import { formatAgo } from '../../util/duration.js';
import type { Project } from '../../util/project.js';
import type { FlagSpec } from '../flags/flag-spec.js';
import { flowFiles } from '../load/listed-flows.js';
import { findRun } from '../load/run-ref.js';
import { argumentHelp } from '../text/argument-text.js';

export interface Candidate {
  readonly word: string;
  readonly help: string;
}

/** A command line that is being typed. */
export interface Typed {
  readonly entry: string;
  readonly positionals: readonly string[];
  readonly current: string;
  readonly cwd: string;
  /** Undefined in a folder that is not trusted. */
  readonly project: Project | undefined;
}

const FILES: Candidate = { word: ':files', help: '' };
const DIRS: Candidate = { word: ':dirs', help: '' };
const MOST_RUNS = 20;

/** Values of a flag or a positional argument, by its placeholder in help texts. */
export async function valuesOf(
  what: string | readonly string[],
  typed: Typed,
  flag?: FlagSpec,
): Promise<readonly Candidate[]> {
  if (typeof what !== 'string') return what.map((word) => ({ word, help: '' }));
  const { project } = typed;
  if (what === 'DIR') return [DIRS];
  if (what === 'FILE') return [FILES];
  if (!project) return [];
  switch (what) {
    case 'FLOW':
      return flows(project, typed);
    case 'RUN':
      return runs(project);
    case 'ID':
      return phasesOfFlow(typed);
    case 'PHASE':
      return typed.entry === 'approve' || typed.entry === 'reject' ? phasesOfRun(project, typed) : phasesOfFlow(typed);
    case 'K=V':
      return flowArguments(typed);
    case 'KEY':
      return typed.entry.startsWith('config ') ? settings() : [];
    case 'NAME':
      return flag?.name === 'runner' ? runners(project) : [];
    default:
      return [];
  }
}

const FROM = { project: 'saved', user: 'your', flows: 'project' } as const;

/** Offers files only once something is typed: all files of the folder would hide the flows. */
function flows(project: Project, { cwd, current }: Typed): readonly Candidate[] {
  const known = flowFiles(project).map(({ flow, from }) => ({ word: flow, help: `${FROM[from]} flow` }));
  if (current !== '') return [...known, FILES];
  const here = readdirSync(cwd).filter((name) => /^[^.].*\.ya?ml$/.test(name) && !isTestFile(name));
  return [...known, ...here.map((word) => ({ word, help: 'file' }))];
}

function runs(project: Project): readonly Candidate[] {
  const now = project.clock.now();
  const heads = listRuns(project, { limit: MOST_RUNS });
  const ids = heads.map(({ runId, run, state }) => ({
    word: runId,
    help: `${run.flow}, ${state}, ${formatAgo(now - run.at)}`,
  }));
  return heads.length === 0 ? [] : [{ word: 'last', help: 'the last run' }, ...ids];
}

function phasesOfRun(project: Project, { positionals }: Typed): readonly Candidate[] {
  const found = findRun(project, positionals[0] ?? 'last');
  const phases = ('runId' in found && runHead(project, found.runId)?.run.phases) || [];
  return phases.filter(({ kind }) => kind === 'approval').map(({ id, kind }) => ({ word: id, help: kind }));
}

async function phasesOfFlow(typed: Typed): Promise<readonly Candidate[]> {
  return (await flowOf(typed))?.phases.map(({ id, kind }) => ({ word: id, help: kind })) ?? [];
}

/** The flow that the first argument names. */
async function flowOf({ positionals, project, cwd }: Typed): Promise<Flow | undefined> {
  const [ref] = positionals;
  if (ref === undefined || !project) return undefined;
  const loaded = await loadFlow(project, isFlowPath(ref) ? resolve(cwd, ref) : ref);
  return 'flow' in loaded ? loaded.flow : undefined;
}

/** `topic=`; after the sign, the values if they are known. */
async function flowArguments(typed: Typed): Promise<readonly Candidate[]> {
  const args = (await flowOf(typed))?.args ?? {};
  const [, name] = /^([^=]+)=/.exec(typed.current) ?? [];
  const spec = name === undefined ? undefined : args[name];
  if (!spec) return Object.entries(args).map(([arg, one]) => ({ word: `${arg}=`, help: argumentHelp(one) }));
  if (spec.type === 'path') return [FILES];
  const values = spec.type === 'boolean' ? [true, false] : (spec.values ?? []);
  return values.map((value) => ({ word: `${name}=${value}`, help: '' }));
}

function settings(): readonly Candidate[] {
  const ofRunners = RUNNER_SETTINGS.map(({ key, help }) => ({ word: `runners.NAME.${key}`, help }));
  return [...SETTINGS.map(({ key, help }) => ({ word: key, help })), ...ofRunners];
}

async function runners(project: Project): Promise<readonly Candidate[]> {
  const { config } = await loadConfig(project);
  return knownRunners(Object.keys(config.runners)).map((word) => ({ word, help: 'runner' }));
}
