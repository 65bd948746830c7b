import type { Command } from './command.js';

export interface CommandEntry {
  /** One word, or two for a sub-command: `cache status`. */
  readonly name: string;
  readonly summary: string;
  /** Loads the one module that the command needs. */
  readonly load: () => Promise<{ readonly command: Command }>;
}

/** Every command, in the order of `taskflow --help`. */
export const COMMANDS: readonly CommandEntry[] = [
  { name: 'run', summary: 'run a flow', load: () => import('../commands/run/run.js') },
  { name: 'batch', summary: 'run a flow once for each row of a file', load: () => import('../commands/run/batch.js') },
  { name: 'list', summary: 'the flows that can be run here', load: () => import('../commands/flow/list.js') },
  { name: 'resume', summary: 'go on with a run', load: () => import('../commands/run/resume.js') },
  {
    name: 'check',
    summary: 'all problems of a flow, without running it',
    load: () => import('../commands/flow/check.js'),
  },
  {
    name: 'test',
    summary: 'run the tests of flows, without a model',
    load: () => import('../commands/flow/test.js'),
  },
  {
    name: 'explain',
    summary: 'why each phase of a flow would run or be reused',
    load: () => import('../commands/cache/cache-explain.js'),
  },
  {
    name: 'audit',
    summary: 'execute some kept results again, and compare',
    load: () => import('../commands/cache/audit.js'),
  },
  { name: 'graph', summary: "draw a flow's graph", load: () => import('../commands/flow/graph.js') },
  {
    name: 'worker',
    summary: 'do units of runs on other machines',
    load: () => import('../commands/workers/worker.js'),
  },
  {
    name: 'workers',
    summary: 'which workers are there, and what they do',
    load: () => import('../commands/workers/workers.js'),
  },
  { name: 'runs', summary: 'what has run', load: () => import('../commands/runs/runs.js') },
  { name: 'runs show', summary: 'how one run went', load: () => import('../commands/runs/runs-show.js') },
  {
    name: 'runs attach',
    summary: 'watch a run that goes on in another process',
    load: () => import('../commands/runs/runs-attach.js'),
  },
  { name: 'runs wait', summary: 'wait until a run has ended', load: () => import('../commands/runs/runs-wait.js') },
  { name: 'runs logs', summary: 'what a run has said', load: () => import('../commands/runs/runs-logs.js') },
  { name: 'runs cancel', summary: 'end a run', load: () => import('../commands/runs/runs-cancel.js') },
  { name: 'runs clear', summary: 'forget runs', load: () => import('../commands/runs/runs-clear.js') },
  {
    name: 'trace',
    summary: 'every attempt of a run, with its inputs',
    load: () => import('../commands/runs/trace.js'),
  },
  { name: 'report', summary: 'a run as one page, in a file', load: () => import('../commands/runs/report.js') },
  {
    name: 'ui',
    summary: 'a page with runs as they go, history, cache and approvals',
    load: () => import('../commands/ui/ui.js'),
  },
  { name: 'approve', summary: 'say yes to a waiting approval', load: () => import('../commands/run/approve.js') },
  { name: 'reject', summary: 'say no to a waiting approval', load: () => import('../commands/run/reject.js') },
  {
    name: 'checkpoint export',
    summary: 'what a run has done, in one file',
    load: () => import('../commands/runs/checkpoint-export.js'),
  },
  {
    name: 'checkpoint show',
    summary: 'what a checkpoint holds',
    load: () => import('../commands/runs/checkpoint-show.js'),
  },
  {
    name: 'cache status',
    summary: 'what is kept, per phase of a flow',
    load: () => import('../commands/cache/cache-status.js'),
  },
  { name: 'cache list', summary: 'kept results', load: () => import('../commands/cache/cache-list.js') },
  { name: 'cache show', summary: 'one kept result', load: () => import('../commands/cache/cache-show.js') },
  {
    name: 'cache explain',
    summary: 'what differs between now and the nearest kept result',
    load: () => import('../commands/cache/cache-explain.js'),
  },
  {
    name: 'cache inputs',
    summary: 'what a phase looked at and does not declare',
    load: () => import('../commands/cache/cache-inputs.js'),
  },
  { name: 'cache clear', summary: 'remove kept results', load: () => import('../commands/cache/cache-clear.js') },
  {
    name: 'cache gc',
    summary: 'bring the store within its bounds',
    load: () => import('../commands/cache/cache-gc.js'),
  },
  {
    name: 'cache verify',
    summary: 'check everything that is kept',
    load: () => import('../commands/cache/cache-verify.js'),
  },
  {
    name: 'cache export',
    summary: 'kept results in one archive',
    load: () => import('../commands/cache/cache-export.js'),
  },
  {
    name: 'cache import',
    summary: 'add the results of an archive',
    load: () => import('../commands/cache/cache-import.js'),
  },
  {
    name: 'cache push',
    summary: 'upload kept results to the shared cache',
    load: () => import('../commands/cache/cache-push.js'),
  },
  {
    name: 'cache pull',
    summary: 'bring what a flow needs from the shared cache',
    load: () => import('../commands/cache/cache-pull.js'),
  },
  {
    name: 'cache keygen',
    summary: 'a pair of keys for a shared cache',
    load: () => import('../commands/cache/cache-keygen.js'),
  },
  {
    name: 'config list',
    summary: 'every setting, its value and where it comes from',
    load: () => import('../commands/config/config-list.js'),
  },
  { name: 'config get', summary: 'the value of one setting', load: () => import('../commands/config/config-get.js') },
  { name: 'config set', summary: 'change a setting', load: () => import('../commands/config/config-set.js') },
  { name: 'config unset', summary: 'forget a setting', load: () => import('../commands/config/config-unset.js') },
  { name: 'init', summary: 'start using taskflow in a project', load: () => import('../commands/project/init.js') },
  { name: 'new', summary: 'a flow from a template', load: () => import('../commands/flow/new.js') },
  {
    name: 'assemble',
    summary: 'make a flow for a task, or reuse an earlier one',
    load: () => import('../commands/assemble/assemble.js'),
  },
  { name: 'assemble list', summary: 'what was assembled', load: () => import('../commands/assemble/list.js') },
  { name: 'assemble show', summary: 'one attempt, with its flow', load: () => import('../commands/assemble/show.js') },
  {
    name: 'assemble diff',
    summary: 'what an attempt changed in the flow',
    load: () => import('../commands/assemble/diff.js'),
  },
  {
    name: 'assemble promote',
    summary: 'save an attempt as a flow of the project',
    load: () => import('../commands/assemble/promote.js'),
  },
  {
    name: 'mcp',
    summary: 'let a coding agent use the flows of this project',
    load: () => import('../commands/mcp/mcp.js'),
  },
  {
    name: 'mcp install',
    summary: 'put the server into the settings of an agent',
    load: () => import('../commands/mcp/install.js'),
  },
  {
    name: 'schema',
    summary: 'the JSON Schema of flow files, settings or tests',
    load: () => import('../commands/flow/schema.js'),
  },
  {
    name: 'completion',
    summary: 'let bash, zsh or fish complete commands, flows, phases and runs',
    load: () => import('../commands/project/completion.js'),
  },
  {
    name: 'doctor',
    summary: 'what is installed, which runners work, what to do',
    load: () => import('../commands/project/doctor.js'),
  },
];

export function findCommand(name: string): CommandEntry | undefined {
  return COMMANDS.find((entry) => entry.name === name);
}

/** Sub-commands of a first word: `cache` has several, `run` none. */
export function subCommands(word: string): readonly CommandEntry[] {
  return COMMANDS.filter((entry) => entry.name.startsWith(`${word} `));
}
