import type { RunOptions } from '../../run/core/options.js';
import { onAbort } from '../../util/on-abort.js';
import type { Invocation } from '../boot/command.js';
import { EXIT } from '../errors/exit-status.js';
import { complain } from '../errors/problem.js';
import { type Interrupt, listenForInterrupts } from './interrupt.js';
import { runFlowCommand } from './run-flow.js';
import { FileWatch } from './watch-files.js';
import { WatchedInputs } from './watch-inputs.js';
import { ChangesInARow, notDeclared, outputGlobs, tracesOf } from './watch-own.js';
import { changedLine, tooOftenLine, WAITING_LINE } from './watch-text.js';

/** `run --watch`: the same command again whenever something has changed that the flow looks at. */
export async function watchFlow(invocation: Invocation): Promise<number> {
  const conflict = contradiction(invocation);
  if (conflict) return complain(invocation, conflict);
  const watch = new Watch(invocation);
  try {
    return await watch.run();
  } finally {
    await watch.close();
  }
}

function contradiction({ flags }: Invocation): string | undefined {
  if (flags.boolean('detach')) return '--watch and --detach contradict each other: a watch stays in its terminal';
  if (flags.string('args-file') === '-') return '--args-file - can be read only once: --watch needs a file';
  return undefined;
}

class Watch {
  readonly #files: FileWatch;
  readonly #inputs: WatchedInputs;
  readonly #inARow = new ChangesInARow();
  readonly #interrupt: Interrupt;
  /** Shows an interrupt while a run is under way. */
  #say: ((line: string) => void) | undefined;
  #restart = new AbortController();
  #outputs: readonly string[] = [];
  #isRunning = false;
  #changed = new Set<string>();
  #wake = () => {};
  /** The run that has begun side effects, which must not be fired again. */
  #continued: string | undefined;

  constructor(private readonly invocation: Invocation) {
    const { project, err } = invocation;
    this.#inputs = new WatchedInputs(invocation);
    this.#files = new FileWatch({
      project,
      onChange: (paths) => this.#noteChange(paths),
      onProblem: (message) => err.write(`taskflow run: cannot watch everything: ${message}\n`),
    });
    this.#interrupt = listenForInterrupts((line) => this.#say?.(line));
  }

  async run(): Promise<number> {
    const { signal } = this.#interrupt;
    for (let isFirst = true; ; isFirst = false) {
      await this.#inputs.beforeLoad();
      await this.#watchInputs();
      const status = await this.#runOnce();
      if (signal.aborted) return EXIT.interrupted;
      // Only another command line can help.
      if (isFirst && status === EXIT.usage && !(await this.#inputs.canBeMended())) return status;
      await this.#watchInputs();
      const changed = await this.#nextChanges();
      if (signal.aborted) return EXIT.interrupted;
      this.#announce(changed);
    }
  }

  async close(): Promise<void> {
    this.#interrupt.dispose();
    await this.#files.close();
  }

  #watchInputs(): Promise<void> {
    return this.#files.watch(() => this.#inputs.paths());
  }

  async #runOnce(): Promise<number> {
    this.#restart = new AbortController();
    this.#isRunning = true;
    const made = new Set<string>();
    const { project } = this.invocation;
    const status = await runFlowCommand(this.invocation, {
      continued: this.#continued,
      onLoaded: (loaded, configured) => this.#inputs.loaded(loaded, configured),
      beforeRun: (options) => this.#prepare(options),
      listen: (say) => this.#listen(say),
      onResult: ({ runId }) => {
        const traces = tracesOf(project, runId);
        for (const path of traces.made) made.add(path);
        if (traces.acted) this.#continued = runId;
      },
    });
    // Only now the last writes of the run are noticed.
    await this.#files.settle();
    const changed = [...this.#changed];
    const own = [...made, ...this.#inputs.written()];
    // A change that ended the run starts it again, even if the run made it.
    const counting = this.#restart.signal.aborted ? changed : await notDeclared(project, changed, own);
    for (const path of changed) if (!counting.includes(path)) this.#changed.delete(path);
    this.#isRunning = false;
    this.#inARow.runEnded(counting);
    return status;
  }

  async #prepare(options: RunOptions): Promise<RunOptions> {
    this.#outputs = outputGlobs(options.flow);
    const more = this.#inputs.lookingAt(options, () => void this.#watchInputs());
    await this.#watchInputs();
    return { ...options, ...more };
  }

  #listen(say: (line: string) => void): Interrupt {
    this.#say = say;
    return {
      signal: AbortSignal.any([this.#interrupt.signal, this.#restart.signal]),
      dispose: () => {
        this.#say = undefined;
      },
    };
  }

  async #noteChange(paths: readonly string[]): Promise<void> {
    const wasRunning = this.#isRunning;
    const counting = wasRunning ? await notDeclared(this.invocation.project, paths, this.#outputs) : paths;
    for (const path of counting) this.#changed.add(path);
    if (!wasRunning) this.#inARow.edited(paths);
    if (counting.length > 0) this.#wake();
    const ending = counting.filter((path) => this.#inARow.mayRestart(path) && !this.#inputs.wasWritten(path));
    if (!this.#restarts || !wasRunning || ending.length === 0 || this.#restart.signal.aborted) return;
    this.#say?.(changedLine(this.invocation.project.root, ending, 'starting again'));
    this.#restart.abort();
  }

  get #restarts(): boolean {
    return this.invocation.flags.string('watch') === 'restart';
  }

  /** The changes since the run began; waits for an edit if there are none. */
  async #nextChanges(): Promise<readonly string[]> {
    const { project } = this.invocation;
    const again = (path: string) => this.#inARow.mayRunAgain(path, this.#restarts);
    const tooOften = [...this.#changed].filter((path) => !again(path));
    if (tooOften.length > 0) this.#write(tooOftenLine(project.root, tooOften));
    for (const path of tooOften) this.#changed.delete(path);
    if (this.#changed.size === 0) {
      this.#write(WAITING_LINE);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        onAbort(this.#interrupt.signal, resolve);
      });
    }
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  /** A terminal shows the last run alone. */
  #announce(changed: readonly string[]): void {
    const { err, project, flags } = this.invocation;
    if (err.isLive && !flags.boolean('quiet')) err.draw('\u001b[2J\u001b[H');
    this.#write(changedLine(project.root, changed, 'running again'));
  }

  #write(line: string): void {
    if (!this.invocation.flags.boolean('quiet')) this.invocation.err.write(`${line}\n`);
  }
}
