import type { PathSet } from '../../../model/observation.js';
import { shownOutput } from '../../../run/core/output-folder.js';
import { isLink } from '../../../store/output-path.js';
import { showEntry } from '../../../store/show-entry.js';
import type { Creator, Entry } from '../../../store/store.js';
import { formatAgo, formatDuration } from '../../../util/duration.js';
import { oneLine, sanitize } from '../../../util/terminal-text.js';
import type { Command, Invocation } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { requireStore } from '../../load/store.js';
import { createStyle } from '../../terminal/style.js';
import { usageFacts } from '../../view/notes.js';

export const command: Command = {
  usage: 'KEY [--json]',
  examples: [
    {
      command: 'taskflow cache show 4f2a',
      does: 'one kept result: who made it from what, what it cost, says and restores',
    },
  ],
  flags: [jsonFlag('the entry as JSON')],
  positionals: [{ name: 'KEY', help: 'a key, or the beginning of one', required: true }],
  async run(invocation) {
    const opened = await requireStore(invocation);
    if ('status' in opened) return opened.status;
    const typed = invocation.positionals[0]!;
    const shown = showEntry(opened.store, typed.toLowerCase());
    if ('none' in shown)
      return complain(invocation, `no entry has a key like ${typed}`, 'taskflow cache list shows them');
    if ('ambiguous' in shown) {
      const some = shown.ambiguous.slice(0, 4).map((key) => key.slice(0, 16));
      return complain(
        invocation,
        `${shown.ambiguous.length} entries begin with ${typed}`,
        `such as ${some.join(', ')}`,
      );
    }
    if ('problem' in shown)
      return complain(invocation, `the entry cannot be used: ${shown.problem}`, 'taskflow cache verify');
    if (invocation.flags.boolean('json')) invocation.out.json(shown.entry);
    else show(invocation, shown.entry);
    return EXIT.success;
  },
};

function show({ out, project }: Invocation, entry: Entry): void {
  const style = createStyle(out.color);
  const age = formatAgo(project.clock.now() - entry.createdAt);
  const cost = [formatDuration(entry.durationMs), ...usageFacts(entry.usage)].join(', ');
  const field = (name: string, value: string) => out.write(`${style.dim(name.padEnd(9))} ${value}\n`);
  field('key', entry.key);
  field('phase', oneLine(`${entry.flow}/${entry.phase}`));
  field('made', entry.runId === '' ? age : `${age} by run ${oneLine(entry.runId)}`);
  field('by', oneLine(madeBy(entry.creator)));
  if (entry.pathSets) {
    for (const path of new Set(entry.pathSets.flatMap(pathsOf))) field('looks at', oneLine(path));
    out.write('no result: results are found by what is at these paths; taskflow cache list shows them\n');
    return;
  }
  if (entry.model !== undefined) field('model', oneLine(entry.model));
  field('cost', cost);
  for (const file of entry.files) {
    const kind = isLink(file) ? 'link' : (file.mode & 0o777).toString(8);
    field('restores', `${oneLine(file.path)} ${style.dim(`${kind} ${file.digest.slice(0, 12)}`)}`);
  }
  field('made from', '');
  out.write(`${indent(sanitize(JSON.stringify(entry.identity, null, 2)))}\n`);
  field('output', '');
  out.write(`${indent(sanitize(shownOutput(entry.output, project.root).text))}\n`);
}

function pathsOf({ reads, lists, absent, present }: PathSet): readonly string[] {
  return [...reads, ...lists.map(({ path }) => `${path}/`), ...absent, ...present];
}

function madeBy({ user, host, ci, taskflow, client }: Creator): string {
  const who = user === undefined ? host : host === undefined ? user : `${user}@${host}`;
  const versions = `taskflow ${taskflow}${client === undefined ? '' : `, client ${client}`}`;
  return [ci, who, versions].filter((part) => part !== undefined).join(', ');
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '  ');
}
