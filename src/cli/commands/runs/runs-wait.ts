import { followRun } from '../../../run/history/follow-run.js';
import { runHead, runJson } from '../../../run/history/run-head.js';
import { startTimer } from '../../../util/timer.js';
import { namedRun, RUN_POSITIONAL } from '../../batch/follow.js';
import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { followedStatus } from '../../run/followed-status.js';

export const command: Command = {
  usage: 'RUN [--timeout D] [--json]',
  description: `Waits until a run has ended, whoever executes it. Its exit status is that of the run;
124 when the time is over before that.`,
  examples: [
    { command: 'taskflow runs wait last', does: 'until the last run has ended' },
    { command: 'taskflow runs wait last --timeout 10m', does: 'ten minutes at most' },
  ],
  flags: [
    { name: 'timeout', type: 'duration', value: 'D', help: 'give up after this long (status 124); the run goes on' },
    jsonFlag('how it ended, as JSON'),
  ],
  positionals: RUN_POSITIONAL,
  async run(invocation) {
    const head = namedRun(invocation);
    if ('status' in head) return head.status;
    const { runId } = head;
    const { project, flags, out, err } = invocation;
    const over = new AbortController();
    const limit = flags.duration('timeout');
    const timer = limit === undefined ? undefined : startTimer(limit, () => over.abort());
    for await (const _ of followRun(project, runId, { wait: true, signal: over.signal }));
    clearTimeout(timer);
    const now = runHead(project, runId);
    if (now && flags.boolean('json')) out.write(`${JSON.stringify(runJson(now))}\n`);
    if (now?.state !== 'running') return followedStatus(invocation, runId);
    err.write(`${runId} is still running\n`);
    return EXIT.timeOver;
  },
};
