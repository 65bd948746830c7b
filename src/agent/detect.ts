import type { Failure } from '../model/failure.js';
import { findOnPath } from '../process/find-program.js';
import type { Project } from '../util/project.js';
import { CLIENTS, type ClientName } from './clients.js';

/** The first installed client. Looks along PATH; starts nothing. */
export function detectRunner(
  project: Project,
): { readonly name: ClientName; readonly path: string } | { readonly failure: Failure } {
  for (const name of Object.keys(CLIENTS) as ClientName[]) {
    const path = findOnPath(name, project.env['PATH']);
    if (path !== undefined) return { name, path };
  }
  return { failure: NO_RUNNER };
}

const NO_RUNNER: Failure = {
  code: 'no-runner',
  message: 'no agent client is installed or configured',
  hint: `Install one (${Object.values(CLIENTS)
    .map(({ install }) => install)
    .join('; ')}), or name a runner of type openai or command in .pi/taskflows/config.yaml.`,
};
