import { ask, isInRepository, OUTSIDE_REPOSITORY } from './git-repository.js';
import type { FingerprintSource } from './source.js';
import type { Fingerprint } from './syntax.js';

/** The commit that the ref names. */
export const resolveGitRef: FingerprintSource<Fingerprint & { source: 'git-ref' }> = async (
  { ref },
  _options,
  context,
) => {
  if (!isInRepository(context.project)) return { value: '', warning: OUTSIDE_REPOSITORY };
  const answer = await ask(['rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`], context);
  if ('failed' in answer) return isUnknown(answer.failed) ? { failed: unknown(ref) } : { failed: answer.failed };
  const commit = answer.stdout.trim();
  return /^[0-9a-f]{40,64}$/.test(commit) ? { value: commit } : { failed: unknown(ref) };
};

function isUnknown(reason: string): boolean {
  return reason.includes('Needed a single revision');
}

function unknown(ref: string): string {
  return ref === 'HEAD' ? 'the repository has no commit yet' : `git knows no commit ${ref}`;
}
