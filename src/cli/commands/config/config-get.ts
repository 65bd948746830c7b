import { resolveKey } from '../../../config/edit.js';
import { loadConfig } from '../../../config/load.js';
import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { jsonFlag } from '../../flags/common-flags.js';

export const command: Command = {
  usage: 'KEY [--json]',
  examples: [{ command: 'taskflow config get cache.maxAge', does: 'the value alone, for scripts' }],
  flags: [jsonFlag('as JSON: {key, value, source, file}')],
  positionals: [{ name: 'KEY', help: 'such as runner, cache.maxBytes or iteration', required: true }],
  async run(invocation) {
    const resolved = await resolveKey(invocation.positionals[0]!);
    if ('problem' in resolved) return complain(invocation, resolved.problem, resolved.hint);
    const { values } = await loadConfig(invocation.project);
    const found = values.find(({ key }) => key === resolved.key);
    if (invocation.flags.boolean('json')) {
      invocation.out.write(`${JSON.stringify(found ?? { key: resolved.key, value: null, source: 'default' })}\n`);
      return EXIT.success;
    }
    if (!found) {
      invocation.err.write(`${resolved.key} has no value\n`);
      return EXIT.failed;
    }
    invocation.out.write(`${typeof found.value === 'string' ? found.value : JSON.stringify(found.value)}\n`);
    return EXIT.success;
  },
};
