import type { Flow } from '../../model/flow.js';
import { holderIdentity } from '../../process/process-identity.js';
import { VERSION } from '../../util/version.js';
import type { RunOptions } from '../core/options.js';
import { publicArgs } from '../core/secrets.js';
import { JOURNAL_VERSION, type RunLine } from '../journal/lines.js';

/** The first line of a run's journal. */
export function runLine(
  { project, flow, source, args, batch, detachedAs }: RunOptions,
  facts: Pick<RunLine, 'runId' | 'argsDigest' | 'continues'>,
): RunLine {
  return {
    type: 'run',
    at: project.clock.now(),
    version: JOURNAL_VERSION,
    ...facts,
    mode: batch ? 'batch' : 'run',
    flow: flow.name,
    file: flow.file,
    fileDigest: source.digest,
    ref: source.ref,
    byName: source.byName,
    over: batch?.over,
    rows: batch?.total,
    rowFlags: batch?.rowFlags,
    detached: detachedAs === undefined ? undefined : true,
    args: publicArgs(flow.args, args),
    phases: outline(flow),
    taskflow: VERSION,
    owner: holderIdentity(),
  };
}

export function outline(flow: Flow): RunLine['phases'] {
  return flow.phases.map(({ id, kind, needs }) => ({ id, kind, needs: needs.map((edge) => edge.id) }));
}
