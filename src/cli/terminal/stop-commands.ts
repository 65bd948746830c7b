import { randomHex } from '../../util/digest.js';

/** Unknown to whatever is shown, so that nothing shown can end the silence. */
let token: string | undefined;

/**
 * The lines before and after which GitHub Actions obeys nothing in this step's log; undefined elsewhere. They go to
 * stderr, also around what stdout says: the runner reads both as one log, and programs read stdout.
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
