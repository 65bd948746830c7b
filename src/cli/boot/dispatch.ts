import { resolve } from 'node:path';
import type { McpHost } from '../../mcp/host.js';
import { statIfThere } from '../../util/stat.js';
import { EXIT } from '../errors/exit-status.js';
import type { Channel, InputProblem } from '../errors/refusal.js';
import type { FlagSpec } from '../flags/flag-spec.js';
import { type ArgumentProblem, parseArguments } from '../flags/flags.js';
import { GLOBAL_FLAGS } from '../flags/global-flags.js';
import { projectAt, withoutProject } from '../load/project.js';
import { createWriter, stdinSource } from '../terminal/writer.js';
import type { CallCommand, Command, Invocation, Writer } from './command.js';
import { endProcess, withLostOutput } from './end-process.js';
import { COMMANDS, type CommandEntry, findCommand, subCommands } from './registry.js';

/** Runs one command line and sets the process's exit status. */
export async function main(args: readonly string[]): Promise<void> {
  process.on('uncaughtException', (error) => void endWithBug(error, args));
  try {
    endProcess(withLostOutput(await dispatch(args)));
  } catch (error) {
    await endWithBug(error, args);
  }
}

export async function endWithBug(error: unknown, args: readonly string[]): Promise<void> {
  await reportBug(error, args).then(endProcess, () => endProcess(EXIT.internal));
}

/** For the bundle of `taskflow mcp`, which has no commands itself. */
export async function mcpHost(invocation: Invocation): Promise<McpHost> {
  const { mcpHost: hostOf } = await import('../commands/mcp/host.js');
  return hostOf(invocation, callerOf(invocation));
}

function callerOf({ project, cwd }: Pick<Invocation, 'project' | 'cwd'>): CallCommand {
  return async (others) => (await import('./call.js')).callCommand(others, { project, cwd });
}

/** Before any command: `--version --json`. */
const LEADING_FLAGS: readonly FlagSpec[] = [
  { name: 'version', alias: 'V', type: 'boolean', help: '' },
  { name: 'json', type: 'boolean', help: '' },
];

async function dispatch(args: readonly string[]): Promise<number> {
  const { before, words, after } = splitCommandLine(args);
  const leading = parseArguments(before, [...GLOBAL_FLAGS, ...LEADING_FLAGS]);
  const plain = terminal('auto');
  if ('problem' in leading) return usageProblem(args, 'taskflow', leading.problem);
  if (leading.flags.boolean('version')) {
    const { VERSION } = await import('../../util/version.js');
    const { version: node, platform, arch } = process;
    const json = { name: 'taskflow', version: VERSION, node, platform, arch };
    plain.out.write(leading.flags.boolean('json') ? `${JSON.stringify(json)}\n` : `${VERSION}\n`);
    return EXIT.success;
  }
  // Shell completion.
  if (words[0] === '__complete') {
    const { completions } = await import('./complete.js');
    plain.out.write(await completions(args.slice(args.indexOf('__complete') + 1), process.cwd()));
    return EXIT.success;
  }
  // `taskflow help run` is `taskflow run --help`.
  if (words[0] === 'help') {
    const topic = args.slice(args.indexOf('help') + 1).filter((word) => !word.startsWith('-'));
    return topic.length === 0 ? helpWithoutCommand(true, plain) : dispatch([...topic, '--help']);
  }
  if (words.length === 0) return helpWithoutCommand(leading.flags.boolean('help'), plain);

  const entry = findCommand(words.slice(0, 2).join(' ')) ?? findCommand(words[0]!);
  if (!entry) return noSuchCommand(words, args, leading.flags.boolean('help') || asksHelp(after));
  const { command } = await entry.load();
  const own = entry.name.includes(' ') ? words.slice(2) : words.slice(1);
  return invoke(entry, command, [...before, ...own, ...after]);
}

