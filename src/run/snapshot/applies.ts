import type { Config } from '../../model/config.js';
import type { Flow } from '../../model/flow.js';
import { StoredOutput } from '../../model/output.js';
import type { MadePhase } from '../core/made-phase.js';
import type { RunResult } from '../core/result.js';

/**
 * When a snapshot applies: the one place that says so. Everything else is left to the engine, and so is every doubt.
 */

/** Flags that change what is shown, not what is run. */
export const PLAIN_FLAGS: ReadonlySet<string> = new Set(['json', 'events', 'quiet']);

/** Variables that ask for reports and traces of each run: what makes them is not loaded here. */
const REPORTS = ['GITHUB_ACTIONS', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];

/** `flags`: names of the typed ones. */
export function isPlainCommand(flags: readonly string[], env: Readonly<Record<string, string | undefined>>): boolean {
  return REPORTS.every((name) => env[name] === undefined) && flags.every((name) => PLAIN_FLAGS.has(name));
}

/** Nothing of it is secret or signed, it starts afresh each time, and nobody is to be told. */
export function isPlainFlow(flow: Flow, { cache, iteration, hooks }: Config): boolean {
  if (hooks || flow.hooks) return false;
  const hasSecrets = Object.values(flow.args).some(({ secret }) => secret === true);
  return !hasSecrets && cache.signingKey === undefined && iteration.mode !== 'always';
}

/** The store answered the whole flow, and the run reported no remark. */
export function isPlainRun({ status, warnings, continues, reuse }: RunResult): boolean {
  const fromElsewhere = reuse.executed > 0 || reuse.run > 0;
  return status === 'success' && warnings === undefined && continues === undefined && !fromElsewhere;
}

/** Variables may hold secrets, and commands would be started twice when something else has changed. */
const COMPARABLE = /^(?:file|glob!?|git):/;

/** Its key alone found it, only its text has to be restored, and all its inputs can be compared. */
export function isPlainPhase({ phase, settled, fingerprints, reads, hasEnvironment }: MadePhase): boolean {
  const { result, origin, status, runKey } = settled;
  return (
    origin.hit === 'cross-run' &&
    status === 'done' &&
    result.key !== undefined &&
    result.key === runKey &&
    result.files.length === 0 &&
    !(result.output instanceof StoredOutput) &&
    phase.idempotent &&
    phase.outputs.length === 0 &&
    phase.cwd === undefined &&
    reads !== undefined &&
    !hasEnvironment &&
    fingerprints.every(({ entry }) => COMPARABLE.test(entry))
  );
}

/** Reading more than this is no quicker than looking it up. */
export const LARGEST_OUTPUTS = 2 * 1024 * 1024;
