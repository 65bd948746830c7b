import { loadConfig } from '../../../config/load.js';
import { runProcess } from '../../../process/run-process.js';
import type { CommandResult, UiHost } from '../../../ui/server/host.js';
import { livePage } from '../../../ui/server/page-html.js';
import { servePage, type UiServer } from '../../../ui/server/serve.js';
import type { Project } from '../../../util/project.js';
import type { Command, Invocation } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { readPageFiles } from '../../load/page-files.js';
import { settingsMask } from '../../load/settings-mask.js';
import { storeOptions } from '../../load/store.js';
import { whoDecides } from '../../run/decide.js';
import { openBrowser } from './open-browser.js';

/** The default port; if it is taken, any free one. */
const PORT = 4373;

export const command: Command = {
  usage: '[--port N] [--read-only] [--no-open]',
  description: `Serves a page on this machine alone: runs as they go, history, the cache, and approvals by click. The
address that is printed lets one browser in, once; then another one is printed. Ctrl-C ends it; runs go on.`,
  examples: [
    { command: 'taskflow ui', does: 'opens the page in the browser' },
    { command: 'taskflow ui --read-only --no-open --port 8080', does: 'only to look, at a port that is known' },
  ],
  flags: [
    { name: 'port', type: 'number', value: 'N', help: `of 127.0.0.1 (default: ${PORT}, or one that is free)` },
    { name: 'read-only', type: 'boolean', help: 'nothing can be decided, cancelled, resumed or cleared' },
    { name: 'no-open', type: 'boolean', help: 'do not start a browser' },
  ],
  positionals: [],
  async run(invocation) {
    const port = invocation.flags.number('port');
    if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535)) {
      return complain(invocation, '--port is a whole number up to 65535');
    }
    const server = await start(await hostOf(invocation), port);
    if ('inUse' in server) {
      return complain(invocation, `port ${port} cannot be used: another program has it, or it needs more rights`);
    }
    await interrupted();
    await server.close();
    return EXIT.success;
  },
};

async function start(host: UiHost, port: number | undefined): Promise<UiServer | { readonly inUse: true }> {
  const server = await servePage(host, port ?? PORT);
  return 'inUse' in server && port === undefined ? servePage(host, 0) : server;
}

async function hostOf(invocation: Invocation): Promise<UiHost> {
  const { project, flags, out, err, stdin } = invocation;
  const opens = out.isTerminal && stdin.isTerminal && !flags.boolean('no-open');
  return {
    project,
    page: livePage(readPageFiles()),
    mask: await settingsMask(project),
    readOnly: flags.boolean('read-only'),
    who: `${whoDecides(project) ?? 'somebody'} via ui`,
    call: (args) => callSelf(project, args),
    store: async () => storeOptions(project, (await loadConfig(project)).config),
    announce: (url, isFirst) => {
      if (isFirst) out.write(`${url}\n`);
      else err.write(`opened; for another browser: ${url}\n`);
      if (isFirst && opens) void openBrowser(project, url).then((why) => why && err.write(`${why}\n`));
    },
    report: (message) => err.write(`taskflow ui: ${message}\n`),
  };
}

/** Runs a command in a process of its own: whatever happens to it, the page stays. */
async function callSelf(project: Project, args: readonly string[]): Promise<CommandResult> {
  const argv = [process.execPath, process.argv[1]!, '--root', project.root, '--no-color', ...args];
  const result = await runProcess({ argv, cwd: project.root, env: project.env });
  const stderr = result.stderrTail || (result.exitCode === null ? (result.failure?.message ?? '') : '');
  return { status: result.exitCode ?? EXIT.internal, stdout: result.stdout.toString('utf8'), stderr };
}

/** Resolves at Ctrl-C or another signal to end. */
function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => resolve());
  });
}
