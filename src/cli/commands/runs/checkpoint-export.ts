import { resolve } from 'node:path';
import { writeOwnFile } from '../../../memo/files/written-files.js';
import { exportCheckpoint } from '../../../run/continue/checkpoint.js';
import { resolveSigningKey } from '../../../store/signing-key.js';
import { whyUnwritable } from '../../../util/why-unwritable.js';
import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { findRun } from '../../load/run-ref.js';
import { requireConfig } from '../../load/settings.js';

export const command: Command = {
  usage: 'RUN [--out FILE] [--json]',
  description: 'A checkpoint holds everything that a run has done. It also holds outputs: treat it like them.',
  examples: [
    {
      command: 'taskflow checkpoint export last --out run.json',
      does: 'then, anywhere: taskflow run FLOW --resume-from run.json',
    },
  ],
  flags: [
    { name: 'out', alias: 'o', type: 'string', value: 'FILE', help: 'to this file instead of stdout' },
    jsonFlag('with --out, what was written: {runId, file, bytes}; a checkpoint is JSON anyway'),
  ],
  positionals: [{ name: 'RUN', help: 'id of a run, a unique part of it, or last', required: true }],
  async run(invocation) {
    const { project, flags, cwd, out, err } = invocation;
    const found = findRun(project, invocation.positionals[0]!);
    if ('problem' in found) return complain(invocation, found.problem, found.hint);
    const configured = await requireConfig(invocation);
    if ('status' in configured) return configured.status;
    const signing = resolveSigningKey(configured.config, project);
    if ('problem' in signing) return complain(invocation, signing.problem);
    const exported = exportCheckpoint(project, found.runId, signing.key);
    if ('failure' in exported) return complain(invocation, exported.failure.message, exported.failure.hint);
    for (const phase of exported.left) {
      err.write(`the output of ${phase} is too large for a checkpoint: where this run is not, it runs again\n`);
    }
    const text = `${JSON.stringify(exported.checkpoint)}\n`;
    const file = flags.string('out');
    if (file === undefined) {
      out.write(text);
      return EXIT.success;
    }
    const written = writeOwnFile(project, resolve(cwd, file), { data: text });
    if ('failed' in written) return complain(invocation, `${file} cannot be written: ${whyUnwritable(written.failed)}`);
    if (flags.boolean('json')) {
      out.write(`${JSON.stringify({ runId: found.runId, file, bytes: Buffer.byteLength(text) })}\n`);
      return EXIT.success;
    }
    err.write(`wrote ${file}; taskflow run FLOW --resume-from ${file} goes on from it\n`);
    return EXIT.success;
  },
};
