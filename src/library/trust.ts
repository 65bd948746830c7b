import { namedRoot } from '../config/project-root.js';
import type { Project } from '../util/project.js';
import { FlowError } from './flow-error.js';

/** Throws `FlowError` when the project belongs to another user and is not marked as safe. */
export async function requireTrusted(project: Project): Promise<void> {
  const found = await namedRoot(project.root, project);
  if (!('refused' in found)) return;
  const place = { file: project.root, line: 1, column: 1, length: 1 };
  throw new FlowError([{ ...place, severity: 'error', code: 'not-yours', ...found.refused }]);
}
