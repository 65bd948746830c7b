import { resolve } from 'node:path';
import { recordOwnFile } from '../../../memo/files/written-files.js';
import { exportArchive } from '../../../store/export-archive.js';
import { formatBytes, plural } from '../../../util/format.js';
import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { requireStore } from '../../load/store.js';
import { watched } from '../../run/watched.js';

export const command: Command = {
  usage: 'FILE [--json]',
  description:
    'One archive of all intact entries with their files, for CI and colleagues. It holds outputs: treat it like them.',
  examples: [{ command: 'taskflow cache export cache.tfc', does: 'elsewhere: taskflow cache import cache.tfc' }],
  flags: [jsonFlag('as JSON: {entries, blobs, bytes, skipped}')],
  positionals: [{ name: 'FILE', help: 'the archive to write', required: true }],
  async run(invocation) {
    const opened = await requireStore(invocation);
    if ('status' in opened) return opened.status;
    const file = invocation.positionals[0]!;
    const path = resolve(invocation.cwd, file);
    const exported = await watched(invocation, (watcher) => exportArchive(opened.store, path, watcher));
    if ('status' in exported) return exported.status;
    if ('failed' in exported) return complain(invocation, `${file} cannot be written: ${exported.failed}`);
    await recordOwnFile(invocation.project, path);
    if (invocation.flags.boolean('json')) {
      invocation.out.write(`${JSON.stringify(exported)}\n`);
      return EXIT.success;
    }
    const { entries, blobs, bytes, skipped } = exported;
    invocation.out.write(
      `${file}: ${plural(entries, 'entry', 'entries')}, ${plural(blobs, 'file')}, ${formatBytes(bytes)}\n`,
    );
    if (skipped > 0)
      invocation.err.write(`${plural(skipped, 'entry was', 'entries were')} left out: damaged or incomplete\n`);
    return EXIT.success;
  },
};
