import { namedRun, RUN_POSITIONAL, showFollowed, untilInterrupted, writeFollowed } from '../../batch/follow.js';
import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';

export const command: Command = {
  usage: 'RUN [-f] [--events]',
  description: 'What a run has said, from its journal. `trace` has every attempt with its inputs.',
  examples: [
    { command: 'taskflow runs logs last', does: 'a line per change' },
    { command: 'taskflow runs logs last -f', does: 'and what is added, until the run ends' },
  ],
  flags: [
    { name: 'follow', alias: 'f', type: 'boolean', help: 'go on until the run has ended' },
    { name: 'events', type: 'boolean', help: 'one JSON event per line, as of run --events' },
  ],
  positionals: RUN_POSITIONAL,
  async run(invocation) {
    const head = namedRun(invocation);
    if ('status' in head) return head.status;
    const { flags, out } = invocation;
    const { signal, dispose } = untilInterrupted();
    const following = { wait: flags.boolean('follow'), signal };
    if (flags.boolean('events')) await writeFollowed(invocation, head.runId, following);
    else
      await showFollowed(invocation, head, { ...following, target: Object.create(out, { isLive: { value: false } }) });
    dispose();
    return signal.aborted ? EXIT.interrupted : EXIT.success;
  },
};
