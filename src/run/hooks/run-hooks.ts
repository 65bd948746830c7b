import type { Config } from '../../model/config.js';
import type { RunStatus } from '../../model/event.js';
import type { Flow } from '../../model/flow.js';
import type { Hook, HookEvent, Hooks } from '../../model/hooks.js';
import type { Project } from '../../util/project.js';

interface HookSurroundings {
  readonly project: Project;
  readonly config: Config;
  readonly flow: Flow;
  /** A hook that fails is a warning; the run is what it is. */
  readonly warn: (message: string) => void;
}

/** Which hook a status calls, beside `onEnd`. */
const EVENT_OF: Readonly<Partial<Record<RunStatus, HookEvent>>> = {
  success: 'onSuccess',
  failed: 'onFail',
  'over-budget': 'onFail',
  blocked: 'onBlocked',
  paused: 'onPaused',
};

/** Calls a run's hooks: those of the settings and those of the flow, each on its own. */
export class RunHooks {
  readonly #written: readonly Hooks[];
  #starting: Promise<void> = Promise.resolve();

  constructor(private readonly surroundings: HookSurroundings) {
    const { config, flow } = surroundings;
    this.#written = [config.hooks, flow.hooks].filter((hooks) => hooks !== undefined);
  }

  /** Goes on beside the run, which does not wait for it. */
  start(runId: string): void {
    const { flow, project } = this.surroundings;
    this.#starting = this.#call('onStart', runId, () => ({ flow: flow.name, startedAt: project.clock.now() }));
  }

  /** Its program has the run's mark: before what is left of a run is ended, it is waited for. */
  get started(): Promise<void> {
    return this.#starting;
  }

  /** Returns when all have answered or used up their time. */
  async end(runId: string, status: RunStatus, result: () => object): Promise<void> {
    await this.#starting;
    const event = EVENT_OF[status];
    if (event) await this.#call(event, runId, result);
    await this.#call('onEnd', runId, result);
  }

  async #call(event: HookEvent, runId: string, facts: () => object): Promise<void> {
    const hooks = this.#written.flatMap((written) => written[event] ?? []);
    if (hooks.length === 0) return;
    const body = `${JSON.stringify({ event, runId, ...facts() })}\n`;
    const { callHook } = await import('./call-hook.js');
    await Promise.all(
      hooks.map((hook) => this.#report(hook, callHook(hook, { event, runId, body }, this.surroundings.project))),
    );
  }

  async #report(hook: Hook, called: Promise<{ readonly failed: string } | undefined>): Promise<void> {
    const answer = await called;
    if (answer) this.surroundings.warn(`the hook ${nameOf(hook)} failed: ${answer.failed}`);
  }
}

/** Without what an address may hold: names and tokens. */
function nameOf(hook: Hook): string {
  if ('argv' in hook) return hook.argv.join(' ').slice(0, 80);
  return 'file' in hook ? hook.file : new URL(hook.url).origin;
}
