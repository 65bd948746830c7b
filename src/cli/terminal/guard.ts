import { sanitize } from '../../util/terminal-text.js';

/** A style of ours (see `createStyle`): the only escape sequences that a line may have. */
const STYLE = /(\x1b\[\d{1,2}m)/;

/** Removes all other control characters and sequences. */
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

/** At the start of a line, after characters that the CI system trims. */
const COLONS = /(^|[\r\n])((?:[^\S\r\n]|\x85)*):(?=:)/g;
/** Anywhere: `##[set-env]`, `##vso[task.setvariable]`, `##teamcity[…]`. */
const HASHES = /#(?=#\w{0,20}\[)/g;

/**
 * Makes commands of CI systems harmless: writes their first character as a JSON escape. In JSON output, where it can
 * only be inside a string, that means the same.
 */
export function withoutCommands(text: string): string {
  if (!text.includes('::') && !text.includes('##')) return text;
  return text.replaceAll(COLONS, '$1$2\\u003a').replaceAll(HASHES, '\\u0023');
}
