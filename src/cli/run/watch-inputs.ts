import { resolve } from 'node:path';
import { isFlowPath } from '../../check/find-flow.js';
import { loadFlow } from '../../check/load-flow.js';
import { loadConfig } from '../../config/load.js';
import { openWorld } from '../../run/context/world.js';
import type { Settled } from '../../run/core/execution.js';
import type { RunOptions } from '../../run/core/options.js';
import { storeFolder } from '../../store/store-folder.js';
import { relativePath } from '../../util/inside.js';
import type { Invocation } from '../boot/command.js';
import { flowReference, type UsableFlow } from '../load/flow-file.js';
import type { UsableConfig } from '../load/settings.js';
import { contextEntry, declaredEntries, type SeenPaths, type WatchedPaths, watchedPaths } from './watch-paths.js';

/** Collects the paths that a flow looks at: from its file, and from its runs. */
export class WatchedInputs {
  /** Files of the last flow that could be read. */
  #read: readonly string[] = [];
  /** Files of the present flow, where it cannot be read. */
  #broken: readonly string[] = [];
  #declared: readonly string[] = [];
  readonly #asked = new Set<string>();
  /** By phase and unit: a result that is reused was observed in an earlier run. */
  readonly #observed = new Map<string, SeenPaths>();
  readonly #written = new Set<string>();
  readonly #everWritten = new Set<string>();

  constructor(private readonly invocation: Invocation) {}

  paths(): WatchedPaths {
    const { project } = this.invocation;
    const read = [...this.#read, ...this.#broken, ...this.#argsFile()];
    return watchedPaths({
      project,
      read,
      entries: [...this.#declared, ...this.#asked],
      observed: this.#observed.values(),
    });
  }

  /** Paths that the last run was observed to write, from the project root. */
  written(): readonly string[] {
    return [...this.#written];
  }

  /** Whether a run was observed to write the path. */
  wasWritten(path: string): boolean {
    return this.#everWritten.has(relativePath(this.invocation.project.root, path));
  }

  /** Call it before the flow is read: edits count from here on. */
  async beforeLoad(): Promise<void> {
    const { project, positionals } = this.invocation;
    const ref = flowReference(this.invocation, positionals[0]!);
    const [loaded, { looked }] = await Promise.all([loadFlow(project, ref), loadConfig(project)]);
    const files = 'flow' in loaded ? loaded.looked.map(({ path }) => path) : this.#filesOf(loaded.diagnostics, ref);
    this.#broken = [...files, ...looked.map(({ path }) => path)];
  }

  /** Whether an edit of a file can help where nothing could be started. */
  async canBeMended(): Promise<boolean> {
    const { project, positionals } = this.invocation;
    const loaded = await loadFlow(project, flowReference(this.invocation, positionals[0]!));
    if (!('flow' in loaded)) return loaded.diagnostics.every(({ code }) => code !== 'no-flow');
    const { problems } = await loadConfig(project);
    return problems.some(({ severity }) => severity === 'error');
  }

  loaded({ looked }: UsableFlow, configured: UsableConfig): void {
    this.#read = [...looked, ...configured.looked].map(({ path }) => path);
    this.#broken = [];
  }

  /** Has the run say what it looks at. `onMore`: there is something that was not known before. */
  lookingAt(options: RunOptions, onMore: () => void): Partial<RunOptions> {
    const { project, config } = options;
    this.#declared = declaredEntries(options.flow, options.args, project);
    this.#asked.clear();
    this.#written.clear();
    const known = new Set(this.#declared);
    const note = (entry: string) => {
      if (known.has(entry)) return;
      known.add(entry);
      this.#asked.add(entry);
      onMore();
    };
    const observe = (name: string, { observed, result: { seen } }: Settled) => {
      // A reused result was found by what its execution looked at.
      const looked = observed ?? seen?.set;
      if (looked) this.#observed.set(name, looked);
      for (const path of observed?.writes ?? []) {
        this.#written.add(path);
        this.#everWritten.add(path);
      }
    };
    const hooks: Partial<RunOptions> = {
      onContext: (pattern) => note(contextEntry(pattern)),
      onMade: ({ phase, settled }) => observe(phase.id, settled),
      onUnit: ({ path, label, settled }) => observe(`${path} ${label}`, settled),
    };
    const store = storeFolder(project, config);
    if ('problem' in store) return hooks;
    const world = openWorld(project, store.dir);
    const { fingerprints } = world;
    const resolveNoting: typeof fingerprints.resolve = (entry, given) => {
      note(entry);
      return fingerprints.resolve(entry, given);
    };
    return {
      ...hooks,
      world: { ...world, fingerprints: Object.create(fingerprints, { resolve: { value: resolveNoting } }) },
    };
  }

  #argsFile(): string[] {
    const { flags, cwd } = this.invocation;
    const file = flags.string('args-file');
    return file === undefined ? [] : [resolve(cwd, file)];
  }

  #filesOf(diagnostics: readonly { readonly file: string }[], ref: string): string[] {
    const { root } = this.invocation.project;
    return [...(isFlowPath(ref) ? [ref] : []), ...diagnostics.map(({ file }) => resolve(root, file))];
  }
}
