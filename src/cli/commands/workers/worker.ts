import { hostname } from 'node:os';
import { resolve } from 'node:path';
import type { DoneUnit } from '../../../queue/worker/serve.js';
import { formatDuration } from '../../../util/duration.js';
import { oneLine } from '../../../util/terminal-text.js';
import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { ALLOW_KEY_FLAG } from '../../flags/common-flags.js';
import { requireConfig } from '../../load/settings.js';
import { listenForInterrupts } from '../../run/interrupt.js';

const LOCK_MS = 15_000;
const ALLOWED = /^(?:runner|program):\S+$/;

export const command: Command = {
  usage: '--queue URL [--concurrency N] [--allow runner:NAME,program:NAME …]',
  description: `Does units of runs that were started with --workers, until it is ended. It works in checkouts of its own
repository, with its own settings, runners and variables, and does only what a key of cache.trust.keys has signed.
Ctrl-C takes nothing more and waits for what is under way; once more ends at once, and other workers take that over.`,
  examples: [
    { command: 'taskflow worker --queue redis://127.0.0.1:6379 --concurrency 4', does: 'up to four units at once' },
    {
      command: 'taskflow worker --queue env:QUEUE_URL --allow runner:claude',
      does: 'agents of one runner, no scripts',
    },
  ],
  flags: [
    { name: 'queue', type: 'string', value: 'URL', help: 'redis://…, rediss://… or env:NAME (default: workers.url)' },
    { name: 'concurrency', type: 'number', value: 'N', help: 'units at once (default: 1)' },
    { name: 'allow', type: 'list', value: 'WHAT', help: 'only these: runner:NAME, program:NAME (sh for a shell text)' },
    { name: 'repo', type: 'string', value: 'DIR', help: 'repository with the commits of the runs (default: this one)' },
    { name: 'name', type: 'string', value: 'NAME', help: 'what runs call it (default: the host and the process)' },
    { name: 'quiet', alias: 'q', type: 'boolean', help: 'say nothing while it works' },
    ALLOW_KEY_FLAG,
  ],
  positionals: [],
  async run(invocation) {
    const { flags, project, err, cwd } = invocation;
    const repo = flags.string('repo');
    const concurrency = flags.number('concurrency') ?? 1;
    if (!Number.isInteger(concurrency) || concurrency < 1) {
      return complain(invocation, '--concurrency is a whole number from 1 on');
    }
    const allow = flags.list('allow').flatMap((text) => text.split(','));
    const unknown = allow.find((text) => !ALLOWED.test(text));
    if (unknown !== undefined) return complain(invocation, `--allow ${unknown}: it is runner:NAME or program:NAME`);
    const configured = await requireConfig(invocation);
    if ('status' in configured) return configured.status;
    const { config } = configured;
    const written = flags.string('queue') ?? config.workers?.url;
    if (written === undefined) return complain(invocation, 'no queue is given', 'add --queue redis://HOST:PORT');
    const name = oneLine(flags.string('name') ?? `${hostname()}-${process.pid}`);
    const say = (line: string) => flags.boolean('quiet') || err.write(`${oneLine(line)}\n`);
    const { openWorker } = await import('../../../queue/worker/open-worker.js');
    const worker = await openWorker({
      ...{ written, project, config, name, concurrency },
      ...(repo !== undefined && { repository: resolve(cwd, repo) }),
      lockMs: config.workers?.lockMs ?? LOCK_MS,
      allow: allow.length === 0 ? undefined : new Set(allow),
      onDone: (unit) => say(lineOf(unit)),
      onQueue: (isThere) => say(isThere ? 'the queue is back' : 'the queue is gone: waits until it is back'),
    });
    if ('problem' in worker) return complain(invocation, worker.problem, worker.hint);
    if (worker.notice) say(`warning: ${worker.notice}`);
    say(`${name} waits for units at ${worker.shown}`);
    const interrupt = listenForInterrupts(() => say('ending after what is under way; once more ends at once'));
    await new Promise<void>((end) => interrupt.signal.addEventListener('abort', () => end(), { once: true }));
    await worker.close();
    interrupt.dispose();
    return EXIT.success;
  },
};

function lineOf({ path, answer }: DoneUnit): string {
  if ('stays' in answer) return `${path}: left to the sender (${answer.stays})`;
  const time = answer.durationMs === undefined ? '' : ` in ${formatDuration(answer.durationMs)}`;
  return 'failure' in answer ? `${path}: failed (${answer.failure.message})` : `${path}: done${time}`;
}
