import type { Flow } from '../../model/flow.js';
import { plural } from '../../util/format.js';
import { relativePath } from '../../util/inside.js';
import { shellWord } from '../../util/shell-word.js';
import { oneLine, sanitize } from '../../util/terminal-text.js';
import type { Invocation } from '../boot/command.js';
import { EXIT } from '../errors/exit-status.js';
import { createStyle } from '../terminal/style.js';
import { argumentForm, argumentHelp, argumentJson, exampleValue } from '../text/argument-text.js';
import { alignColumns } from '../text/table.js';
import { requireFlow } from './flow-file.js';

/** `taskflow run FLOW --help`: what this flow does, its arguments, and a line to type. */
export async function showFlowHelp(invocation: Invocation): Promise<number> {
  const { out, flags, project, command } = invocation;
  const typed = invocation.positionals[0]!;
  const loaded = await requireFlow(invocation, typed);
  if ('status' in loaded) return loaded.status;
  const { flow, file } = loaded;
  if (flags.boolean('json')) {
    const { name, description, args, phases } = flow;
    const specs = Object.fromEntries(Object.entries(args).map(([arg, spec]) => [arg, argumentJson(spec)]));
    const ids = phases.map(({ id }) => id);
    const path = relativePath(project.root, file);
    out.json({ flow: typed, name, file: path, description, args: specs, phases: ids });
    return EXIT.success;
  }
  const style = createStyle(out.color);
  const ids = flow.phases.map(({ id }) => id).join(', ');
  const names = Object.entries(flow.args);
  const table = alignColumns(names.map(([name, spec]) => [`  ${argumentForm(name, spec)}`, argumentHelp(spec)]));
  const parts = [
    `${style.bold(oneLine(flow.name))}${flow.description ? `: ${sanitize(flow.description).trim()}` : ''}`,
    style.dim(`${relativePath(project.root, file)}, ${plural(flow.phases.length, 'phase')}: ${ids}`),
    `\n${style.bold('Arguments')}\n${names.length === 0 ? '  none\n' : table}`,
    `${style.bold('Example')}\n  ${exampleLine(command, typed, flow)}\n`,
    style.dim(`taskflow ${command} --help has all flags`),
  ];
  out.write(`${parts.join('\n')}\n`);
  return EXIT.success;
}

/** An example with the required arguments and one optional one. */
function exampleLine(command: string, typed: string, { args }: Flow): string {
  if (command === 'batch') return `taskflow batch ${shellWord(typed)} --over FILE`;
  const required = Object.entries(args).filter(([, spec]) => spec.required);
  const optional = Object.entries(args).filter(([, spec]) => !spec.required && !spec.secret);
  const shown = required.length > 0 ? required : optional.slice(0, 1);
  const pairs = shown.map(([name, spec]) => shellWord(`${name}=${exampleValue(spec)}`));
  return ['taskflow', command, shellWord(typed), ...pairs].join(' ');
}
