import { recomputeKey } from '../../../memo/identity.js';
import { verifyStore } from '../../../store/verify-store.js';
import { oneLine } from '../../../util/terminal-text.js';
import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { complainBusy, requireStore } from '../../load/store.js';
import { watched } from '../../run/watched.js';
import { createStyle } from '../../terminal/style.js';

export const command: Command = {
  usage: '[--json]',
  description:
    'Reads everything that is kept. What is damaged is set aside and never served; status 1 if there was something.',
  examples: [{ command: 'taskflow cache verify', does: 'is everything intact?' }],
  flags: [jsonFlag('as JSON: [{name, checked, problems}]')],
  positionals: [],
  async run(invocation) {
    const opened = await requireStore(invocation);
    if ('status' in opened) return opened.status;
    const store = { ...opened.store, recomputeKey };
    const steps = await watched(invocation, (watcher) => verifyStore(store, watcher));
    if ('status' in steps) return steps.status;
    if ('busy' in steps) return complainBusy(invocation, steps.busy);
    const { out, flags } = invocation;
    const problems = steps.flatMap((step) => step.problems);
    if (flags.boolean('json')) {
      out.json(steps);
    } else {
      const style = createStyle(out.color);
      for (const { name, checked, problems: found } of steps) {
        out.write(`${found.length === 0 ? style.green('✔') : style.red('✖')} ${name.padEnd(9)} ${checked} checked\n`);
        for (const problem of found) out.write(`    ${oneLine(problem)}\n`);
      }
      if (steps.length === 0) out.write('nothing is kept yet\n');
    }
    return problems.length === 0 ? EXIT.success : EXIT.failed;
  },
};