async function invoke(entry: CommandEntry, command: Command, args: readonly string[]): Promise<number> {
  const parsed = parseArguments(args, [...command.flags, ...GLOBAL_FLAGS]);
  const refuse = (problem: UsageProblem) => usageProblem(args, `taskflow ${entry.name}`, problem);
  if ('problem' in parsed) {
    // `--help` wins over any mistake in the line.
    if (asksHelp(args)) return showCommandHelp(entry, command, terminal('auto').out);
    return refuse(parsed.problem);
  }
  const { flags, positionals } = parsed;
  const { out, err } = terminal(colorChoice(flags.boolean('no-color'), flags.has('color'), flags.string('color')));
  const helps = flags.boolean('help') && positionals.length > 0 ? command.help : undefined;
  if (flags.boolean('help') && !helps) return showCommandHelp(entry, command, out);

  const problem = await positionalProblem(entry, command, positionals);
  if (problem) return refuse({ ...problem, usage: command.usage });
  const cwd = folderOf(flags.string('cwd'));
  if (cwd === undefined) return refuse({ message: 'the current folder no longer exists' });
  if (!isFolder(cwd)) return refuse({ message: `--cwd ${flags.string('cwd')}: no such folder` });
  const root = flags.string('root') && resolve(cwd, flags.string('root')!);
  if (root !== undefined && !isFolder(root)) {
    return refuse({ message: `--root ${flags.string('root')}: no such folder` });
  }
  const found = await projectAt(cwd, root);
  const project = 'refused' in found && command.withoutProject?.(flags) ? withoutProject() : found;
  if ('refused' in project) return refuseProject(args, entry, project.refused);
  const stdin = stdinSource();
  const invocation: Invocation = { command: entry.name, flags, positionals, project, cwd, out, err, stdin };
  return helps ? helps(invocation) : command.run(invocation, callerOf(invocation));
}

/** Global flags may come before the command: its words start at the first argument that is no flag or flag's value. */
function splitCommandLine(args: readonly string[]) {
  let index = 0;
  while (index < args.length && args[index]!.startsWith('-') && args[index] !== '-') {
    const takesNext =
      ['--cwd', '--root'].includes(args[index]!) ||
      (args[index] === '--color' && /^(auto|always|never)$/.test(args[index + 1] ?? ''));
    index += takesNext ? 2 : 1;
  }
  let end = index;
  while (end < args.length && end < index + 2 && !args[end]!.startsWith('-')) end++;
  return { before: args.slice(0, index), words: args.slice(index, end), after: args.slice(end) };
}

function terminal(color: string): { out: Writer; err: Writer } {
  return {
    out: createWriter({ fd: 1, color, env: process.env }),
    err: createWriter({ fd: 2, color, env: process.env }),
  };
}

function colorChoice(none: boolean, given: boolean, choice: string | undefined): string {
  if (none) return 'never';
  return given ? (choice ?? 'always') : 'auto';
}

async function positionalProblem(
  entry: CommandEntry,
  command: Command,
  given: readonly string[],
): Promise<ArgumentProblem | undefined> {
  const specs = command.positionals;
  const missing = specs.find((spec, index) => spec.required && given.length <= index);
  if (missing) return { message: `${missing.name} is missing` };
  const odd = specs.findIndex(({ choices }, index) => choices && !choices.includes(given[index] ?? choices[0]!));
  if (odd !== -1) {
    const { choices = [], name } = specs[odd]!;
    const word = given[odd]!;
    return {
      message: `${name} is ${choices.join(', ')}, not ${JSON.stringify(word)}`,
      unknown: { name: word, known: choices },
    };
  }
  const extra = given[specs.length];
  if (specs.at(-1)?.many || extra === undefined) return undefined;
  const siblings = subCommands(entry.name).map((other) => other.name.slice(entry.name.length + 1));
  if (siblings.length > 0)
    return { message: `unknown command ${entry.name} ${extra}`, unknown: { name: extra, known: siblings } };
  return { message: `unexpected argument ${JSON.stringify(extra)}` };
}

async function showCommandHelp(entry: CommandEntry, command: Command, out: Writer): Promise<number> {
  const [{ commandHelp }, { createStyle }] = await Promise.all([import('./help.js'), import('../terminal/style.js')]);
  out.write(commandHelp(entry, command, createStyle(out.color)));
  return EXIT.success;
}

async function helpWithoutCommand(asked: boolean, { out, err }: { out: Writer; err: Writer }): Promise<number> {
  const [{ generalHelp }, { createStyle }] = await Promise.all([import('./help.js'), import('../terminal/style.js')]);
  const target = asked ? out : err;
  target.write(generalHelp(createStyle(target.color)));
  return asked ? EXIT.success : EXIT.usage;
}

