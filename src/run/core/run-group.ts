import { canonicalEncode } from '../../util/canonical.js';
import { sha256Hex } from '../../util/digest.js';
import type { RunOptions } from './options.js';
import { publicArgs } from './secrets.js';

/** Which runs belong together: those of one flow with the same given arguments, or over the same list of rows. */
export interface RunGroup {
  readonly flowId: string;
  readonly argsDigest: string;
}

type Grouped = Pick<RunOptions, 'flow' | 'source' | 'args' | 'batch'>;

export function runGroup(options: Grouped): RunGroup {
  const { flow, source, batch } = options;
  return {
    flowId: flow.file ?? source.ref,
    argsDigest: batch ? batchDigest(batch.over) : argumentsDigest(options),
  };
}

/** What has its default counts as not given, so that a new argument with a default starts no new group. */
export function argumentsDigest({ flow, args }: Pick<RunOptions, 'flow' | 'args'>): string {
  const given = Object.entries(publicArgs(flow.args, args)).filter(([name, value]) => {
    const byDefault = flow.args[name]?.default;
    return byDefault === undefined || canonicalEncode(byDefault) !== canonicalEncode(value);
  });
  return sha256Hex(canonicalEncode(Object.fromEntries(given)));
}

export function batchDigest(over: string): string {
  return sha256Hex(canonicalEncode({ batch: over }));
}
