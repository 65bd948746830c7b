import type { RunnerRequest } from '../../src/agent/runner.js';
import { systemClock } from '../../src/util/clock.js';
import type { Project } from '../../src/util/project.js';

/** A project in the given folder, with only what a program needs to be found. */
export function projectIn(root: string, env: Record<string, string | undefined> = {}): Project {
  return { root, home: root, env: { PATH: process.env['PATH'], HOME: root, ...env }, clock: systemClock };
}

export function requestIn(project: Project, more: Partial<RunnerRequest> = {}): RunnerRequest {
  return {
    task: 'hello',
    cwd: project.root,
    projectRoot: project.root,
    env: project.env,
    signal: new AbortController().signal,
    ...more,
  };
}
