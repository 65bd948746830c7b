import { listEntries } from '../../../store/list-entries.js';
import { formatAgo } from '../../../util/duration.js';
import { formatBytes, plural } from '../../../util/format.js';
import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { requireStore } from '../../load/store.js';
import { createStyle } from '../../terminal/style.js';
import { alignColumns } from '../../text/table.js';

export const command: Command = {
  usage: '[--flow NAME] [--phase ID] [--limit N] [--json]',
  examples: [{ command: 'taskflow cache list --flow release', does: 'kept results of one flow, the last used first' }],
  flags: [
    { name: 'flow', type: 'string', value: 'NAME', help: 'only entries of this flow' },
    { name: 'phase', type: 'string', value: 'ID', help: 'only entries of this phase' },
    { name: 'limit', type: 'number', value: 'N', help: 'at most so many (50; with --json all)' },
    { name: 'json', type: 'boolean', help: 'as JSON: [{key, flow, phaseId, createdAt, usedAt, bytes, runId, files}]' },
  ],
  positionals: [],
  async run(invocation) {
    const opened = await requireStore(invocation);
    if ('status' in opened) return opened.status;
    const { flags, out, err, project } = invocation;
    const flow = flags.string('flow');
    const phase = flags.string('phase');
    const all = listEntries(opened.store).filter(
      (entry) => (flow === undefined || entry.flow === flow) && (phase === undefined || entry.phaseId === phase),
    );
    const entries = all.slice(0, flags.number('limit') ?? (flags.boolean('json') ? all.length : 50));
    if (flags.boolean('json')) {
      out.write(`${JSON.stringify(entries, null, 2)}\n`);
      return EXIT.success;
    }
    const style = createStyle(out.color);
    const now = project.clock.now();
    const ago = (time: number) => formatAgo(now - time);
    const rows = entries.map((entry) => [
      style.dim(entry.key.slice(0, 12)),
      `${entry.flow}/${entry.phaseId}`,
      `made ${ago(entry.createdAt)}`,
      `used ${ago(entry.usedAt)}`,
      formatBytes(entry.bytes),
      entry.files > 0 ? plural(entry.files, 'file') : '',
    ]);
    out.write(alignColumns(rows));
    if (all.length === 0) err.write('no entries\n');
    else if (entries.length < all.length) err.write(`${all.length - entries.length} more; --limit shows them\n`);
    return EXIT.success;
  },
};
