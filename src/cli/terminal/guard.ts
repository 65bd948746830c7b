import { sanitize } from '../../util/terminal-text.js';

/** A style of ours (see `createStyle`): all that a line may do to a terminal. */
const STYLE = /(\x1b\[\d{1,2}m)/;

/** Text that may be shown: all else that would act on a terminal is removed, wherever it comes from. */
export function onlyStyles(text: string): string {
  if (!text.includes('\x1b')) return sanitize(text);
  return text
    .split(STYLE)
    .map((piece, index) => (index % 2 === 1 ? piece : sanitize(piece)))
    .join('');
}

/** CI systems that read lines of a log as commands. */
const OBEYING = ['GITHUB_ACTIONS', 'TF_BUILD', 'TEAMCITY_VERSION'];

export function obeysLines(env: Readonly<Record<string, string | undefined>>): boolean {
  return OBEYING.some((name) => Boolean(env[name]) && env[name] !== 'false');
}

/** At the start of a line, behind whatever is trimmed there. */
const COLONS = /(^|[\r\n])((?:[^\S\r\n]|\x85)*):(?=:)/g;
/** Anywhere: `##[set-env]`, `##vso[task.setvariable]`, `##teamcity[…]`. */
const HASHES = /#(?=#\w{0,20}\[)/g;

/**
 * Lines that are no commands: the first character of a command is written as JSON escapes it, which means the same in
 * JSON, where it can only be inside a text.
 */
export function withoutCommands(text: string): string {
  if (!text.includes('::') && !text.includes('##')) return text;
  return text.replaceAll(COLONS, '$1$2\\u003a').replaceAll(HASHES, '\\u0023');
}
