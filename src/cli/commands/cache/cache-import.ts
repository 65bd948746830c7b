import { resolve } from 'node:path';
import { recordOwnFile } from '../../../memo/files/written-files.js';
import { recomputeKey } from '../../../memo/identity.js';
import { importArchive } from '../../../store/import-archive.js';
import { plural } from '../../../util/format.js';
import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { requireStore } from '../../load/store.js';
import { watched } from '../../run/watched.js';

export const command: Command = {
  usage: 'FILE [--json]',
  description:
    'Every entry is checked; an archive with a single bad one is refused whole, and nothing of it is imported.',
  examples: [{ command: 'taskflow cache import cache.tfc', does: 'take over what another machine has computed' }],
  flags: [jsonFlag('as JSON: {entries, blobs, known}')],
  positionals: [{ name: 'FILE', help: 'an archive made by taskflow cache export', required: true }],
  async run(invocation) {
    const opened = await requireStore(invocation);
    if ('status' in opened) return opened.status;
    const file = invocation.positionals[0]!;
    const path = resolve(invocation.cwd, file);
    const store = { ...opened.store, recomputeKey };
    const imported = await watched(invocation, (watcher) => importArchive(store, path, watcher));
    if ('status' in imported) return imported.status;
    if ('refused' in imported)
      return complain(invocation, `${file} is refused: ${imported.refused}`, 'nothing was imported');
    await recordOwnFile(invocation.project, path);
    if (invocation.flags.boolean('json')) {
      invocation.out.write(`${JSON.stringify(imported)}\n`);
      return EXIT.success;
    }
    const { entries, blobs, known } = imported;
    const already = known > 0 ? `; ${plural(known, 'entry was', 'entries were')} here already` : '';
    invocation.out.write(`took ${plural(entries, 'entry', 'entries')} and ${plural(blobs, 'file')}${already}\n`);
    return EXIT.success;
  },
};
