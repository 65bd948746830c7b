import { isUtf8 } from 'node:buffer';
import { sha256Hex } from '../../util/digest.js';
import type { FingerprintSource } from './source.js';
import type { Fingerprint } from './syntax.js';

/** Short answers (versions) are kept as they are, so that a miss can say from what to what. */
const SHORT = 200;

/** Exit status and whole stdout. A status other than 0 is a value; a program that cannot be run has none. */
export const resolveCommand: FingerprintSource<Fingerprint & { source: 'cmd' }> = async (
  { argv },
  options,
  context,
) => {
  if (!context.runCommands) return { failed: 'commands are not run now' };
  const result = await context.exec(argv, options.cwd);
  if ('failed' in result) return { failed: `${argv[0]} failed: ${result.failed}` };
  const { stdout, exitCode } = result;
  if (exitCode === null) return { failed: `${argv[0]} was ended by a signal` };
  const short = stdout.length <= SHORT && isUtf8(stdout);
  return { value: { exitCode, ...(short ? { stdout: stdout.toString('utf8') } : { sha256: sha256Hex(stdout) }) } };
};
