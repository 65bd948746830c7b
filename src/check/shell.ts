import { LANGUAGES, type Language } from './shell-languages.js';

/** What to do about a placeholder in code. */
type Advice = (placeholder: string) => string;

/**
 * Which elements of an argv, by their places, are code: what a shell or an interpreter parses again. A placeholder
 * there would let an output, an item or an argument become commands.
 */
export function codeElements(argv: readonly string[]): ReadonlyMap<number, Advice> {
  const first = programName(argv[0] ?? '');
  const code = new Map<number, Advice>();
  if (first === 'eval') {
    for (let index = 1; index < argv.length; index++) code.set(index, shellAdvice);
    return code;
  }
  argv.forEach((element, index) => {
    const name = programName(element);
    if (!ANY_PROGRAM.test(name)) return;
    const language = LANGUAGES.find(({ program }) => program.test(name));
    if (!language || ((language.bare || language.skips) && index > 0 && !WRAPPERS.test(first))) return;
    const advice = adviceFor(language, name);
    for (const at of codeAfter(argv, index + 1, language)) if (!code.has(at)) code.set(at, advice);
  });
  return code;
}

/** Advice for shell code. */
export const shellAdvice: Advice = (placeholder) => byVariable(placeholder, (variable) => `write "$${variable}"`);

function adviceFor({ advice, byInput }: Language, program: string): Advice {
  if (byInput) return (placeholder) => `pass it by input: "{${placeholder}}" and ${byInput}`;
  return (placeholder) => byVariable(placeholder, (variable) => advice(variable, program));
}

function byVariable(placeholder: string, use: (variable: string) => string): string {
  const variable = variableName(placeholder);
  return `pass it by env: { ${variable}: "{${placeholder}}" } and ${use(variable)}`;
}

/** Quick test: most elements name none of these programs. */
const ANY_PROGRAM = new RegExp(LANGUAGES.map(({ program }) => program.source).join('|'));

/** Programs that start another one. Behind any other program, `sed` is more likely a plain word. */
const WRAPPERS = new RegExp(
  [
    '^(busybox|chroot|command|docker|doas|env|exec|find|flock|ionice|kubectl|nice|nohup|parallel|podman',
    'setsid|stdbuf|sudo|time|timeout|xargs)$',
  ].join('|'),
);

function codeAfter(argv: readonly string[], from: number, language: Language): readonly number[] {
  const code: number[] = [];
  for (let index = from; index < argv.length; index++) {
    const element = argv[index]!;
    if (language.fromFile?.test(element)) return code;
    if (language.glued?.test(element)) {
      code.push(index);
    } else if (language.flag?.test(element)) {
      index += 1;
      while (language.optionsFollow && index < argv.length - 1 && /^[-+]/.test(argv[index]!)) index += 1;
      if (language.rest) return restFrom(argv, index);
      if (index < argv.length) code.push(index);
    } else if (language.valued?.test(element)) {
      index += 1;
      continue;
    } else if (/^[-+/]/.test(element) && element !== '--') {
      continue;
    } else if (language.skips?.test(element)) {
      continue;
    } else {
      // The first element that is not an option is a script file or a value, after which all is data, unless it is the
      // code itself.
      const at = element === '--' ? index + 1 : index;
      return code.length > 0 ? code : bareCode(argv, at, language);
    }
    if (!language.repeats) return code;
  }
  return code;
}

function bareCode(argv: readonly string[], at: number, { bare }: Language): readonly number[] {
  if (at >= argv.length || bare === undefined) return [];
  if (bare === 'first') return [at];
  return restFrom(argv, bare === 'after-first' ? at + 1 : at);
}

function restFrom(argv: readonly string[], from: number): readonly number[] {
  return argv.flatMap((_, index) => (index >= from ? [index] : []));
}

function programName(element: string): string {
  return element.slice(element.lastIndexOf('/') + 1);
}

/** A name for the variable that carries a placeholder's value: `steps.scan.output` → `SCAN_OUTPUT`. */
export function variableName(placeholder: string): string {
  const name = placeholder
    .replace(/^(steps|args)\./, '')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .toUpperCase();
  return /^[A-Z_]/.test(name) ? name : `V_${name}`;
}
