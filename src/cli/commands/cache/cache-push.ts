import { pushEntries } from '../../../remote/push-entries.js';
import { remoteSettings } from '../../../remote/settings.js';
import { openStore } from '../../../store/disk-store.js';
import { plural } from '../../../util/format.js';
import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { ALLOW_KEY_FLAG, jsonFlag } from '../../flags/common-flags.js';
import { knownFlow } from '../../load/known-flow.js';
import { NO_REMOTE, requireStore } from '../../load/store.js';
import { watched } from '../../run/watched.js';

export const command: Command = {
  usage: '[FLOW] [--json]',
  description: `Uploads kept results to the shared cache (cache.remote), with their files. What is there already stays.
Runs do that by themselves for what they make.`,
  examples: [
    { command: 'taskflow cache push', does: 'everything that is kept' },
    { command: 'taskflow cache push release', does: 'what is kept of one flow' },
  ],
  flags: [ALLOW_KEY_FLAG, jsonFlag('as JSON: {pushed, known, left, failed, why}')],
  positionals: [{ name: 'FLOW', help: 'a path, or the name of a flow', required: false }],
  async run(invocation) {
    const { flags, out, project, positionals } = invocation;
    const opened = await requireStore(invocation);
    if ('status' in opened) return opened.status;
    const settings = remoteSettings(opened.config, project);
    if (!settings) return complain(invocation, NO_REMOTE.problem, NO_REMOTE.hint);
    const { url, unwritten } = settings;
    if (unwritten) return complain(invocation, `${url} is not written: ${unwritten.message}`, unwritten.hint);
    const flow = positionals[0] === undefined ? undefined : await knownFlow(invocation, positionals[0], async () => []);
    if (flow && 'problem' in flow) return complain(invocation, flow.problem, flow.hint);
    const options = { disk: openStore(opened.store), settings, flow: flow?.name };
    const pushed = await watched(invocation, (watcher) => pushEntries(options, watcher));
    if ('status' in pushed) return pushed.status;
    const { known, left, failed, why } = pushed;
    if (flags.boolean('json')) out.write(`${JSON.stringify(pushed)}\n`);
    else {
      const there = known > 0 ? `; ${known} there already` : '';
      const stay = left > 0 ? `; ${left} stay here (they depend on env: or a secret)` : '';
      out.write(`${url}: ${plural(pushed.pushed, 'entry', 'entries')} uploaded${there}${stay}\n`);
    }
    if (failed === 0) return EXIT.success;
    invocation.err.write(`${plural(failed, 'entry was', 'entries were')} not uploaded: ${why}\n`);
    return EXIT.failed;
  },
};
