import { delay } from '../util/timer.js';
import { Gate } from './gate.js';
import type { Called, McpHost, Problem } from './host.js';

const MOST_WAITING = 200;
/** Each is a process with agents of its own. */
const MOST_RUNS = 16;
/** What is under way when the client hangs up is ended in order, if that does not take too long. */
const LONGEST_END_MS = 10_000;

export interface BoundedHost extends McpHost {
  /** When nothing is under way any more in this process. */
  idle(): Promise<void>;
}

/** The same, for clients that call more at once than a machine can do. */
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
    // One after the other: each has to see the one before it.
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

function isProblem(result: unknown): result is Problem {
  return typeof result === 'object' && result !== null && 'problem' in result;
}

function refused(stderr: string): Called {
  return { status: 2, stdout: '', stderr };
}
