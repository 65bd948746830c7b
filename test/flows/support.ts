import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTestProject, type TestProject } from '../support/cli.js';

const FLOWS = fileURLToPath(new URL('../../flows/', import.meta.url));

/** The flows that come with the package. */
export const FLOW_FILES: readonly string[] = readdirSync(FLOWS)
  .filter((name) => name.endsWith('.yaml') && !name.endsWith('.test.yaml'))
  .sort();

export function flowText(name: string): string {
  return readFileSync(join(FLOWS, name), 'utf8');
}

/** A git repository with one of those flows in it, committed like everything else. */
export interface Repository extends TestProject {
  git(...args: string[]): string;
  commit(message: string): void;
}

export function createRepository(flow: string, files: Readonly<Record<string, string>>): Repository {
  const project = createTestProject({ ...files, [`flows/${flow}`]: flowText(flow), '.gitignore': '.home/\n' });
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: project.root,
      encoding: 'utf8',
      env: {
        PATH: process.env['PATH'],
        HOME: project.root,
        GIT_AUTHOR_NAME: 'a',
        GIT_AUTHOR_EMAIL: 'a@example.org',
        GIT_COMMITTER_NAME: 'a',
        GIT_COMMITTER_EMAIL: 'a@example.org',
      },
    });
  git('init', '-q', '-b', 'main');
  const commit = (message: string) => {
    git('add', '-A');
    git('commit', '-q', '-m', message);
  };
  commit('feat: first');
  return { ...project, git, commit };
}

export interface Result {
  readonly status: string;
  readonly runId: string;
  readonly output: string;
  readonly reuse: { readonly executed: number; readonly run: number; readonly crossRun: number };
  readonly phases: readonly {
    readonly id: string;
    readonly status: string;
    readonly cacheHit: string | null;
    readonly reason: string;
    readonly items?: { readonly executed: number; readonly total: number };
  }[];
}

export function resultOf(stdout: string): Result {
  return JSON.parse(stdout) as Result;
}

/** Phases that executed. */
export function ran({ phases }: Result): string[] {
  return phases.filter(({ status, cacheHit }) => status === 'done' && cacheHit === null).map(({ id }) => id);
}

/** The settings of a project whose agents are the scripted model at this address. */
export function localModel(url: string, model: string): string {
  return `runner: local\nrunners: { local: { type: openai, baseUrl: "${url}/v1", model: ${model} } }\n`;
}
