import { randomHex } from '../../util/digest.js';

/** Random, so that no shown text can switch commands on again. */
let token: string | undefined;

/**
 * The lines between which GitHub Actions obeys no command in this step's log; undefined elsewhere. They go to stderr,
 * also around text on stdout: the runner reads both as one log, and programs read stdout.
 */
export function stopMarks(env: Readonly<Record<string, string | undefined>>): Marks | undefined {
  if (env['GITHUB_ACTIONS'] !== 'true') return undefined;
  token ??= randomHex(24);
  return { before: `::stop-commands::${token}\n`, after: `::${token}::\n` };
}

interface Marks {
  readonly before: string;
  readonly after: string;
}
