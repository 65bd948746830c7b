import type { RunBody, TaskBody } from '../model/flow.js';
import type { Path } from '../parse/locate.js';
import { parseTemplate, templateRefs } from '../plan/template.js';
import { warnOfOptions } from './option-like.js';
import { leavesProject } from './paths.js';
import type { PhaseReader, TextScope } from './phase-reader.js';
import type { Problems } from './problem.js';
import { codeElements, shellAdvice } from './shell.js';
import { warnOfStdinName } from './stdin-name.js';
import { show } from './structure.js';

type Fields = Readonly<Record<string, unknown>>;

/** Fields of a phase or of a part of it, with the scope of their placeholders. */
interface Written {
  readonly own: Fields;
  readonly scope?: TextScope;
}

const AGENT_WORDS = ['runner', 'model', 'thinking'] as const;

/** Runner fields of an agent call: its own, else those of its phase. */
export function agentFields(
  reader: PhaseReader,
  path: Path,
  { own, phase = {}, scope = {} }: Written & { readonly phase?: Fields },
): Omit<TaskBody, 'type' | 'task'> {
  if (typeof own['agent'] === 'string') {
    reader.agent([...path, 'agent'], own['agent'], own['model'] ?? phase['model']);
  }
  reader.context.roles.name([...path, 'model'], own['model']);
  for (const word of AGENT_WORDS) {
    if (typeof own[word] === 'string') reader.literal([...path, word], own[word]);
  }
  for (const [index, tool] of ((own['tools'] ?? []) as readonly string[]).entries()) {
    reader.literal([...path, 'tools', index], tool);
  }
  if (typeof own['systemPrompt'] === 'string') reader.template([...path, 'systemPrompt'], own['systemPrompt'], scope);
  if (reader.context.trust === 'generated' && own['runner'] !== undefined) {
    refuseGenerated(reader.problems, [...path, 'runner'], 'choose a runner');
  } else if (typeof own['runner'] === 'string') reader.context.runners.name([...path, 'runner'], own['runner']);
  const fields: Record<string, unknown> = {};
  for (const name of ['agent', ...AGENT_WORDS, 'tools', 'systemPrompt']) {
    const value = own[name] ?? phase[name];
    if (value !== undefined) fields[name] = value;
  }
  return fields;
}

export function taskBody(reader: PhaseReader, scope: TextScope = {}): TaskBody {
  const { raw, path } = reader.source;
  const task = typeof raw['task'] === 'string' ? reader.template([...path, 'task'], raw['task'], scope) : '';
  return { type: 'task', task, ...agentFields(reader, path, { own: raw, scope }) };
}

/** A command: `run`, `input` and `env` of a phase or of a branch. */
export function runBody(reader: PhaseReader, path: Path, { own, scope = {} }: Written): RunBody {
  const run = (own['run'] ?? '') as string | readonly string[];
  if (reader.context.trust === 'generated') refuseGenerated(reader.problems, [...path, 'run'], 'execute commands');
  if (typeof run === 'string') checkShellText(reader, [...path, 'run'], { text: run });
  else checkArgv(reader, [...path, 'run'], { argv: run, scope });
  if (own['input'] !== undefined) warnOfStdinNames(reader, [...path, 'run'], run);
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries((own['env'] ?? {}) as Record<string, unknown>)) {
    const at = [...path, 'env', name];
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      reader.problems.error(at, 'bad-value', { message: 'this is no name of a variable', target: 'key' });
      continue;
    }
    env[name] = typeof value === 'string' ? reader.template(at, value, scope) : String(value);
  }
  const input = own['input'];
  return {
    type: 'run',
    run,
    ...(typeof input === 'string' ? { input: reader.template([...path, 'input'], input, scope) } : {}),
    env,
  };
}

function warnOfStdinNames({ context }: PhaseReader, path: Path, run: RunBody['run']): void {
  if (typeof run === 'string') warnOfStdinName(context.problems, path, run);
  else {
    run.forEach((text, index) => {
      warnOfStdinName(context.problems, [...path, index], text);
    });
  }
}

function checkArgv(
  reader: PhaseReader,
  path: Path,
  { argv, scope }: { readonly argv: readonly string[]; readonly scope: TextScope },
): void {
  const code = codeElements(argv);
  argv.forEach((element, index) => {
    const hasNul = element.includes('\0');
    // Most arguments are plain words.
    if (!hasNul && !element.includes('{')) return;
    const at = [...path, index];
    const advice = code.get(index);
    if (advice) checkShellText(reader, at, { text: element, advice });
    else reader.template(at, element, scope);
    if (hasNul) reader.problems.error(at, 'bad-value', 'an argument cannot hold a NUL character');
  });
  warnOfOptions(reader, path, { argv, code });
  const [program = '', ...rest] = argv;
  if (program === '') reader.problems.error([...path, 0], 'bad-value', 'the program has no name');
  else checkProgram(reader, [...path, 0], { program, isAlone: rest.length === 0 });
}

/** Finds `[ls -la]`: a path may contain spaces, the name of a program does not. */
function checkProgram(
  { context }: PhaseReader,
  path: Path,
  { program, isAlone }: { readonly program: string; readonly isAlone: boolean },
): void {
  const words = program.trim().split(/\s+/);
  if (words.length === 1 || /[/"'\\]/.test(words[0]!)) return;
  const list = words.map((word) => JSON.stringify(word)).join(', ');
  const asText = isAlone && !program.includes('{') ? `, or the text ${JSON.stringify(program)} for the shell` : '';
  context.problems.error(path, 'bad-value', {
    message: `${show(program)} is no program: a list is a program and its arguments`,
    hint: `write [${list}${isAlone ? '' : ', …'}]${asText}`,
  });
}

/** Text that a shell or an interpreter parses: a value put into it could become commands. */
function checkShellText(
  reader: PhaseReader,
  path: Path,
  { text, advice = shellAdvice }: { readonly text: string; readonly advice?: typeof shellAdvice },
): void {
  const { problems } = reader.context;
  if (text.includes('\0')) problems.error(path, 'bad-value', 'a command cannot hold a NUL character');
  const template = parseTemplate(text, reader.itemName);
  const places = [...templateRefs(template), ...template.suspects.filter(({ certain }) => certain)];
  for (const { text: placeholder, offset, length } of places) {
    problems.error(path, 'shell-placeholder', {
      message: `{${placeholder}} would be read as code here`,
      span: { offset, length },
      hint: advice(placeholder),
    });
  }
  reader.code(path, text, advice);
}

export function refuseGenerated(problems: Problems, path: Path, what: string): void {
  problems.error(path, 'generated-flow', { message: `a generated flow may not ${what}`, target: 'key' });
}

/** A folder or file inside the project. A path with placeholders is checked again when the phase runs. */
export function projectPath(
  reader: PhaseReader,
  path: Path,
  { written, scope = {} }: { readonly written: string; readonly scope?: TextScope },
): string {
  const { problems, world } = reader.context;
  reader.template(path, written, scope);
  if (written.includes('\0')) problems.error(path, 'bad-value', 'a path cannot hold a NUL character');
  else if (leavesProject(written)) {
    problems.error(path, 'outside-project', {
      message: 'this path leads out of the project',
      hint: 'paths are relative to the project root',
    });
  } else if (!/[{*?[]/.test(written) && world.linksOut(written)) {
    problems.error(path, 'outside-project', 'this path leads out of the project through a symbolic link');
  }
  return written;
}
