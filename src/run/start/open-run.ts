import type { RunEvent, RunEventBody } from '../../model/event.js';
import type { Failure } from '../../model/failure.js';
import type { RunContext } from '../context/context.js';
import { type ContextParts, makeContext } from '../context/make-context.js';
import { decideContinuation } from '../continue/continuation.js';
import { importedCheckpoint } from '../continue/imported.js';
import type { RunOptions } from '../core/options.js';
import { runGroup } from '../core/run-group.js';
import type { ScopeResult } from '../core/scope.js';
import { lastRunId, newRunId } from '../history/runs-folder.js';
import type { JournalWriter } from '../journal/writer.js';
import { scheduler } from '../schedule/scheduler.js';
import { announceStart } from './announce-start.js';
import { recordNothing } from './record-nothing.js';
import { RunRecording } from './record-run.js';

/** The run cannot begin: the run to continue does not exist, the budget cannot be held. */
export interface RunRefused {
  readonly refused: Failure;
}

interface Session {
  readonly context: RunContext;
  /** Grows while the run goes on. */
  readonly warnings: readonly string[];
  readonly warn: (message: string) => void;
  readonly continues?: { readonly runId: string; readonly notice?: string };
  readonly startedAt: number;
  /** Records the end. Call it exactly once. */
  end(result: SessionResult): void;
}

type SessionResult = Pick<ScopeResult, 'status' | 'failure' | 'partial'>;

interface Opening {
  readonly onEvent?: (event: RunEvent) => void;
  /** For a forecast: takes the lines instead of a journal on disk. Nothing is claimed, carried over or written. */
  readonly forecastInto?: JournalWriter;
}

/** Opens a run, a batch or a forecast of either: decides what to continue, takes its results, makes the context. */
export async function openRun(given: RunOptions, opening: Opening = {}): Promise<Session | RunRefused> {
  const { forecastInto } = opening;
  const options = forecastInto ? { ...given, forecast: true } : given;
  const { project } = options;
  const startedAt = project.clock.elapsed();
  const runId = forecastInto ? FORECAST_ID : (options.detachedAs ?? newRunId(project.clock.now()));
  const group = runGroup(options);
  const decision = decideContinuation(options, group, forecastInto ? undefined : runId);
  if ('failure' in decision) return { refused: decision.failure };
  const imported = importedCheckpoint(options);
  if (imported && 'failure' in imported) return { refused: imported.failure };

  const voice = voiceOf(options, runId, opening.onEvent);
  const continued = { decision, imported };
  const recording = forecastInto
    ? recordNothing(options, continued, forecastInto)
    : new RunRecording({ options, runId, group, continued, ...voice });
  const { journal } = recording;
  const prior = await recording.prior();
  const previousRun = lastRunId(project, group.flowId, options.batch ? group.argsDigest : undefined);
  const parts: ContextParts = { options, scheduler, runId, journal, prior, ...voice, ...group, previousRun };
  const context = await makeContext(parts);
  if ('refused' in context) {
    recording.refuse(context.refused);
    return context;
  }
  recording.begin(context);
  await announceStart({ parts, context, continued });
  return {
    context,
    warnings: voice.warnings,
    warn: voice.warn,
    continues: prior.runId === undefined ? undefined : { runId: prior.runId, notice: decision.notice },
    startedAt,
    end: (result) => {
      const durationMs = Math.round(project.clock.elapsed() - startedAt);
      recording.end(context, { ...result, durationMs });
    },
  };
}

/** Every forecast has it; no run does. */
const FORECAST_ID = '00000000-000000-000000';

/** How the run reports: events to the listener, each warning one time. */
function voiceOf({ project: { clock }, forecast }: RunOptions, runId: string, onEvent: Opening['onEvent']) {
  const warnings: string[] = [];
  const emit = (event: RunEventBody) => {
    // A forecast has no other way to report what its phases warn of.
    if (forecast && event.type === 'warning' && !warnings.includes(event.message)) warnings.push(event.message);
    // Completed in place: each event is made for this call, and a copy costs five times as much.
    onEvent?.(Object.assign(event as RunEvent, { at: clock.now(), runId }));
  };
  const warn = (message: string) => {
    if (warnings.includes(message)) return;
    warnings.push(message);
    emit({ type: 'warning', message });
  };
  return { warnings, emit, warn };
}
