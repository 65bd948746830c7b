import { attemptBefore, findRecord } from '../../../assemble/attempts.js';
import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { createStyle } from '../../terminal/style.js';
import { lineDiff } from '../../text/line-diff.js';
import { flowYaml } from './record-text.js';

export const command: Command = {
  usage: 'ID [OTHER] [--json]',
  description: 'What differs between the flow of an attempt and that of the one before it, at the same thing.',
  examples: [{ command: 'taskflow assemble diff last', does: 'what the last attempt changed' }],
  flags: [jsonFlag('as JSON: {from, to, lines: [{mark, line}]}')],
  positionals: [
    { name: 'ID', help: 'id of an attempt, a unique part of it, or last', required: true },
    { name: 'OTHER', help: 'the attempt that it is compared with', required: false },
  ],
  async run(invocation) {
    const { project, flags, out, positionals } = invocation;
    const [typed, other] = positionals;
    const found = findRecord(project, typed!);
    if ('problem' in found) return complain(invocation, found.problem, found.hint);
    const before = other === undefined ? attemptBefore(project, found) : findRecord(project, other);
    if (!before) return complain(invocation, `there was no attempt with a flow before ${found.record.id}`);
    if ('problem' in before) return complain(invocation, before.problem, before.hint);
    const texts = [before, found].map(({ record }) => (record.flow ? flowYaml(record.flow) : ''));
    const lines = lineDiff(...((await Promise.all(texts)) as [string, string]));
    const [from, to] = [before.record.id, found.record.id];
    if (flags.boolean('json')) {
      out.write(`${JSON.stringify({ from, to, lines })}\n`);
      return EXIT.success;
    }
    const style = createStyle(out.color);
    const paint = { '-': style.red, '+': style.green, ' ': style.dim };
    const shown = lines.map(({ mark, line }) => paint[mark](`${mark}${line}`));
    out.write(`${[`--- ${from}`, `+++ ${to}`, ...shown].join('\n')}\n`);
    return EXIT.success;
  },
};
