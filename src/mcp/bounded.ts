import { delay } from '../util/timer.js';
import { Gate } from './gate.js';
import type { Called, McpHost, ToolProblem } from './host.js';

const MOST_WAITING = 200;
/** Runs at once; each is a process with its own agents. */
const MOST_RUNS = 16;
/** How long commands may take to end in order when the client disconnects. */
const LONGEST_END_MS = 10_000;

export interface BoundedHost extends McpHost {
  /** Resolves when no command is under way in this process. */
  idle(): Promise<void>;
}

/** A host with limits, for clients that call more at once than a machine can do. */
export function bounded(host: McpHost): BoundedHost {
  const calls = new Gate(4, MOST_WAITING);
  const starts = new Gate(1, MOST_WAITING);
  const executions = new Gate(2, MOST_WAITING);
  const underWay = new Set<Promise<unknown>>();
  const through = async <T>(gate: Gate, work: () => Promise<T>): Promise<T | Called> => {
    const done = gate.through(work);
    underWay.add(done);
    const result = await done.finally(() => underWay.delete(done));
    return isProblem(result) ? refused(result.problem) : result;
  };
  return {
    ...host,
    call: (args) => through(calls, () => host.call(args)),
    execute: (args, watching) => through(executions, () => host.execute(args, watching)),
    // One after the other, so that each counts the one before it.
    start: (args) =>
      through(starts, async () => {
        const count = host.underWay();
        if (count < MOST_RUNS) return host.start(args);
        return refused(`${count} runs of this project are under way: wait for one, or cancel it`);
      }),
    async idle() {
      await Promise.race([Promise.allSettled(underWay), delay(LONGEST_END_MS, { ref: false })]);
    },
  };
}

function isProblem(result: unknown): result is ToolProblem {
  return typeof result === 'object' && result !== null && 'problem' in result;
}

function refused(stderr: string): Called {
  return { status: 2, stdout: '', stderr };
}
