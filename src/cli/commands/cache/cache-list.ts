import { eachEntry, type ListedEntry } from '../../../store/list-entries.js';
import { formatAgo } from '../../../util/duration.js';
import { formatBytes, plural } from '../../../util/format.js';
import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { requireStore } from '../../load/store.js';
import { watched } from '../../run/watched.js';
import { createStyle } from '../../terminal/style.js';
import { JsonList } from '../../text/json-list.js';
import { alignColumns } from '../../text/table.js';

export const command: Command = {
  usage: '[--flow NAME] [--phase ID] [--limit N] [--json]',
  examples: [{ command: 'taskflow cache list --flow release', does: 'kept results of one flow, the last used first' }],
  flags: [
    { name: 'flow', type: 'string', value: 'NAME', help: 'only entries of this flow' },
    { name: 'phase', type: 'string', value: 'ID', help: 'only entries of this phase' },
    { name: 'limit', type: 'number', value: 'N', help: 'at most this many (50; with --json all)' },
    jsonFlag('as JSON: [{key, flow, phaseId, createdAt, usedAt, bytes, runId, files}]'),
  ],
  positionals: [],
  async run(invocation) {
    const opened = await requireStore(invocation);
    if ('status' in opened) return opened.status;
    const { flags, out, err, project } = invocation;
    const flow = flags.string('flow');
    const phase = flags.string('phase');
    const isFiltered = flow !== undefined || phase !== undefined;
    const limit = flags.number('limit') ?? (flags.boolean('json') ? Number.POSITIVE_INFINITY : 50);
    const list = flags.boolean('json') ? new JsonList(out) : undefined;
    const entries: ListedEntry[] = [];
    let found = 0;
    const visit = (entry: ListedEntry) => {
      if ((flow !== undefined && entry.flow !== flow) || (phase !== undefined && entry.phaseId !== phase)) return true;
      found += 1;
      if (found > limit) return list === undefined && isFiltered;
      if (list) list.add(`\n  ${JSON.stringify(entry, null, 2).replaceAll('\n', '\n  ')}`);
      else entries.push(entry);
      return true;
    };
    const total = await watched(invocation, async (watcher) => ({
      entries: await eachEntry(opened.store, visit, watcher),
    }));
    if ('status' in total) return total.status;
    if (list) {
      list.end(found === 0 ? ']' : '\n]');
      return EXIT.success;
    }
    const all = isFiltered ? found : total.entries;
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
    if (all === 0) err.write('no entries\n');
    else if (found > entries.length) err.write(`${all - entries.length} more; --limit shows them\n`);
    return EXIT.success;
  },
};
