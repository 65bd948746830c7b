import { isAbsolute, join, resolve } from 'node:path';
import { FLOW_NAME_PATTERN, isForbiddenName, isTestFile, MAX_NAME_LENGTH } from '../model/names.js';
import { namesIn } from '../util/if-there.js';
import { type Project, STATE_DIR } from '../util/project.js';

const EXTENSIONS = ['.yaml', '.yml', '.json'];

export type FoundFlow =
  /** `file` is absolute. */
  { readonly file: string; readonly bytes: Buffer } | { readonly missing: string; readonly known: readonly string[] };

/** A path has a slash or a flow file's ending; everything else is the name of a saved flow. */
export function isFlowPath(ref: string): boolean {
  return ref.includes('/') || /\.(ya?ml|json)$/i.test(ref);
}

interface Disk {
  readonly read: (path: string) => Buffer | undefined;
  readonly names: () => readonly string[];
  /** Folder that paths are relative to. Default: the project root. */
  readonly base?: string;
}

/** The file of FLOW. */
export function findFlow(project: Pick<Project, 'root' | 'home'>, ref: string, disk: Disk): FoundFlow {
  if (ref.includes('\0')) return { missing: 'a path cannot hold a NUL character', known: [] };
  if (isFlowPath(ref)) {
    const file = isAbsolute(ref) ? ref : resolve(disk.base ?? project.root, ref);
    const bytes = disk.read(file);
    return bytes === undefined ? { missing: `there is no flow file ${ref}`, known: [] } : { file, bytes };
  }
  if (
    ref !== 'config' &&
    new RegExp(FLOW_NAME_PATTERN).test(ref) &&
    ref.length <= MAX_NAME_LENGTH &&
    !isForbiddenName(ref)
  ) {
    for (const folder of savedFlowFolders(project)) {
      for (const extension of EXTENSIONS) {
        const file = join(folder, `${ref}${extension}`);
        const bytes = disk.read(file);
        if (bytes !== undefined) return { file, bytes };
      }
    }
  }
  return { missing: `there is no saved flow "${ref.slice(0, 100)}"`, known: disk.names() };
}

/** The project's, then the user's. */
export function savedFlowFolders(project: Pick<Project, 'root' | 'home'>): readonly string[] {
  return [join(project.root, STATE_DIR), join(project.home, '.pi', 'agent', 'taskflows')];
}

/** Names of all saved flows, the project's and the user's. */
export function savedFlowNames(project: Pick<Project, 'root' | 'home'>): readonly string[] {
  return [...new Set(savedFlowFolders(project).flatMap(flowNamesIn))].sort();
}

/** Names of the project's own saved flows. */
export function projectFlowNames(project: Pick<Project, 'root' | 'home'>): readonly string[] {
  return [...new Set(flowNamesIn(savedFlowFolders(project)[0]!))].sort();
}

/** `config.yaml` and tests are in the same folder but are not flows. */
function flowNamesIn(folder: string): readonly string[] {
  const files = namesIn(folder).filter((file) => !isTestFile(file));
  const names = files.map((file) => /^(.+)\.(?:ya?ml|json)$/.exec(file)?.[1]);
  return names.filter((name): name is string => name !== undefined && name !== 'config');
}
