import { basename, dirname, relative, resolve } from 'node:path';
import { isFlowPath, savedFlowNames } from '../../check/find-flow.js';
import { loadFlow } from '../../check/load-flow.js';
import { listRuns } from '../../run/history/list-runs.js';
import { namesIn } from '../../util/if-there.js';
import { nearestName } from '../../util/nearest.js';
import type { Invocation } from '../boot/command.js';
import { flowReference } from './flow-file.js';

/** A flow whose results or runs are to be cleared. */
export interface KnownFlow {
  readonly name: string;
  /** The id that its runs have. */
  readonly id: string;
  /** Undefined where the flow cannot be read. */
  readonly phases?: readonly string[];
}

export interface Unknown {
  readonly problem: string;
  readonly hint?: string;
}

/**
 * A flow that no longer loads (removed, or broken since) is accepted by its name, so that its runs and results can be
 * cleared. A name without a flow, runs or results is a typing mistake.
 */
export async function knownFlow(
  invocation: Invocation,
  typed: string,
  keptNames: () => Promise<readonly string[]> = async () => [],
): Promise<KnownFlow | Unknown> {
  const { project, cwd } = invocation;
  const loaded = await loadFlow(project, flowReference(invocation, typed));
  if ('flow' in loaded) {
    const { name, file, phases } = loaded.flow;
    return { name, id: file ?? typed, phases: phases.map(({ id }) => id) };
  }
  const id = isFlowPath(typed) ? relative(project.root, resolve(cwd, typed)) : typed;
  const kept = await keptNames();
  const isThere = loaded.diagnostics.every(({ code }) => code !== 'no-flow');
  const runs = listRuns(project).map(({ run }) => run);
  const itsRun = runs.find((run) => run.flow === typed || run.file === id || run.ref === typed);
  const name = itsRun?.flow ?? basename(typed).replace(/\.(ya?ml|json)$/i, '');
  if (isThere || itsRun || kept.includes(name)) return { name, id };
  const known = isFlowPath(typed)
    ? flowFilesBeside(typed, cwd)
    : [...savedFlowNames(project), ...kept, ...runs.map((run) => run.flow)];
  return unknown(
    `there is no flow ${typed.slice(0, 100)}, and nothing is left of one`,
    await nearestName(typed, known),
  );
}

/** The problem with a phase that is neither in the flow (where one is named and can be read) nor in kept results. */
export async function unknownPhase(
  phase: string,
  flow: KnownFlow | undefined,
  keptPhases: () => Promise<readonly string[]>,
): Promise<Unknown | undefined> {
  const isUnread = flow !== undefined && flow.phases === undefined;
  if (isUnread || flow?.phases?.includes(phase)) return undefined;
  const known = [...(flow?.phases ?? []), ...(await keptPhases())];
  if (known.includes(phase)) return undefined;
  const where = flow === undefined ? 'nothing is kept of a phase' : `${flow.name} has no phase`;
  return unknown(`${where} ${phase.slice(0, 100)}`, await nearestName(phase, known));
}

function unknown(problem: string, nearest: string | undefined): Unknown {
  return { problem, hint: nearest === undefined ? undefined : `did you mean ${nearest}?` };
}

function flowFilesBeside(typed: string, cwd: string): readonly string[] {
  const names = namesIn(dirname(resolve(cwd, typed)));
  const prefix = typed.slice(0, typed.length - basename(typed).length);
  return names.filter((name) => /\.(ya?ml|json)$/i.test(name)).map((name) => prefix + name);
}
