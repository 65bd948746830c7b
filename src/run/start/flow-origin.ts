import { isFlowPath } from '../../check/find-flow.js';
import type { FlowOrigin } from '../core/options.js';

/** Where a loaded flow came from, under the name that a person or a program gave. */
export function flowOrigin(ref: string, loaded: Pick<FlowOrigin, 'file' | 'digest' | 'files'>): FlowOrigin {
  const { file, digest, files } = loaded;
  return { ref, byName: !isFlowPath(ref), file, digest, files };
}
