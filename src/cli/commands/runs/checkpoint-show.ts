import { resolve } from 'node:path';
import { readCheckpoint } from '../../../run/continue/checkpoint.js';
import type { JournalLine, ResultLine } from '../../../run/journal/lines.js';
import { resolveSigningKey } from '../../../store/signing-key.js';
import { formatDuration } from '../../../util/duration.js';
import { plural } from '../../../util/format.js';
import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { requireConfig } from '../../load/settings.js';
import { alignColumns } from '../../text/table.js';

export const command: Command = {
  usage: 'FILE [--json]',
  examples: [
    { command: 'taskflow checkpoint show run.json', does: 'what a checkpoint holds, after checking that it is intact' },
  ],
  flags: [jsonFlag('as JSON: {runId, flow, phases: [{id, status, key, durationMs}]}')],
  positionals: [{ name: 'FILE', help: 'an exported checkpoint, or a saved run --json result', required: true }],
  async run(invocation) {
    const configured = await requireConfig(invocation);
    if ('status' in configured) return configured.status;
    const signing = resolveSigningKey(configured.config, invocation.project);
    if ('problem' in signing) return complain(invocation, signing.problem);
    const file = resolve(invocation.cwd, invocation.positionals[0]!);
    const read = readCheckpoint(invocation.project, file, signing.key);
    if ('failure' in read) return complain(invocation, read.failure.message, read.failure.hint);
    const phases = currentOf(read.lines);
    if (invocation.flags.boolean('json')) {
      const rows = phases.map(({ phase, status, key, durationMs }) => ({
        id: phase,
        status,
        key: key ?? null,
        durationMs,
      }));
      invocation.out.json({ runId: read.runId, flow: read.run?.flow ?? null, phases: rows });
      return EXIT.success;
    }
    invocation.out.write(
      `run ${read.runId}${read.run ? ` of ${read.run.flow}` : ''}: ${plural(phases.length, 'phase')}\n`,
    );
    invocation.out.write(
      alignColumns(
        phases.map(({ phase, status, durationMs, key }) => [
          `  ${phase}`,
          status,
          formatDuration(durationMs),
          key?.slice(0, 12) ?? '',
        ]),
      ),
    );
    return EXIT.success;
  },
};

/** A checkpoint also holds earlier results of a phase, which may fit again: the last one is what the run had. */
function currentOf(lines: readonly JournalLine[]): readonly ResultLine[] {
  const last = new Map<string, ResultLine>();
  for (const line of lines) {
    if (line.type !== 'phase') continue;
    // In the order in which the run had them.
    last.delete(line.phase);
    last.set(line.phase, line);
  }
  return [...last.values()];
}
