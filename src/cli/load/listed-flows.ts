import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { savedFlowFolders } from '../../check/find-flow.js';
import { loadFlow } from '../../check/load-flow.js';
import type { ArgSpec } from '../../model/flow.js';
import { isTestFile } from '../../model/names.js';
import { relativePath } from '../../util/inside.js';
import type { Project } from '../../util/project.js';

/** A flow that can be run by its name or path. */
export interface ListedFlow {
  /** The name or path to type. */
  readonly flow: string;
  readonly from: 'project' | 'user' | 'flows';
  /** Absolute. */
  readonly file: string;
  readonly description?: string;
  readonly args: Readonly<Record<string, ArgSpec>>;
  readonly phases: readonly string[];
  /** Why it cannot be run. */
  readonly problem?: string;
}

/** Saved flows of the project and the user, then the files in `flows/`. */
export async function listedFlows(project: Project): Promise<readonly ListedFlow[]> {
  const found = flowFiles(project);
  return Promise.all(found.map((entry) => described(project, entry)));
}

type Found = Pick<ListedFlow, 'flow' | 'from' | 'file'>;

/** The same without reading the files. */
export function flowFiles(project: Pick<Project, 'root' | 'home'>): readonly Found[] {
  const [ofProject, ofUser] = savedFlowFolders(project) as [string, string];
  const saved = new Map<string, Found>();
  for (const [from, folder] of [
    ['project', ofProject],
    ['user', ofUser],
  ] as const) {
    for (const file of filesIn(folder)) {
      const flow = basename(file).replace(ENDING, '');
      // Of several flows with one name, the first is run. The settings file is in the same folder.
      if (flow !== 'config' && !saved.has(flow)) saved.set(flow, { flow, from, file });
    }
  }
  const inFlows = filesIn(join(project.root, 'flows'));
  return [
    ...saved.values(),
    ...inFlows.map((file) => ({ flow: relativePath(project.root, file), from: 'flows' as const, file })),
  ];
}

const ENDING = /\.(ya?ml|json)$/i;

function filesIn(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder, { withFileTypes: true }).filter(
      (entry) => !entry.isDirectory() && ENDING.test(entry.name) && !isTestFile(entry.name),
    );
    return names.map(({ name }) => join(folder, name)).sort();
  } catch {
    // No such folder: no flows there.
    return [];
  }
}

async function described(project: Project, found: Found): Promise<ListedFlow> {
  const loaded = await loadFlow(project, found.file);
  if ('flow' in loaded) {
    const { description, args, phases } = loaded.flow;
    return {
      ...found,
      description,
      args,
      phases: phases.map(({ id }) => id),
    };
  }
  const errors = loaded.diagnostics.filter(({ severity }) => severity === 'error');
  const problem = errors[0]?.message ?? 'it cannot be read';
  return { ...found, args: {}, phases: [], problem };
}
