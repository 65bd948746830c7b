import { isAbsolute, relative, resolve } from 'node:path';
import type { ResolvedRunner, RunnerChoice } from '../../agent/resolve-runner.js';
import { resolveRunner as resolveConfigured } from '../../agent/resolve-runner.js';
import type { Runner, RunnerRequest, RunnerResult } from '../../agent/runner.js';
import type { Failure } from '../../model/failure.js';
import { NO_USAGE } from '../../model/outcome.js';
import { sameModel } from '../../run/reuse/same-model.js';
import { once } from '../../util/remembered.js';
import type { UnrecordedCall } from '../suite/report.js';
import { callKey, callOf } from './call.js';
import { baseOf, hiding, revealing } from './hide.js';
import { unrecordedCall } from './nearest.js';
import { Ordinals } from './ordinals.js';
import type { Recording, RunnerFacts } from './recording.js';
import type { Recordings } from './recordings.js';
import { changedFiles, stampsOf, writeFiles } from './written-files.js';

const UNKNOWN: RunnerFacts = { name: 'recorded', type: 'command', reportsCost: true };

/** Answers the agent calls of one case from recordings, and records where that is asked for. */
export class CaseCalls {
  /** How often an agent was asked. */
  count = 0;
  /** What real calls cost; undefined where a price is not known. */
  usd: number | undefined = 0;
  readonly #misses = new Map<string, UnrecordedCall>();
  readonly #ordinals = new Ordinals();

  constructor(private readonly recordings: Recordings) {}

  /** Calls that nothing was recorded for. Files are named as in their folder. */
  get unrecorded(): readonly UnrecordedCall[] {
    return [...this.#misses.values()];
  }

  /** Replaces the choice of a runner by the settings. A replay resolves none, so no client need be installed. */
  readonly resolveRunner = async (choice: RunnerChoice): Promise<ResolvedRunner> => {
    const { mode } = this.recordings;
    const resolveReal = once(() => resolveConfigured(choice));
    const { cliRunner, phaseRunner, flowRunner, config } = choice;
    const known =
      mode === 'record' ? undefined : this.recordings.factsOf(cliRunner ?? phaseRunner ?? flowRunner ?? config.runner);
    if (known || mode === 'replay') return { runner: this.#runner(known ?? UNKNOWN, resolveReal) };
    const resolved = await resolveReal();
    return 'failure' in resolved ? resolved : { runner: this.#runner(resolved.runner, resolveReal) };
  };

  #runner(like: Runner | RunnerFacts, real: () => Promise<ResolvedRunner>): Runner {
    const { name, type, reportsCost, canAnswerJson } = like;
    const { defaultModel, concurrency, ratePerMinute } = like as Partial<Runner>;
    // Files can be attributed to a call only if clients are called one at a time.
    const atOnce = this.recordings.mode === 'replay' || type === 'openai' ? concurrency : 1;
    return {
      ...{ name, type, reportsCost, settings: {} },
      ...(canAnswerJson && { canAnswerJson }),
      ...(defaultModel !== undefined && { defaultModel }),
      ...(atOnce !== undefined && { concurrency: atOnce }),
      ...(ratePerMinute !== undefined && { ratePerMinute }),
      run: (request) => this.#answer(request, real),
      version: async () => ({ version: 'recorded' }),
    };
  }

  async #answer(request: RunnerRequest, real: () => Promise<ResolvedRunner>): Promise<RunnerResult> {
    if (request.signal.aborted) return failed({ code: 'interrupted', message: 'interrupted' }, 'cancelled');
    this.count += 1;
    const hide = hiding(request);
    const call = callOf(request, hide);
    const key = callKey(call);
    const ordinal = this.#ordinals.take(key);
    const found = this.recordings.use(key, ordinal);
    if (found) return replayed(found, request);
    if (this.recordings.mode === 'replay') return this.#missed(key, unrecordedCall(call, ordinal, this.recordings.all));
    const resolved = await real();
    if ('failure' in resolved) return failed(resolved.failure);
    const base = baseOf(request);
    const before = resolved.runner.type === 'openai' ? undefined : stampsOf(base);
    const result = await resolved.runner.run(request);
    this.#spend(result);
    // A lost connection or a wrong key is no answer: it is not recorded, and a retry is the same call.
    if (!['complete', 'length', 'refusal'].includes(result.stopReason)) {
      this.#ordinals.giveBack(key, ordinal);
      return result;
    }
    const { name, type, reportsCost, canAnswerJson } = resolved.runner;
    const problem = this.recordings.add({
      call,
      ordinal,
      runner: {
        name,
        type,
        reportsCost,
        ...(canAnswerJson && { canAnswerJson }),
        ...(request.model && { model: request.model }),
      },
      result: asRecorded(result, { base, cwd: request.cwd, hide }),
      files: before ? changedFiles(base, before, hide) : {},
    });
    return problem ? failed(problem) : result;
  }

  #spend({ usage }: RunnerResult): void {
    this.usd = this.usd === undefined || usage.usd === undefined ? undefined : this.usd + usage.usd;
  }

  #missed(key: string, miss: UnrecordedCall): RunnerResult {
    this.#misses.set(key, this.#misses.get(key) ?? miss);
    const hint = 'Record it with `taskflow test --update`.';
    return failed({ code: 'runner', message: 'there is no recording of this call', hint });
  }
}

function failed(failure: Failure, stopReason: RunnerResult['stopReason'] = 'error'): RunnerResult {
  const nothing = { filesRead: [], filesWritten: [], turns: 0, usedTools: false, permissionDenied: false };
  return { text: '', usage: NO_USAGE, stopReason, ...nothing, failure };
}

function asRecorded(
  result: RunnerResult,
  { base, cwd, hide }: { readonly base: string; readonly cwd: string; readonly hide: (text: string) => string },
): Recording['result'] {
  const inBase = (path: string) => relative(base, resolve(cwd, path));
  const { failure } = result;
  return {
    ...result,
    text: hide(result.text),
    filesRead: result.filesRead.map(inBase),
    filesWritten: result.filesWritten.map(inBase),
    ...(failure && {
      failure: { code: failure.code, message: hide(failure.message), ...(failure.hint && { hint: failure.hint }) },
    }),
  };
}

function replayed({ result, files, runner }: Recording, request: RunnerRequest): RunnerResult {
  const base = baseOf(request);
  const reveal = revealing(request);
  writeFiles(base, files, reveal);
  const inPlace = (path: string) => (isAbsolute(path) ? path : resolve(base, path));
  const model = modelOf(result.model, runner.model, request.model);
  const { model: _, ...rest } = result;
  return {
    ...rest,
    text: reveal(result.text),
    filesRead: result.filesRead.map(inPlace),
    filesWritten: result.filesWritten.map(inPlace),
    ...(model !== undefined && { model }),
  };
}

/** Models are not part of a test: the requested one answers, unless another one answered when it was recorded. */
function modelOf(answered: string | undefined, asked: string | undefined, now: string | undefined): string | undefined {
  if (answered === undefined || now === undefined) return answered;
  return asked === undefined || sameModel(asked, answered) ? now : answered;
}
