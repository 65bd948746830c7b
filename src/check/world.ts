import { dirname, resolve } from 'node:path';
import { findAgent } from '../agent/agent-files.js';
import { loadConfig } from '../config/load.js';
import { findUnmatched, type Unmatched } from '../memo/fingerprint/unmatched.js';
import { definedRoles, definedRunners, knownRunners } from '../model/config.js';
import type { AgentScope } from '../model/flow.js';
import { LARGEST_FILE } from '../parse/decode.js';
import { sha256Hex } from '../util/digest.js';
import { isReallyInside } from '../util/inside.js';
import { markdownNames } from '../util/markdown-names.js';
import { readBounded } from '../util/read-bounded.js';
import { remembered } from '../util/remembered.js';
import { lstatIfThere } from '../util/stat.js';
import type { ProjectPlace } from '../util/user-cache.js';
import type { Dependency } from './dependencies.js';
import { type FoundFlow, findFlow, savedFlowNames } from './find-flow.js';

/** A check's access to the outside. Everything that it reads becomes a dependency of the result. */
export interface CheckWorld {
  /** Absolute. */
  readonly root: string;
  agent(
    name: string,
    scope: AgentScope,
  ):
    | { readonly found: true; readonly model?: string }
    | { readonly problem: string; readonly known: readonly string[] };
  /** Every valid runner name; undefined while the settings have errors, which stop a run anyway. */
  runners(): Promise<readonly string[] | undefined>;
  /** Every model role that the settings define; undefined while they have errors. */
  models(): Promise<readonly string[] | undefined>;
  /** A saved flow's name or a path from the project root. */
  flow(ref: string): FoundFlow;
  /** Whether a path from the project root leads out of the project through a symbolic link. */
  linksOut(path: string): boolean;
  /** Describes a fingerprint that matches no file. Absent when the caller does not want that. */
  unmatched?(entry: string, outputs: readonly string[]): Promise<Unmatched | undefined>;
  readonly dependencies: readonly Dependency[];
}

interface WorldOptions {
  readonly lookForFiles?: boolean | undefined;
  /** Defined model roles, if not those of the settings files. */
  readonly models?: readonly string[] | undefined;
}

/** The world on disk. `runners`: the defined ones, if not those of the settings files. */
export function diskWorld(
  project: ProjectPlace,
  runners?: readonly string[],
  { lookForFiles = false, models }: WorldOptions = {},
): CheckWorld {
  const recorder = new Recorder();
  const isOutside = remembered((path: string) => !isReallyInside(project.root, path));
  const agentsOf = remembered((scope: AgentScope) =>
    remembered((name: string): ReturnType<CheckWorld['agent']> => {
      const found = findAgent(project, name, { scope, read: recorder.read, list: recorder.listMarkdown });
      return 'agent' in found ? { found: true, model: found.agent.model } : found;
    }),
  );
  const settings = async () => {
    const { problems, values, looked } = await loadConfig(project);
    recorder.note(looked);
    return problems.some(({ severity }) => severity === 'error') ? undefined : values;
  };
  return {
    root: project.root,
    agent: (name, scope) => agentsOf(scope)(name),
    async runners() {
      if (runners) return knownRunners(runners);
      const values = await settings();
      return values && knownRunners(definedRunners(values));
    },
    async models() {
      if (models) return models;
      const values = await settings();
      return values && definedRoles(values);
    },
    flow: (ref) => findFlow(project, ref, { read: recorder.read, names: () => savedFlowNames(project) }),
    linksOut(path) {
      const absolute = resolve(project.root, path);
      // Checked per folder unless the path is a link itself: a thousand files lie in a few folders.
      const place =
        absolute === project.root || lstatIfThere(absolute)?.isSymbolicLink() ? absolute : dirname(absolute);
      return isOutside(place);
    },
    ...(lookForFiles && { unmatched: (entry, outputs) => findUnmatched(entry, { root: project.root, outputs }) }),
    get dependencies() {
      return recorder.dependencies;
    },
  };
}

class Recorder {
  readonly #seen = new Map<string, string | null>();

  readonly read = (path: string): Buffer | undefined => {
    const bytes = readBounded(path, LARGEST_FILE);
    this.#seen.set(path, bytes === undefined ? null : sha256Hex(bytes));
    return bytes;
  };

  readonly listMarkdown = (folder: string): readonly string[] => {
    const names = markdownNames(folder);
    this.#seen.set(`${folder}/`, names.length === 0 ? null : sha256Hex(names.join('\n')));
    return names;
  };

  /** Adds files that another part of the program read. */
  note(looked: readonly Dependency[]): void {
    for (const { path, digest } of looked) this.#seen.set(path, digest);
  }

  get dependencies(): readonly Dependency[] {
    return [...this.#seen].map(([path, digest]) => ({ path, digest }));
  }
}
