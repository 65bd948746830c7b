import { findRecord } from '../../../assemble/attempts.js';
import { recordFile } from '../../../assemble/folder.js';
import { formatAgo } from '../../../util/duration.js';
import { formatCost } from '../../../util/format.js';
import { oneLine } from '../../../util/terminal-text.js';
import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { alignColumns } from '../../text/table.js';
import { endingText, flowYaml, roundLines, triesText, usesText } from './record-text.js';

export const command: Command = {
  usage: 'ID [--json]',
  examples: [{ command: 'taskflow assemble show last', does: 'the last attempt: its rounds, its flow, what it uses' }],
  flags: [jsonFlag('the whole record')],
  positionals: [{ name: 'ID', help: 'id of an attempt, a unique part of it, or last', required: true }],
  async run(invocation) {
    const { project, flags, out, positionals } = invocation;
    const found = findRecord(project, positionals[0]!);
    if ('problem' in found) return complain(invocation, found.problem, found.hint);
    const { record, own } = found;
    if (flags.boolean('json')) {
      out.json({ ...record, own });
      return EXIT.success;
    }
    const { runner, model, allowScripts } = record;
    const facts = [
      ['task', oneLine(record.task)],
      ['state', endingText(record)],
      [
        'made',
        `${formatAgo(project.clock.now() - record.at)} by ${oneLine(runner)}${model ? ` (${oneLine(model)})` : ''}`,
      ],
      ['cost', `${formatCost(record.spent)} in ${triesText(record)}`],
      ['uses', usesText(record.uses)],
      ['commands', allowScripts ? 'allowed' : 'not allowed'],
      ['yours', own ? 'yes' : 'no: it was not made by you here, and is not used without asking you'],
      ['file', recordFile(record.id)],
    ];
    const flow = record.flow ? `\n${await flowYaml(record.flow)}` : '';
    out.write(`${alignColumns(facts)}\n${roundLines(record.rounds).join('\n')}\n${flow}`);
    return EXIT.success;
  },
};
