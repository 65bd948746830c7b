import { setTimeout as pause } from 'node:timers/promises';
import type { RunResult } from '../../src/run/core/result.js';
import { runCli } from './cli.js';
import { startCli } from './live-cli.js';
import type { Rig } from './rig.js';

/** What `run --json` came to. */
export interface Ran {
  readonly status: number | null;
  readonly result: RunResult;
}

/** `taskflow ARGS… --json` in a process of its own. */
export async function ranCli(rig: Rig, args: readonly string[]): Promise<Ran> {
  const { status, stdout, stderr } = await runCli([...args, '--json'], { cwd: rig.root });
  if (stdout === '') throw new Error(`no result (status ${status}): ${stderr}`);
  return { status, result: JSON.parse(stdout) as RunResult };
}

/** Starts the command and kills it outright once all of these names have been seen. */
export async function crashCli(rig: Rig, args: readonly string[], names: readonly string[]): Promise<void> {
  const live = startCli(args, { cwd: rig.root });
  const end = Date.now() + 20_000;
  while (!names.every((name) => rig.executions().includes(name))) {
    if (Date.now() > end) throw new Error(`never saw ${names.join(', ')}: ${live.stderr()}`);
    await pause(5);
  }
  live.kill('SIGKILL');
  await live.done;
}
