import { mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeFileTidily } from '../../../util/atomic-write.js';
import { displayPath, realPath } from '../../../util/inside.js';
import { statIfThere } from '../../../util/stat.js';
import { whyUnreadable } from '../../../util/why-unreadable.js';
import { whyUnwritableAt } from '../../../util/why-unwritable.js';
import type { Command, Invocation } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { askPerson } from '../../run/ask-person.js';
import { createStyle } from '../../terminal/style.js';
import { type ClientFile, MCP_CLIENTS, type McpClientName, settingsOf, skillPath } from './clients.js';
import { SKILL } from './skill.js';

export const command: Command = {
  usage: 'CLIENT [--yes] [--json]',
  description: `Shows what a client has to have in its settings to use taskflow mcp, and a skill that teaches it when
and how; writes both with --yes or after a yes. An entry that is there is never changed.`,
  examples: [
    { command: 'taskflow mcp install claude', does: 'shows the entry in .mcp.json, and asks' },
    { command: 'taskflow mcp install codex --yes', does: 'adds it to the settings of Codex' },
  ],
  flags: [
    { name: 'yes', alias: 'y', type: 'boolean', help: 'write it without asking' },
    jsonFlag('as JSON: [{path, action, text}]'),
  ],
  positionals: [{ name: 'CLIENT', help: MCP_CLIENTS.join(', '), required: true, choices: MCP_CLIENTS }],
  async run(invocation) {
    const client = invocation.positionals[0] as McpClientName;
    if (client === 'pi') return forPi(invocation);
    const steps = await planSteps(invocation, client);
    const wrong = steps.find((step) => step.action === 'by hand');
    const wanted = steps.filter(({ action }) => action === 'create' || action === 'extend');
    if (!invocation.flags.boolean('json')) show(invocation, steps);
    const writes = wanted.length > 0 && !wrong && (invocation.flags.boolean('yes') || (await isWanted(invocation)));
    for (const { path, text } of writes ? wanted : []) {
      const failed = write(path, text);
      if (failed !== undefined) return complain(invocation, `${path} cannot be written: ${failed}`);
    }
    report(invocation, steps, writes);
    if (wrong) return complain(invocation, `${wrong.path}: ${wrong.why}`, 'add the entry by hand');
    return EXIT.success;
  },
};

interface Step {
  readonly path: string;
  readonly action: 'create' | 'extend' | 'left alone' | 'by hand';
  /** The new text of the whole file. */
  readonly text: string;
  readonly why?: string;
}

async function planSteps({ project }: Invocation, client: Exclude<McpClientName, 'pi'>): Promise<readonly Step[]> {
  const skill: ClientFile = {
    path: skillPath(client, project),
    add: async (before) => (before === '' ? { text: SKILL } : undefined),
  };
  return Promise.all([settingsOf(client, project), skill].map(planStep));
}

async function planStep({ path, add }: ClientFile): Promise<Step> {
  let before: string | undefined;
  try {
    before = statIfThere(path) && readFileSync(path, 'utf8');
  } catch (error) {
    return { path, action: 'by hand', text: (await fresh(add)) ?? '', why: whyUnreadable(error) };
  }
  const added = await add(before ?? '');
  if (added === undefined) return { path, action: 'left alone', text: before ?? '' };
  if ('problem' in added) return { path, action: 'by hand', text: (await fresh(add)) ?? '', why: added.problem };
  return { path, action: before === undefined ? 'create' : 'extend', text: added.text };
}

/** The text for an empty file, for a person who adds it by hand. */
async function fresh(add: ClientFile['add']): Promise<string | undefined> {
  const added = await add('');
  return added && 'text' in added ? added.text : undefined;
}

function show({ out, project }: Invocation, steps: readonly Step[]): void {
  const style = createStyle(out.color);
  const words = { create: 'new', extend: 'changed', 'left alone': 'left alone: it is there', 'by hand': 'by hand' };
  for (const { path, action, text } of steps) {
    out.write(`${style.bold(displayPath(project.root, path))} ${style.dim(`(${words[action]})`)}\n`);
    if (action !== 'left alone') out.write(`${text.replaceAll(/^(?=.)/gm, '  ')}\n`);
  }
}

async function isWanted({ err, stdin, flags }: Invocation): Promise<boolean> {
  if (!err.isLive || !stdin.isTerminal || flags.boolean('json')) return false;
  const read = (line: string) =>
    /^y(es)?$/i.test(line.trim()) ? true : /^n(o)?$/i.test(line.trim()) ? false : undefined;
  const question = { text: '', prompt: 'write this? (y, n): ', read, signal: new AbortController().signal };
  return (await askPerson(question, err, () => () => {})) ?? false;
}

/** Returns why it was not written. A link stays a link: its target is changed. */
function write(path: string, text: string): string | undefined {
  const target = realPath(path);
  try {
    mkdirSync(dirname(target), { recursive: true });
  } catch (error) {
    return whyUnwritableAt(target, error);
  }
  const written = writeFileTidily(target, text, (statIfThere(target)?.mode ?? 0o644) & 0o777);
  return 'failed' in written ? whyUnwritableAt(target, written.failed) : undefined;
}

function report({ out, err, flags, project }: Invocation, steps: readonly Step[], written: boolean): void {
  if (flags.boolean('json')) {
    const done = { create: 'created', extend: 'extended' } as const;
    const named = steps.map(({ path, action, text }) => {
      const shown = written && action in done ? done[action as keyof typeof done] : action;
      return { path: displayPath(project.root, path), action: shown, text };
    });
    out.json(named);
    return;
  }
  if (written) err.write('written; start the client again\n');
  else if (steps.some(({ action }) => action === 'create' || action === 'extend')) {
    err.write('nothing was written: --yes writes it\n');
  }
}

/** pi has no MCP. */
function forPi({ out, err, flags }: Invocation): number {
  const text = 'pi install npm:taskflow-cli';
  if (flags.boolean('json')) out.write(`${JSON.stringify([{ path: null, action: 'by hand', text }])}\n`);
  else {
    err.write('pi knows no MCP; the package is an extension of it:\n');
    out.write(`${text}\n`);
  }
  return EXIT.success;
}
