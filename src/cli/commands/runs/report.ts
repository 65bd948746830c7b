import { resolve } from 'node:path';
import { loadConfig } from '../../../config/load.js';
import { writeOwnFile } from '../../../memo/files/written-files.js';
import { reportHtml } from '../../../ui/report/html.js';
import { reportData } from '../../../ui/report/make-report.js';
import { formatBytes } from '../../../util/format.js';
import { whyUnwritableAt } from '../../../util/why-unwritable.js';
import type { Command, Invocation } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { readPageFiles } from '../../load/page-files.js';
import { findRun } from '../../load/run-ref.js';
import { settingsMask } from '../../load/settings-mask.js';
import { storeOptions } from '../../load/store.js';

const DEFAULT_FILE = 'report.html';

export const command: Command = {
  usage: '[RUN] [--out FILE] [--compare RUN] [--no-outputs] [--json]',
  description:
    'One file that opens in a browser, without a network: why each phase ran or was reused, what that cost or\n' +
    'saved, the graph, a timeline, every item, and the same beside the run before.',
  examples: [
    { command: 'taskflow report', does: `the last run, in ${DEFAULT_FILE}` },
    {
      command: 'taskflow report last --out runs/today.html --no-outputs',
      does: 'without what phases were asked and said',
    },
    { command: 'taskflow report 4kx2ab --compare 9f31cd', does: 'beside another run than the one before it' },
  ],
  flags: [
    { name: 'out', alias: 'o', type: 'string', value: 'FILE', help: `the file (default: ${DEFAULT_FILE})` },
    {
      name: 'compare',
      type: 'string',
      value: 'RUN',
      help: 'compare with this run (default: the one before of the same flow)',
    },
    { name: 'no-outputs', type: 'boolean', help: 'leave contents out: prompts, outputs, arguments, error streams' },
    jsonFlag('what was written: {runId, file, bytes}'),
  ],
  positionals: [{ name: 'RUN', help: 'id of a run, a unique part of it, or last (the default)', required: false }],
  run: writeReport,
};

async function writeReport(invocation: Invocation): Promise<number> {
  const { project, flags, cwd, out, err } = invocation;
  const found = findRun(project, invocation.positionals[0] ?? 'last');
  if ('problem' in found) return complain(invocation, found.problem, found.hint);
  const compare = flags.string('compare');
  const other = compare === undefined ? undefined : findRun(project, compare);
  if (other && 'problem' in other) return complain(invocation, `--compare: ${other.problem}`, other.hint);
  const data = reportData(project, found.runId, {
    mask: await settingsMask(project),
    outputs: !flags.boolean('no-outputs'),
    kept: storeOptions(project, (await loadConfig(project)).config),
    madeAt: project.clock.now(),
    ...(other && { compare: other.runId }),
  });
  if (!data) return complain(invocation, `the journal of ${found.runId} cannot be read`);
  const file = flags.string('out') ?? DEFAULT_FILE;
  const path = resolve(cwd, file);
  const html = reportHtml(data, readPageFiles());
  const written = writeOwnFile(project, path, { data: html, mode: 0o644 });
  if ('failed' in written) {
    err.write(`taskflow: ${file} cannot be written: ${whyUnwritableAt(path, written.failed)}\n`);
    return EXIT.failed;
  }
  const bytes = Buffer.byteLength(html);
  if (data.view.state === 'running') err.write(`run ${found.runId} is still going: this is what there was\n`);
  err.write(`wrote ${file} (${formatBytes(bytes)}): run ${found.runId}\n`);
  if (flags.boolean('json')) out.write(`${JSON.stringify({ runId: found.runId, file: path, bytes })}\n`);
  return EXIT.success;
}
