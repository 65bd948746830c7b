import { attempts } from '../../../assemble/attempts.js';
import { recordFile } from '../../../assemble/folder.js';
import type { ReadRecord } from '../../../assemble/record.js';
import { formatAgo } from '../../../util/duration.js';
import { formatSpent } from '../../../util/format.js';
import { oneLine } from '../../../util/terminal-text.js';
import type { Command, Invocation } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { createStyle, type Style } from '../../terminal/style.js';
import { alignColumns } from '../../text/table.js';
import { endingText } from './record-text.js';

export const command: Command = {
  usage: '[--json]',
  examples: [{ command: 'taskflow assemble list', does: 'every attempt, the newest first, and why each ended' }],
  flags: [jsonFlag('as JSON: [{id, status, ended, error, task, inputId, flowId, at, rounds, spent, own, file}]')],
  positionals: [],
  async run({ project, flags, out, err }) {
    const all = attempts(project);
    if (flags.boolean('json')) {
      out.json(all.map(json));
      return EXIT.success;
    }
    if (all.length === 0) err.write('nothing was assembled here yet\n');
    const style = createStyle(out.color);
    out.write(alignColumns(all.map((one) => row(one, project, style))));
    return EXIT.success;
  },
};

function json({ record, own }: ReadRecord) {
  const { id, status, ended, error, task, inputId, flowId, at, rounds, spent } = record;
  const file = recordFile(id);
  return { id, status, ended, error, task, inputId, flowId, at, rounds: rounds.length, spent, own, file };
}

function row({ record, own }: ReadRecord, { clock }: Invocation['project'], style: Style): string[] {
  const paint = record.status === 'complete' ? style.green : style.red;
  return [
    record.id,
    oneLine(record.task).slice(0, 40),
    formatAgo(clock.now() - record.at),
    formatSpent(record.spent),
    `${paint(endingText(record).slice(0, 120))}${own ? '' : style.yellow(' (not made by you here)')}`,
  ];
}
