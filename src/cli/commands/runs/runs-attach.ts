import { namedRun, RUN_POSITIONAL, showFollowed, untilInterrupted } from '../../batch/follow.js';
import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { followedStatus } from '../../run/followed-status.js';

export const command: Command = {
  usage: 'RUN',
  description: 'Shows a run as it goes. Ctrl-C leaves it running. The exit status is that of the run.',
  examples: [{ command: 'taskflow runs attach last', does: 'the run that is under way' }],
  flags: [],
  positionals: RUN_POSITIONAL,
  async run(invocation) {
    const head = namedRun(invocation);
    if ('status' in head) return head.status;
    const { err } = invocation;
    const { signal, dispose } = untilInterrupted();
    await showFollowed(invocation, head, { target: err, wait: true, signal });
    dispose();
    if (!signal.aborted) return followedStatus(invocation, head.runId);
    err.write(`${head.runId} goes on; taskflow runs cancel ${head.runId} ends it\n`);
    return EXIT.interrupted;
  },
};
