import type { RunnerChoice } from '../../agent/resolve-runner.js';
import type { Runner } from '../../agent/runner.js';
import type { Failure } from '../../model/failure.js';
import { pause } from '../../util/pause.js';
import { once } from '../../util/remembered.js';
import type { RunOptions } from '../core/options.js';
import { Slots } from '../execute/slots.js';
import { UsageGate } from '../execute/usage-gate.js';

export interface PooledRunner {
  readonly runner: Runner;
  readonly slots: Slots | undefined;
  /** Closed while the provider's usage limit holds. */
  readonly gate: UsageGate;
  /** Waits until the rate that the configuration allows has room; undefined where it allows any. */
  readonly pace: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** For `pinVersion`; the runner is asked one time per run. */
  version(): ReturnType<Runner['version']>;
}

type Pooled = PooledRunner | { readonly failure: Failure };

/** The runners that this run has needed so far. Each one's bounds hold for the whole run. */
export class RunnerPool {
  readonly #runners = new Map<string, Pooled | Promise<Pooled>>();

  constructor(
    private readonly options: Pick<RunOptions, 'project' | 'config' | 'runner' | 'resolveRunner' | 'waitForLimits'>,
  ) {}

  /** How long phases have waited for usage limits so far: no time limit of a phase counts that. */
  get waitedMs(): number {
    return [...this.#byName.values()].reduce((sum, { gate }) => sum + gate.waitedMs, 0);
  }

  get(phaseRunner: string | undefined, flowRunner: string | undefined): Pooled | Promise<Pooled> {
    const { project, config, runner: cliRunner } = this.options;
    const id = JSON.stringify([cliRunner ?? null, phaseRunner ?? null, flowRunner ?? null]);
    const known = this.#runners.get(id);
    if (known) return known;
    const finding = this.#resolve({ project, config, phaseRunner, flowRunner, cliRunner }).then((pooled) => {
      this.#runners.set(id, pooled);
      return pooled;
    });
    this.#runners.set(id, finding);
    return finding;
  }

  async #resolve(choice: RunnerChoice): Promise<Pooled> {
    const { resolveRunner = (await import('../../agent/resolve-runner.js')).resolveRunner } = this.options;
    const resolved = await resolveRunner(choice);
    return 'failure' in resolved ? resolved : this.#pooled(resolved.runner);
  }

  readonly #byName = new Map<string, PooledRunner>();

  /** Two ways to name one runner lead to one set of bounds. */
  #pooled(runner: Runner): PooledRunner {
    const known = this.#byName.get(runner.name);
    if (known) return known;
    const pooled: PooledRunner = {
      runner,
      slots: runner.concurrency === undefined ? undefined : new Slots(runner.concurrency),
      gate: new UsageGate({
        runner: runner.name,
        clock: this.options.project.clock,
        mostMs: this.options.config.limits.resetWaitMs,
        waits: this.options.waitForLimits !== false,
      }),
      pace: paceOf(runner.ratePerMinute, () => this.options.project.clock.elapsed()),
      version: once(() => runner.version()),
    };
    this.#byName.set(runner.name, pooled);
    return pooled;
  }
}

/** At most so many starts in any minute. */
function paceOf(ratePerMinute: number | undefined, elapsed: () => number): PooledRunner['pace'] {
  if (ratePerMinute === undefined) return undefined;
  const starts: number[] = [];
  return async (signal) => {
    for (;;) {
      const now = elapsed();
      while (starts.length > 0 && starts[0]! <= now - 60_000) starts.shift();
      if (starts.length < ratePerMinute || signal.aborted) {
        starts.push(now);
        return;
      }
      await pause(Math.max(5, starts[0]! + 60_000 - now), signal);
    }
  };
}
