import { waitsFor } from '../model/failure.js';
import type { Flow } from '../model/flow.js';
import { spentOn } from '../model/outcome.js';
import type { PhaseResult, RunResult } from '../run/core/result.js';
import { junitXml, type ReportedCase } from './junit.js';
import { costText, moneyProperties, reuseText, savedText } from './words.js';

/** The flow, and where a reader of the report finds it. */
export interface ReportedFlow {
  readonly flow: Flow;
  /** Relative to the checkout that CI shows; undefined when the flow is not in it. */
  readonly file?: string;
}

/** Optional phases that failed: the run went on, so they do not fail a build. */
export function toleratedPhases(result: RunResult, { flow }: ReportedFlow): ReadonlySet<string> {
  const optional = new Set(flow.phases.flatMap((phase) => (phase.optional ? [phase.id] : [])));
  const failed = result.phases.filter(({ status }) => status === 'failed' || status === 'blocked');
  return new Set(failed.flatMap(({ id }) => (optional.has(id) ? [id] : [])));
}

/** A test report of a run: a case for each phase. */
export function runJunit(result: RunResult, reported: ReportedFlow, startedAt: number): string {
  const { flow, file } = reported;
  const tolerated = toleratedPhases(result, reported);
  const lines = new Map(flow.phases.map(({ id, line }) => [id, line]));
  return junitXml({
    name: result.flow,
    startedAt,
    seconds: result.durationMs / 1_000,
    properties: {
      runId: result.runId,
      status: result.status,
      executed: String(result.reuse.executed),
      reused: String(result.reuse.run + result.reuse.crossRun),
      ...moneyProperties(result),
    },
    cases: result.phases.map((phase) => ({
      name: phase.id,
      seconds: phase.durationMs / 1_000,
      ...(file === undefined ? {} : { file, line: lines.get(phase.id) }),
      outcome: phaseOutcome(phase, tolerated.has(phase.id)),
      remark: remarkOn(phase),
    })),
  });
}

function phaseOutcome({ status, error, reason }: PhaseResult, isTolerated: boolean): ReportedCase['outcome'] {
  switch (status) {
    case 'done':
      return { type: 'passed' };
    case 'failed':
    case 'blocked': {
      const message = error?.message ?? reason;
      const detail = [error?.detail, error?.hint].filter(Boolean).join('\n');
      if (isTolerated) return { type: 'skipped', why: `${status}, and is optional: ${message}`, detail };
      return { type: 'failed', code: error?.code ?? status, message, detail: detail || message };
    }
    default:
      return { type: 'skipped', why: status === 'paused' ? `waiting for ${waitsFor(error)}` : `${status}: ${reason}` };
  }
}

function remarkOn(phase: PhaseResult): string {
  const { usage } = phase;
  const spent = costText(spentOn(usage));
  const saved = savedText(phase.saved);
  const reuse = reuseText(phase);
  return [
    reuse === '' ? phase.reason : `reused (${reuse})`,
    ...(reuse === '' && spent !== '' ? [`spent ${spent}`] : []),
    ...(saved === '' ? [] : [`saved ${saved}`]),
  ].join('; ');
}
