import { homedir } from 'node:os';
import type { Observation } from '../../src/model/observation.js';
import { observeSupport } from '../../src/observe/support.js';
import { TracedProcess } from '../../src/observe/traced.js';
import type { ProcessRequest, ProcessResult } from '../../src/process/process.js';
import { runProcess } from '../../src/process/run-process.js';

const support = await observeSupport({ root: '/nowhere', home: homedir(), env: process.env });

/** Undefined on a machine that cannot trace: its tests are skipped there. */
export const STRACE = 'strace' in support ? support.strace : undefined;

/** Runs a program under the tracer, in a project. */
export async function traced(
  root: string,
  argv: readonly string[],
  more: Partial<ProcessRequest> = {},
): Promise<ProcessResult & { readonly observed: Observation }> {
  const trace = new TracedProcess({ strace: STRACE!, root });
  const result = await runProcess({ argv, cwd: root, env: { PATH: process.env['PATH'] }, trace, ...more });
  return { ...result, observed: trace.observation()! };
}
