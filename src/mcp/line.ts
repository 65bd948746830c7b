import { shellWord } from '../util/shell-word.js';

/** Arguments of a flow as flags; `--flag=value`, so that no value is read as a flag. */
export function argFlags(args: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  return Object.entries(args ?? {}).map(([name, value]) => {
    return `--arg=${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`;
  });
}

/** `--phase=review`, if there is a value; for a list, one flag for each. */
export function flagWords(name: string, value: unknown): readonly string[] {
  if (value === undefined || value === false) return [];
  if (value === true) return [`--${name}`];
  return Array.isArray(value) ? value.flatMap((one) => flagWords(name, one)) : [`--${name}=${value}`];
}

/** Inserts flags before the words that came from a client. */
export function withFlag(line: readonly string[], ...flags: readonly string[]): readonly string[] {
  const end = line.indexOf('--');
  const at = end < 0 ? line.length : end;
  return [...line.slice(0, at), ...flags, ...line.slice(at)];
}

/** The command line as people type it. */
export function shellLine(line: readonly string[]): string {
  return ['taskflow', ...line.filter((word) => word !== '--')].map(shellWord).join(' ');
}

const MOST_ARGUMENTS = 100_000;

/** Finds a value that no command line can hold. */
export function inputProblem(input: Readonly<Record<string, unknown>>): string | undefined {
  const text = JSON.stringify(input);
  if (text.includes('\\u0000')) return 'a text cannot hold a NUL character';
  if (text.length > MOST_ARGUMENTS) {
    return `the arguments have ${text.length} characters, and at most ${MOST_ARGUMENTS} fit: put them in a file`;
  }
  const odd = Object.keys((input['args'] as object | undefined) ?? {}).find(
    (name) => name === '' || name.includes('='),
  );
  return odd === undefined ? undefined : `${JSON.stringify(odd)} is no name for an argument`;
}
