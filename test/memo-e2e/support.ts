import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadFlow, type RunFlowOptions, runFlow } from '../../src/index.js';
import type { RunEvent } from '../../src/model/event.js';
import type { Observing } from '../../src/model/observation.js';
import type { RunResult } from '../../src/run/core/result.js';
import type { Entry } from '../../src/store/store.js';
import type { Project } from '../../src/util/project.js';
import { createRig, type Rig } from '../support/rig.js';

export const CACHE = '.pi/taskflows/cache';

export interface MemoRig extends Rig {
  /** What a run executes: names noted during it, with how often. */
  executed(flow?: object | string, options?: MemoOptions): Promise<Record<string, number>>;
  /** Runs `flow.json` (or the given file) as it is now, in a project that may differ from the rig's own. */
  runAs(changes: ProjectChanges, flow?: object | string, options?: MemoOptions): Promise<RunResult>;
  /** Paths of the entries in the store. */
  entries(): string[];
  entry(index?: number): Entry;
  git(...args: string[]): string;
}

export interface MemoOptions extends RunFlowOptions {
  readonly file?: string;
  readonly onEvent?: (event: RunEvent) => void;
}

export interface ProjectChanges {
  /** Added to the real time. */
  readonly laterMs?: number;
  /** Over the rig's own small environment; undefined removes. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly root?: string;
}

/**
 * The counting rig, with an agent (`runner: json`) that is a real program and answers with whatever the last `ANSWER:`
 * line of its prompt says, a line of JSON in the words of the runner contract. A `DO:` line is executed before. `note
 * NAME` is `tick` without a word of its own.
 */
export function createMemoRig(observe?: Observing['mode']): MemoRig {
  const rig = createRig({}, observe);
  const log = join(rig.root, '..', 'log');
  rig.write('bin/json-agent', jsonAgent(log), 0o755);
  rig.write('bin/note', `#!/bin/sh\nprintf '%s\\n' "$1" >> '${log}'\n`, 0o755);
  writeConfig(rig);
  const runAs: MemoRig['runAs'] = async (changes, flow, { file = 'flow.json', onEvent, ...options } = {}) => {
    if (flow !== undefined) rig.write(file, typeof flow === 'string' ? flow : JSON.stringify(flow, null, 2));
    const project = projectWith(rig.project, changes);
    const handle = runFlow(project, await loadFlow(project, `./${file}`), options);
    for await (const event of handle.events) onEvent?.(event);
    return handle.result;
  };
  const entries = () =>
    list(join(rig.root, CACHE))
      .filter((name) => /^[0-9a-f]{64}\.json$/.test(name))
      .map((name) => join(rig.root, CACHE, name))
      // What only says where to look is no result.
      .filter((path) => !readFileSync(path, 'utf8').includes('"pathSets":['));
  return {
    ...rig,
    runAs,
    executed: async (flow, options) => {
      rig.forget();
      await runAs({}, flow, options);
      return rig.counts();
    },
    entries,
    entry: (index = 0) => JSON.parse(readFileSync(entries()[index]!, 'utf8')) as Entry,
    git: (...args) => git(rig.root, ...args),
  };
}

/** Lines of `config.yaml` under the two runners of the rig. */
export function writeConfig(rig: Rig, more = '', runner = 'rig'): void {
  rig.write(
    '.pi/taskflows/config.yaml',
    `runner: ${runner}\nrunners:\n  rig: { command: [bin/agent], format: text, model: rig-1 }\n` +
      `  json: { command: [bin/json-agent], format: json, model: m-1 }\n${more}`,
  );
}

export function projectWith(project: Project, { laterMs = 0, env, root }: ProjectChanges): Project {
  const { clock } = project;
  return {
    ...project,
    ...(root === undefined ? {} : { root }),
    env: { ...project.env, ...env },
    clock: { now: () => clock.now() + laterMs, elapsed: () => clock.elapsed() },
  };
}

/** A repository with everything so far committed; the store and the runs ignore themselves. */
export function makeRepository(root: string): void {
  git(root, 'init', '-q', '-b', 'main');
  git(root, 'add', '.');
  git(root, 'commit', '-q', '-m', 'start');
}

export function git(root: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=T', '-c', 'user.email=t@example.org', '-c', 'commit.gpgsign=false'];
  return execFileSync('git', [...identity, ...args], { cwd: root, encoding: 'utf8' }).trim();
}

export const flow = (phases: readonly object[], more: object = {}) => ({ name: 'memo', ...more, phases });

/** A script that is counted under its id, prints its text, and is reused across runs. */
export function kept(id: string, fingerprint: readonly string[] = [], more: object = {}): object {
  return { id, type: 'script', run: ['bin/tick', id, `said ${id}`], cache: cross(fingerprint), ...more };
}

export const cross = (fingerprint: readonly string[] = [], more: object = {}) => ({
  scope: 'cross-run',
  fingerprint,
  ...more,
});

/** An agent phase of the `json` runner: counted under its id, answering with this object. */
export function answering(id: string, answer: object, more: object = {}): object {
  const task = `NAME: ${id}\nANSWER: ${JSON.stringify(answer)}`;
  return { id, type: 'agent', runner: 'json', task, cache: cross(), ...more };
}

/** Every file under a folder, as paths. */
export function filesUnder(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function list(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

function jsonAgent(log: string): string {
  return `#!/bin/sh
prompt=$(sed '/^\\[data /,/^\\[end /d')
name=$(printf '%s\\n' "$prompt" | sed -n 's/^NAME: //p' | head -n 1)
printf '%s\\n' "\${name:-agent}" >> '${log}'
todo=$(printf '%s\\n' "$prompt" | sed -n 's/^DO: //p')
if [ -n "$todo" ]; then sh -c "$todo"; fi
printf '%s\\n' "$prompt" | sed -n 's/^ANSWER: //p' | tail -n 1
`;
}
