import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  type LoadedFlow,
  loadFlow,
  openProject,
  type RunFlowOptions,
  type RunHandle,
  runFlow,
} from '../../src/index.js';
import type { RunEvent } from '../../src/model/event.js';
import type { Observing } from '../../src/model/observation.js';
import type { RunResult } from '../../src/run/core/result.js';
import type { Project } from '../../src/util/project.js';

/**
 * A real project in a folder of its own. Scripts call `tick NAME TEXT…`, which writes its name to a log outside the
 * project and prints the text; the agent writes its prompt there and answers what the prompt's `SAY:` lines say. So
 * every execution is counted, whatever a status claims.
 */
export interface Rig {
  readonly root: string;
  readonly project: Project;
  /** Names that `tick` and the agent have noted, in order. */
  executions(): string[];
  /** How often each name was noted. */
  counts(): Record<string, number>;
  forget(): void;
  write(path: string, text: string, mode?: number): void;
  read(path: string): string;
  /** Writes the flow to `flow.json` (or the given file) and runs it. */
  run(flow?: object | string, options?: RigOptions): Promise<RunResult>;
  start(flow?: object | string, options?: RigOptions): Promise<RunHandle & { readonly loaded: LoadedFlow }>;
  remove(): void;
}

export interface RigOptions extends RunFlowOptions {
  readonly file?: string;
  readonly onEvent?: (event: RunEvent) => void;
}

/**
 * `env`: variables beside those that every rig has. `observe`: what the user's settings say of it. Tracing takes longer
 * than all that a counting script does, so only tests about it have it.
 */
export function createRig(env: Readonly<Record<string, string>> = {}, observe: Observing['mode'] = 'off'): Rig {
  const base = mkdtempSync(join(tmpdir(), 'taskflow-rig-'));
  const settings = join(base, 'home/.pi/agent/taskflows');
  mkdirSync(settings, { recursive: true });
  writeFileSync(join(settings, 'config.yaml'), `cache: { observe: ${observe} }\n`);
  const root = join(base, 'project');
  const log = join(base, 'log');
  const write = (path: string, text: string, mode?: number) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, { mode: mode ?? 0o644 });
  };
  mkdirSync(join(root, '.pi/taskflows'), { recursive: true });
  write('bin/tick', `#!/bin/sh\nprintf '%s\\n' "$1" >> '${log}'\nshift\nprintf '%s\\n' "$*"\n`, 0o755);
  write('bin/agent', agentProgram(log), 0o755);
  write(
    '.pi/taskflows/config.yaml',
    'runner: rig\nrunners:\n  rig: { command: [bin/agent], format: text, model: rig-1 }\n',
  );
  const project = openProject(root, { PATH: process.env['PATH'], HOME: join(base, 'home'), LANG: 'C.UTF-8', ...env });
  const executions = () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : []);
  const start: Rig['start'] = async (flow, { file = 'flow.json', onEvent, ...options } = {}) => {
    if (flow !== undefined) write(file, typeof flow === 'string' ? flow : JSON.stringify(flow, null, 2));
    const loaded = await loadFlow(project, `./${file}`);
    const handle = runFlow(project, loaded, options);
    if (onEvent) {
      void (async () => {
        for await (const event of handle.events) onEvent(event);
      })();
    }
    return { ...handle, loaded };
  };
  return {
    root,
    project,
    executions,
    counts: () => countNames(executions()),
    forget: () => rmSync(log, { force: true }),
    write,
    read: (path) => readFileSync(join(root, path), 'utf8'),
    start,
    run: async (flow, options) => (await start(flow, options)).result,
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}

/**
 * `NAME: x` is noted (else `agent`); `SAY: …` lines are the answer (else the prompt comes back); `FAIL:` fails. What a
 * judge is shown as data is not its task.
 */
function agentProgram(log: string): string {
  return `#!/bin/sh
prompt=$(cat)
task=$(printf '%s\\n' "$prompt" | sed '/^\\[data /,/^\\[end /d')
name=$(printf '%s\\n' "$task" | sed -n 's/^NAME: //p' | head -n 1)
printf '%s\\n' "\${name:-agent}" >> '${log}'
if printf '%s\\n' "$task" | grep -q '^FAIL:'; then echo 'told to fail' >&2; exit 1; fi
said=$(printf '%s\\n' "$task" | sed -n 's/^SAY: //p')
if [ -n "$said" ]; then printf '%s\\n' "$said"; else printf 'echo: %s\\n' "$prompt"; fi
`;
}

export function phaseOf(result: RunResult, id: string): RunResult['phases'][number] {
  const found = result.phases.find((phase) => phase.id === id);
  if (!found) throw new Error(`no phase ${id} in the result`);
  return found;
}

/** A script phase that is counted under its own id. */
export function ticking(id: string, more: object = {}, text = `said ${id}`): object {
  return { id, type: 'script', run: ['bin/tick', id, text], ...more };
}

function countNames(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
