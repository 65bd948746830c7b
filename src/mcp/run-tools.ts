import { Type } from '@sinclair/typebox';
import { startTimer } from '../util/timer.js';
import { readCalled } from './answer.js';
import { argFlags, flagWords } from './line.js';
import { ProgressNotifier } from './progress.js';
import { runState } from './run-answer.js';
import { ARGS, FLOW, input, PHASE, RUN, RUN_OUTPUT, WAIT } from './schemas.js';
import { LOOKS, type McpCall, type Tool, type ToolReply, tool } from './tool.js';

const RUNS = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true } as const;
const MONEY = Type.Number({ exclusiveMinimum: 0, description: 'stop starting work once this much is spent, in USD' });
const DEFAULT_WAIT = 30;

/** Tools that start a run, or wait for one. The run is a process of its own, which outlives the client. */
export const RUNNING: readonly Tool[] = [
  tool({
    name: 'run_flow',
    title: 'Run a flow',
    description: `Runs a flow, or continues its last unfinished run, and waits for its end for wait_seconds. If it is
still running then, the answer has its id for wait_run. Approvals are never given by this tool.`,
    input: input({
      flow: FLOW,
      args: Type.Optional(ARGS),
      wait_seconds: Type.Optional(WAIT),
      max_usd: Type.Optional(MONEY),
      fresh: Type.Optional(Type.Boolean({ description: 'never continue an unfinished run' })),
      refresh: Type.Optional(Type.Boolean({ description: 'compute everything again, and keep that' })),
      rerun: Type.Optional(Type.Array(PHASE, { maxItems: 100, description: 'phases to run again' })),
      until: Type.Optional(PHASE),
    }),
    output: RUN_OUTPUT,
    hints: RUNS,
    async answer({ flow, args, wait_seconds, max_usd, fresh, refresh, rerun, until }, call) {
      const flags = [...flagWords('max-usd', max_usd), ...flagWords('fresh', fresh), ...flagWords('refresh', refresh)];
      const parts = [...flagWords('rerun', rerun), ...flagWords('until', until), ...argFlags(args)];
      return startAndWait(['run', ...flags, ...parts, '--', flow], wait_seconds, call);
    },
  }),
  tool({
    name: 'resume_run',
    title: 'Go on with a run',
    description: 'Goes on with a run that stopped: what it completed is kept, approvals that were given are used.',
    input: input({
      run: RUN,
      wait_seconds: Type.Optional(WAIT),
      max_usd: Type.Optional(MONEY),
      rerun: Type.Optional(Type.Array(PHASE, { maxItems: 100, description: 'phases to run again' })),
    }),
    output: RUN_OUTPUT,
    hints: RUNS,
    async answer({ run, wait_seconds, max_usd, rerun }, call) {
      const flags = [...flagWords('max-usd', max_usd), ...flagWords('rerun', rerun)];
      return startAndWait(['resume', ...flags, '--', run], wait_seconds, call);
    },
  }),
];

export const WAIT_RUN: Tool = tool({
  name: 'wait_run',
  title: 'Wait for a run',
  description: 'Waits until a run has ended, at most wait_seconds, with progress on the way.',
  input: input({ run: RUN, wait_seconds: Type.Optional(WAIT) }),
  output: RUN_OUTPUT,
  hints: LOOKS,
  async answer({ run, wait_seconds }, call) {
    const found = call.host.questions(run);
    return 'problem' in found ? found : waitFor(found.runId, wait_seconds, call);
  },
});

async function startAndWait(line: readonly string[], seconds: number | undefined, call: McpCall): Promise<ToolReply> {
  const started = await call.host.start(line);
  if ('runId' in started) return waitFor(started.runId, seconds, call);
  return { problem: started.stderr.trim() || `it could not be started (status ${started.status})` };
}

/** The state of the run when it has ended, the time is over, or the client has cancelled the call. */
async function waitFor(runId: string, seconds = DEFAULT_WAIT, { host, context }: McpCall): Promise<ToolReply> {
  if (seconds > 0) {
    const over = new AbortController();
    const timer = startTimer(seconds * 1_000, () => over.abort());
    const progress = new ProgressNotifier(context);
    const signal = AbortSignal.any([over.signal, context.mcpReq.signal]);
    for await (const event of host.follow(runId, signal)) {
      await progress.event(event);
      if (signal.aborted) break;
    }
    clearTimeout(timer);
  }
  const read = readCalled(await host.call(['runs', 'show', '--json', '--', runId]));
  if ('problem' in read) return read;
  return { value: runState(read.json), whole: `taskflow runs show ${runId} --json` };
}
