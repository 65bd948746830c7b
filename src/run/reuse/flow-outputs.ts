import type { ListedFolder } from '../../model/observation.js';
import type { PhaseContext } from '../context/phase-context.js';

const IS_FIXED = /^[^*?[\]{}()!]+$/;

/**
 * Names in listed folders that phases of this flow make: they are no news about the project. Who reads such a file
 * depends on its content, and who follows its phase on that.
 */
export function withoutFlowOutputs({ scope }: PhaseContext, lists: readonly ListedFolder[]): readonly ListedFolder[] {
  const patterns = scope.flow.phases.flatMap(({ outputs }) => outputs.map((pattern) => pattern.split('/')));
  if (patterns.length === 0) return lists;
  return lists.map(({ path, own }) => {
    const folder = path === '.' ? [] : path.split('/');
    const made = patterns.flatMap((segments) => {
      const name = segments[folder.length];
      const isBelow = folder.every((segment, index) => segment === segments[index]);
      return isBelow && name !== undefined && IS_FIXED.test(name) ? [name] : [];
    });
    return made.length === 0 ? { path, own } : { path, own: [...new Set([...own, ...made])].sort() };
  });
}
