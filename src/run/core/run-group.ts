import { canonicalEncode } from '../../util/canonical.js';
import { sha256Hex } from '../../util/digest.js';
import type { RunOptions } from './options.js';
import { publicArgs } from './secrets.js';

/**
 * Which runs of a flow belong together: those with the same given arguments, those over the same list of rows. What has
 * its default counts as not given, so that a new argument with a default makes no other run of it.
 */
export function argumentsDigest({ flow, args }: RunOptions): string {
  const given = Object.entries(publicArgs(flow.args, args)).filter(([name, value]) => {
    const byDefault = flow.args[name]?.default;
    return byDefault === undefined || canonicalEncode(byDefault) !== canonicalEncode(value);
  });
  return sha256Hex(canonicalEncode(Object.fromEntries(given)));
}

export function batchDigest(over: string): string {
  return sha256Hex(canonicalEncode({ batch: over }));
}
