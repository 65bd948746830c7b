import { suggestFingerprints } from '../../../memo/observed/suggest.js';
import { seenInLastRun } from '../../../run/history/seen-in-run.js';
import { oneLine } from '../../../util/terminal-text.js';
import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { requireFlow } from '../../load/flow-file.js';
import { createStyle } from '../../terminal/style.js';

export const command: Command = {
  usage: 'FLOW PHASE [--suggest] [--json]',
  description: `Lists what a phase looked at in the last run of the flow, or when the result that was reused was
made, and does not declare. What it declares is in its key and is not listed. Executes nothing.`,
  examples: [
    { command: 'taskflow cache inputs release review', does: 'what it read, listed and looked for' },
    { command: 'taskflow cache inputs release review --suggest', does: 'the fingerprint lines that would declare it' },
  ],
  flags: [
    { name: 'suggest', type: 'boolean', help: 'print `fingerprint:` lines to paste into the flow' },
    jsonFlag('as JSON: {phase, complete, reads, lists, absent, declared, suggested}'),
  ],
  positionals: [
    { name: 'FLOW', help: 'a path, or the name of a saved flow', required: true },
    { name: 'PHASE', help: 'a phase of it', required: true },
  ],
  async run(invocation) {
    const { flags, out, project } = invocation;
    const [typed, id] = invocation.positionals as [string, string];
    const loaded = await requireFlow(invocation, typed);
    if ('status' in loaded) return loaded.status;
    const { flow } = loaded;
    const phase = flow.phases.find((candidate) => candidate.id === id);
    if (!phase) return complain(invocation, `the flow has no phase ${id}`);
    const seen = seenInLastRun(project, flow.file ?? typed).get(id);
    const suggested = seen ? suggestFingerprints(seen) : [];
    const declared = phase.cache.fingerprint;
    if (flags.boolean('json')) {
      const { complete = null, reads = [], lists = [], absent = [] } = seen ?? {};
      out.json({ phase: id, complete, reads, lists, absent, declared, suggested });
      return EXIT.success;
    }
    if (!seen) return complain(invocation, `what ${id} looks at was not observed`, 'run it first, where strace works');
    const style = createStyle(out.color);
    if (flags.boolean('suggest')) {
      out.write('fingerprint:\n');
      for (const entry of [...new Set([...declared, ...suggested])]) out.write(`  - ${JSON.stringify(entry)}\n`);
      return EXIT.success;
    }
    for (const path of seen.reads) out.write(`${style.yellow('not declared')}  read     ${oneLine(path)}\n`);
    for (const { path } of seen.lists) out.write(`${style.yellow('not declared')}  listed   ${oneLine(path)}/\n`);
    for (const path of seen.absent) out.write(`${style.yellow('not declared')}  missing  ${oneLine(path)}\n`);
    for (const entry of declared) out.write(`${style.green('declared')}      ${oneLine(entry)}\n`);
    if (!seen.complete) out.write(style.dim('not everything was seen\n'));
    return EXIT.success;
  },
};
