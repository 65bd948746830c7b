import type { ArgSpec } from '../model/flow.js';
import type { JsonValue } from '../model/json.js';
import type { Path } from '../parse/locate.js';
import type { PlaceholderRef } from '../plan/placeholder.js';
import { parseTemplate } from '../plan/template.js';
import type { PhaseReader } from './phase-reader.js';

/** These programs only print or compare their arguments. */
const WITHOUT_OPTIONS = /^(?:echo|printf|true|false|test|\[|expr)$/;
/** Arguments after the script belong to the script. */
const INTERPRETERS = /^(?:node|bun|deno|tsx|ts-node|python[\d.]*|ruby|perl|php|sh|bash|dash|zsh|fish)$/;
const END_OF_OPTIONS = new Set(['--', '--end-of-options']);
/** Programs of the system. Any other path is the project's own program, which handles its arguments. */
const SYSTEM_FOLDER = /^\/(?:usr\/(?:local\/)?)?s?bin\//;

/** `git diff "{args.base}"` with `--output=FILE`: a value that begins with a dash is an option to most programs. */
export function warnOfOptions(
  reader: PhaseReader,
  path: Path,
  { argv, code }: { readonly argv: readonly string[]; readonly code: ReadonlyMap<number, unknown> },
): void {
  const program = (argv[0] ?? '').replace(SYSTEM_FOLDER, '');
  if (program === '' || program.includes('/') || WITHOUT_OPTIONS.test(program)) return;
  for (let index = 1; index < argv.length; index++) {
    const element = argv[index]!;
    if (END_OF_OPTIONS.has(element)) return;
    if (INTERPRETERS.test(program) && index > 1 && !argv[index - 1]!.startsWith('-')) return;
    // Most short options take the next element as their value, even if it begins with a dash.
    if (!element.startsWith('{') || code.has(index) || /^-[A-Za-z]$/.test(argv[index - 1]!)) continue;
    const first = parseTemplate(element, reader.itemName).segments[0];
    if (first?.type === 'ref' && mayBeginWithDash(reader, first.ref)) warn(reader, [...path, index], first.ref);
  }
}

function warn({ context }: PhaseReader, path: Path, { text, offset, length }: PlaceholderRef): void {
  const message = `{${text}} may begin with "-", and be taken for an option`;
  const written = `"./{${text}}" or "--name={${text}}"`;
  const hint = `put "--" before it (git before a revision: "--end-of-options"), or write ${written}`;
  context.problems.warn(path, 'option-like', { message, span: { offset, length }, hint });
}

function mayBeginWithDash({ context, source }: PhaseReader, { root, name, path }: PlaceholderRef): boolean {
  if (root === 'loop') return name === 'lastOutput';
  if (root === 'args') return mayArgument(context.argSpecs[name], path.length > 0);
  const over = source.raw['over'] as JsonValue | undefined;
  return root !== 'item' || !Array.isArray(over) || textsIn(over).some((text) => /^[-{]/.test(text));
}

function mayArgument(spec: ArgSpec | undefined, isPart: boolean): boolean {
  if (!spec || isPart) return true;
  if (spec.type === 'boolean') return false;
  if (spec.type === 'number') return (spec.minimum ?? -1) < 0;
  return spec.type !== 'enum' || (spec.values ?? []).some((value) => String(value).startsWith('-'));
}

function textsIn(value: JsonValue): string[] {
  if (typeof value !== 'object' || value === null) return [String(value)];
  return Object.values(value).flatMap(textsIn);
}
