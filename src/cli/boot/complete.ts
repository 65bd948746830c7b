import { oneLine } from '../../util/terminal-text.js';
import { type FlagSpec, ONLY_INLINE } from '../flags/flag-spec.js';
import { GLOBAL_FLAGS } from '../flags/global-flags.js';
import { projectAt } from '../load/project.js';
import type { Command } from './command.js';
import { type Candidate, type Typed, valuesOf } from './complete-values.js';
import { COMMANDS, type CommandEntry, findCommand, subCommands } from './registry.js';

/**
 * The completions of the last word, a line each: `candidate<TAB>what it is`. `:files` and `:dirs` ask the shell for
 * paths. It reports no errors, since the line is unfinished.
 */
export async function completions(words: readonly string[], cwd: string): Promise<string> {
  const current = words.at(-1) ?? '';
  const found = await candidates(words.slice(0, -1), current, cwd);
  const fitting = found.filter(({ word }) => word.startsWith(':') || word.startsWith(current));
  return fitting.map(({ word, help }) => `${word}\t${oneLine(help)}\n`).join('');
}

async function candidates(before: readonly string[], current: string, cwd: string): Promise<readonly Candidate[]> {
  const names = before.filter((word) => !word.startsWith('-'));
  const entry = findCommand(names.slice(0, 2).join(' ')) ?? findCommand(names[0] ?? '');
  const isGroup = names.length === 1 && subCommands(names[0]!).length > 0;
  const below = isGroup ? subCommands(names[0]!).map((sub) => named(sub, names[0]!.length + 1)) : [];
  if (!entry) return names.length === 0 ? firstWords(current) : below;
  const { command } = await entry.load();
  const own = before.slice(before.indexOf(names[0]!) + entry.name.split(' ').length);
  const typed = readTyped(own, command);
  const project = await projectAt(cwd);
  const subject = { ...typed, current, entry: entry.name, project: 'refused' in project ? undefined : project, cwd };
  if (typed.flag) return valuesOf(typed.flag.choices ?? typed.flag.value ?? '', subject, typed.flag);
  if (current.startsWith('-')) return flagCandidates(command);
  const spec = command.positionals[typed.positionals.length] ?? command.positionals.findLast(({ many }) => many);
  const values = spec ? await valuesOf(spec.choices ?? spec.name, subject) : [];
  return typed.positionals.length === 0 ? [...below, ...values] : values;
}

function named({ name, summary }: CommandEntry, from: number): Candidate {
  return { word: name.slice(from), help: summary };
}

/** Groups of commands once, by their first word. */
function firstWords(current: string): readonly Candidate[] {
  if (current.startsWith('-')) return GLOBAL_FLAGS.map(flagCandidate);
  const words = new Map<string, string>();
  for (const { name, summary } of COMMANDS) {
    const [first, second] = name.split(' ') as [string, string?];
    if (!words.has(first)) words.set(first, second === undefined ? summary : `${first} commands`);
  }
  return [...words].map(([word, help]) => ({ word, help }));
}

function flagCandidates({ flags }: Command): readonly Candidate[] {
  return [...flags, ...GLOBAL_FLAGS].filter(({ hidden }) => !hidden).map(flagCandidate);
}

function flagCandidate({ name, help }: FlagSpec): Candidate {
  return { word: `--${name}`, help };
}

/** The words before the last one: which are positional, and whether a flag waits for its value. */
function readTyped(words: readonly string[], command: Command): Pick<Typed, 'positionals'> & { flag?: FlagSpec } {
  const specs = [...command.flags, ...GLOBAL_FLAGS];
  const positionals: string[] = [];
  let flag: FlagSpec | undefined;
  for (const word of words) {
    if (flag) flag = undefined;
    else if (!word.startsWith('-')) positionals.push(word);
    else if (!word.includes('=')) {
      const spec = specs.find(
        ({ name, alias }) => word === `--${name}` || (alias !== undefined && word === `-${alias}`),
      );
      flag = spec && spec.type !== 'boolean' && spec.optionalValue !== ONLY_INLINE ? spec : undefined;
    }
  }
  return { positionals, flag };
}
