import type { WorkersState } from '../../../queue/list-workers.js';
import { formatDuration } from '../../../util/duration.js';
import { plural } from '../../../util/format.js';
import { oneLine } from '../../../util/terminal-text.js';
import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { requireConfig } from '../../load/settings.js';
import { alignColumns } from '../../text/table.js';

export const command: Command = {
  usage: '[--queue URL] [--json]',
  description: 'Lists the workers at a queue, what each of them does, and how much waits for one.',
  examples: [{ command: 'taskflow workers --queue redis://127.0.0.1:6379', does: 'who is there' }],
  flags: [
    { name: 'queue', type: 'string', value: 'URL', help: 'redis://…, rediss://… or env:NAME (default: workers.url)' },
    jsonFlag('as JSON: {queue, workers: [{name, address, units}], waiting, active}'),
  ],
  positionals: [],
  async run(invocation) {
    const { flags, out, err, project } = invocation;
    const configured = await requireConfig(invocation);
    if ('status' in configured) return configured.status;
    const written = flags.string('queue') ?? configured.config.workers?.url;
    if (written === undefined) return complain(invocation, 'no queue is given', 'add --queue redis://HOST:PORT');
    const { listWorkers } = await import('../../../queue/list-workers.js');
    const listed = await listWorkers(written, project);
    if ('problem' in listed) return complain(invocation, listed.problem, listed.hint);
    const { state } = listed;
    if (flags.boolean('json')) out.json(state);
    else out.write(textOf(state, project.clock.now()));
    if (state.volatile) err.write(`warning: the queue ${state.queue}: ${state.volatile}\n`);
    return EXIT.success;
  },
};

function textOf({ queue, workers, waiting, active }: WorkersState, now: number): string {
  const rows = workers.flatMap(({ name, address, units }) => {
    if (units.length === 0) return [[oneLine(name), oneLine(address), 'waits']];
    return units.map(({ run, path, unit = '', since = now }) => [
      oneLine(name),
      oneLine(address),
      oneLine(`${path} ${unit}`.trim()),
      oneLine(run),
      formatDuration(Math.max(0, now - since)),
    ]);
  });
  const queued = `${plural(waiting, 'unit waits', 'units wait')}, ${active} under way`;
  return `${alignColumns(rows)}${queue}: ${plural(workers.length, 'worker')}, ${queued}\n`;
}
