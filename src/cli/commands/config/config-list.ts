import { loadConfig } from '../../../config/load.js';
import { SETTINGS } from '../../../config/settings.js';
import type { Command, Invocation } from '../../boot/command.js';
import { writeDiagnostics } from '../../errors/diagnostics.js';
import { EXIT } from '../../errors/exit-status.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { createStyle } from '../../terminal/style.js';
import { alignColumns } from '../../text/table.js';

export const command: Command = {
  usage: '[--all] [--json]',
  examples: [
    { command: 'taskflow config list', does: 'every setting that has a value, and where it comes from' },
    { command: 'taskflow config list --all', does: 'those without a value too' },
  ],
  flags: [
    { name: 'all', type: 'boolean', help: 'also settings without a value' },
    jsonFlag('as JSON: [{key, value, source, file}]'),
  ],
  positionals: [],
  async run(invocation) {
    const { values, problems } = await loadConfig(invocation.project);
    if (invocation.flags.boolean('json')) invocation.out.json(values);
    else invocation.out.write(listing(invocation, values));
    await writeDiagnostics(invocation.err, problems, invocation.project);
    return problems.some((problem) => problem.severity === 'error') ? EXIT.usage : EXIT.success;
  },
};

function listing(invocation: Invocation, values: Awaited<ReturnType<typeof loadConfig>>['values']): string {
  const style = createStyle(invocation.out.color);
  const rows = values.map(({ key, value, file }) => [
    key,
    typeof value === 'string' ? value : JSON.stringify(value),
    style.dim(file ?? 'default'),
  ]);
  if (invocation.flags.boolean('all')) {
    const set = new Set(values.map(({ key }) => key));
    for (const { key, help } of SETTINGS) if (!set.has(key)) rows.push([key, '-', style.dim(help)]);
    rows.push(['runners.NAME.*', '-', style.dim('runners of your own; taskflow config set --help shows how')]);
  }
  return alignColumns(rows);
}
