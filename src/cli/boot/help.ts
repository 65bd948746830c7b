import { type FlagSpec, ONLY_INLINE } from '../flags/flag-spec.js';
import { GLOBAL_FLAGS } from '../flags/global-flags.js';
import type { Style } from '../terminal/style.js';
import type { Command } from './command.js';
import { COMMANDS, type CommandEntry } from './registry.js';

export function generalHelp(style: Style): string {
  return `${style.bold('taskflow')}: flows of agents and scripts that never pay twice for the same work

${style.bold('Usage')}
  taskflow COMMAND [arguments] [flags]

${style.bold('Commands')}
${table(COMMANDS.map((entry) => [entry.name, entry.summary]))}

${style.bold('Flags of every command')}
${flagTable(GLOBAL_FLAGS)}

${style.bold('Output')}
  Results go to stdout, progress and problems to stderr. With --json there is always one JSON value on stdout:
  wrong usage and bad input (status 2) are {"status": "refused", "error": {"message", "hint"}, "problems": […]}.

${style.bold('Examples')}
  taskflow init                     start using taskflow in this project
  taskflow run overview             run the saved flow "overview"
  taskflow run ./flow.yaml --json   run a file; one JSON result on stdout
  taskflow run --help               everything about one command
`;
}

/** Help of a first word with sub-commands: `taskflow cache`. */
export function groupHelp(word: string, entries: readonly CommandEntry[], style: Style): string {
  return `${style.bold('Usage')}
  taskflow ${word} COMMAND

${style.bold('Commands')}
${table(entries.map((entry) => [entry.name, entry.summary]))}

${style.bold('Example')}
  taskflow ${entries[0]?.name} --help
`;
}

export function commandHelp(entry: CommandEntry, command: Command, style: Style): string {
  const parts = [`${entry.summary}\n`, `${style.bold('Usage')}\n  taskflow ${entry.name} ${command.usage}`.trimEnd()];
  if (command.description) parts.push(command.description.trim());
  if (command.positionals.length > 0) {
    const rows = command.positionals.map((positional) => [positional.name, positional.help] as const);
    parts.push(`${style.bold('Arguments')}\n${table(rows)}`);
  }
  if (command.flags.length > 0) parts.push(`${style.bold('Flags')}\n${flagTable(command.flags)}`);
  parts.push(`${style.bold('Flags of every command')}\n${flagTable(GLOBAL_FLAGS)}`);
  const examples = command.examples.map((example) => `  ${style.dim(`# ${example.does}`)}\n  ${example.command}`);
  parts.push(`${style.bold('Examples')}\n${examples.join('\n')}`);
  const related = COMMANDS.filter((other) => other.name.startsWith(`${entry.name} `));
  if (related.length > 0) {
    parts.push(`${style.bold('Commands under it')}\n${table(related.map((other) => [other.name, other.summary]))}`);
  }
  return `${parts.join('\n\n').replace('\n\n\n', '\n\n')}\n`;
}

function flagTable(flags: readonly FlagSpec[]): string {
  return table(flags.filter((flag) => !flag.hidden).map((flag) => [flagForm(flag), flag.help]));
}

function flagForm(flag: FlagSpec): string {
  const short = flag.alias ? `-${flag.alias}, ` : '';
  if (flag.type === 'boolean') return `${short}--${flag.name}`;
  const value = flag.value ?? 'VALUE';
  if (flag.optionalValue === ONLY_INLINE) return `${short}--${flag.name}[=${value}]`;
  return `${short}--${flag.name} ${flag.optionalValue ? `[${value}]` : value}${flag.type === 'list' ? ' …' : ''}`;
}

function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.min(34, Math.max(0, ...rows.map(([left]) => left.length)));
  return rows
    .map(([left, right]) =>
      left.length > width ? `  ${left}\n  ${' '.repeat(width)}  ${right}` : `  ${left.padEnd(width)}  ${right}`,
    )
    .join('\n');
}
