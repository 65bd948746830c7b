import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { RunResult } from '../../src/run/core/result.js';
import { startCli } from './live-cli.js';

export interface Measured {
  readonly result: RunResult;
  /** The most memory that the command itself ever had, in MB. */
  readonly peak: number;
  readonly journalBytes: number;
}

/** Runs a flow file with `--json` and watches the memory of the command. */
export async function measuredRun(root: string, args: readonly string[]): Promise<Measured> {
  const live = startCli(['run', ...args, '--json'], { cwd: root });
  const peak = await peakOf(live.pid, live.done);
  const { stdout, stderr } = await live.done;
  if (stdout === '') throw new Error(stderr);
  const result = JSON.parse(stdout) as RunResult;
  return { result, peak, journalBytes: statSync(`${root}/.pi/taskflows/runs/${result.runId}/journal.jsonl`).size };
}

/** Runs a flow for its plain output: the digest of stdout, which is not kept. */
export async function measuredOutput(root: string, args: readonly string[]): Promise<{ digest: string; peak: number }> {
  const live = startCli(['run', ...args], { cwd: root });
  const hash = createHash('sha256');
  live.child.stdout!.removeAllListeners('data');
  live.child.stdout!.on('data', (chunk: string) => hash.update(chunk));
  const peak = await peakOf(live.pid, live.done);
  return { digest: hash.digest('hex'), peak };
}

async function peakOf(pid: number, done: Promise<unknown>): Promise<number> {
  let peak = 0;
  let over = false;
  const ended = done.finally(() => {
    over = true;
  });
  while (!over) {
    peak = Math.max(peak, peakMb(pid));
    await pause(10);
  }
  await ended;
  return peak;
}

/** The kernel remembers the most that a process ever had. */
function peakMb(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024;
  } catch {
    // It has ended.
    return 0;
  }
}
