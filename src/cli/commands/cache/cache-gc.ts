import { collectGarbage } from '../../../store/collect-garbage.js';
import { formatBytes, plural } from '../../../util/format.js';
import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { complainBusy, requireStore } from '../../load/store.js';
import { watched } from '../../run/watched.js';

export const command: Command = {
  usage: '[--json]',
  description:
    'Brings the store within cache.maxBytes, cache.maxEntries and cache.maxAge, the least recently used first.',
  examples: [{ command: 'taskflow cache gc', does: 'happens by itself now and then; this does it now' }],
  flags: [jsonFlag('as JSON: {removedEntries, removedBlobs, leftovers, freedBytes, entries, bytes}')],
  positionals: [],
  async run(invocation) {
    const opened = await requireStore(invocation);
    if ('status' in opened) return opened.status;
    const collected = await watched(invocation, (watcher) => collectGarbage(opened.store, { watcher }));
    if ('status' in collected) return collected.status;
    if ('busy' in collected) return complainBusy(invocation, collected.busy);
    if (invocation.flags.boolean('json')) {
      invocation.out.write(`${JSON.stringify(collected)}\n`);
      return EXIT.success;
    }
    const { removedEntries, removedBlobs, leftovers, freedBytes, entries, bytes } = collected;
    const removed = [plural(removedEntries, 'entry', 'entries'), plural(removedBlobs, 'file')];
    if (leftovers > 0) removed.push(`${leftovers} left by processes that died`);
    invocation.out.write(`removed ${removed.join(', ')}: ${formatBytes(freedBytes)}\n`);
    invocation.out.write(`left ${plural(entries, 'entry', 'entries')}, ${formatBytes(bytes)}\n`);
    return EXIT.success;
  },
};