async function noSuchCommand(words: readonly string[], args: readonly string[], help: boolean): Promise<number> {
  const word = words[0]!;
  const group = subCommands(word);
  if (group.length > 0 && words.length === 1) {
    const [{ groupHelp }, { createStyle }] = await Promise.all([import('./help.js'), import('../terminal/style.js')]);
    const { out, err } = terminal('auto');
    const target = help ? out : err;
    target.write(groupHelp(word, group, createStyle(target.color)));
    return help ? EXIT.success : refuseUnparsed(args, { message: `${word} needs a command` });
  }
  const inGroup = group.length > 0;
  const name = inGroup ? words.join(' ') : word;
  const known = inGroup
    ? group.map((entry) => entry.name)
    : [...new Set(COMMANDS.map((entry) => entry.name.split(' ')[0]!))];
  const { knownAs } = await import('./other-names.js');
  const other = inGroup ? undefined : knownAs(word);
  const unknown = other === undefined ? { unknown: { name, known } } : { hint: `here that is ${other}` };
  return usageProblem(args, 'taskflow', { message: `unknown command ${name}`, ...unknown });
}

type UsageProblem = ArgumentProblem & { readonly usage?: string };

async function usageProblem(args: readonly string[], who: string, problem: UsageProblem): Promise<number> {
  const { err } = terminal('auto');
  err.write(`${who}: ${problem.message}\n`);
  let hint = problem.hint ?? `see ${who} --help`;
  if (problem.hint !== undefined) err.write(`  ${problem.hint}\n`);
  if (problem.unknown) {
    const { nearestName } = await import('../../util/nearest.js');
    const nearest = await nearestName(problem.unknown.name, problem.unknown.known);
    if (nearest) err.write(`  did you mean ${nearest}?\n`);
    if (nearest) hint = `did you mean ${nearest}?`;
  }
  if (problem.usage !== undefined) err.write(`  usage: ${who} ${problem.usage}\n`);
  err.write(`  see ${who} --help\n`);
  return refuseUnparsed(args, { message: problem.message, hint });
}

/** A folder of another user must not decide what taskflow does. */
async function refuseProject(args: readonly string[], { name }: CommandEntry, refused: InputProblem): Promise<number> {
  terminal('auto').err.write(`taskflow ${name}: ${refused.message}\n  ${refused.hint}\n`);
  return refuseUnparsed(args, refused);
}

/** The command line could not be parsed: only its words show whether a program reads the result. */
async function refuseUnparsed(args: readonly string[], problem: InputProblem): Promise<number> {
  const channel = channelOf(args);
  if (channel) {
    const { refusalLine } = await import('../errors/refusal.js');
    terminal('auto').out.write(refusalLine(channel, [problem], Date.now()));
  }
  return EXIT.usage;
}

function channelOf(args: readonly string[]): Channel | undefined {
  const words = flagWords(args);
  return words.includes('--json') ? 'json' : words.includes('--events') ? 'events' : undefined;
}

/** The words before `--`. */
function flagWords(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--');
  return end < 0 ? args : args.slice(0, end);
}

function asksHelp(args: readonly string[]): boolean {
  return flagWords(args).some((word) => word === '--help' || word === '-h');
}

/** Reports a bug: expected failures are values. */
async function reportBug(error: unknown, args: readonly string[]): Promise<number> {
  const { VERSION } = await import('../../util/version.js');
  const { out, err } = terminal('auto');
  const message = (error instanceof Error ? error.message : String(error)).split('\n')[0]!;
  err.write(`taskflow: internal error: ${message}\n`);
  if (process.env['TASKFLOW_DEBUG']) err.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  else err.write('  this is a bug in taskflow; TASKFLOW_DEBUG=1 shows where it happened.\n');
  const facts = [`taskflow ${VERSION}`, `node ${process.version}`, process.platform, `command ${args[0] ?? ''}`];
  err.write(`  please report it with: ${facts.join(', ')}\n`);
  const channel = channelOf(args);
  if (channel) out.write((await import('../errors/refusal.js')).bugLine(channel, message, Date.now()));
  return EXIT.internal;
}

/** Undefined when there is no current folder: it was removed since the shell went there. */
function folderOf(typed: string | undefined): string | undefined {
  try {
    return resolve(typed ?? process.cwd());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function isFolder(path: string): boolean {
  return statIfThere(path)?.isDirectory() === true;
}
