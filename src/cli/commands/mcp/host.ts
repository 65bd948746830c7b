import { resolve } from 'node:path';
import { isFlowPath } from '../../../check/find-flow.js';
import type { Called, McpHost } from '../../../mcp/host.js';
import { killAllNow, runProcess } from '../../../process/run-process.js';
import { waitingApprovals } from '../../../run/history/decide-approval.js';
import { followRun } from '../../../run/history/follow-run.js';
import { listRuns } from '../../../run/history/list-runs.js';
import { isReallyInside } from '../../../util/inside.js';
import { LineSplitter } from '../../../util/lines.js';
import type { CallCommand, Invocation } from '../../boot/command.js';
import { findRun } from '../../load/run-ref.js';
import { whoDecides } from '../../run/decide.js';
import { startAlone } from '../../run/detach.js';
import { captureWriter } from '../../terminal/capture.js';

/** Newest runs that are checked for being under way. */
const LOOKED_AT = 200;
const LONGEST_LINE = 100_000;

/** What the command line lends to the server. */
export function mcpHost(invocation: Invocation, call: CallCommand): McpHost {
  const { project, cwd } = invocation;
  const here = ['--cwd', cwd, '--root', project.root];
  return {
    user: whoDecides(project),
    call,
    execute: async (args, { signal, onLine }) => {
      const argv = [process.execPath, process.argv[1]!, ...here, ...args];
      const lines = new LineSplitter(LONGEST_LINE);
      const onStderr = (chunk: Buffer) => lines.push(chunk).forEach((line) => void onLine(line));
      const request = { argv, cwd, env: project.env, signal, onStderr };
      const { stdout, stderrTail, exitCode, failure } = await runProcess(request);
      const stderr = exitCode === null ? (failure?.message ?? '') : stderrTail;
      return { status: exitCode ?? 1, stdout: stdout.toString('utf8'), stderr };
    },
    killAll: killAllNow,
    start: (args) => start(invocation, [...here, ...args]),
    follow: (runId, signal) => followRun(project, runId, { wait: true, signal }),
    underWay: () => listRuns(project, { limit: LOOKED_AT }).filter(({ state }) => state === 'running').length,
    questions: (run) => {
      const found = findRun(project, run);
      if ('problem' in found) return { problem: `${found.problem}\n${found.hint}` };
      const waiting = waitingApprovals(project, found.runId).map(({ phase, text, digest, decided }) => {
        return { phase, text, digest, ...(decided && { decided: decided.decision }) };
      });
      return { runId: found.runId, waiting };
    },
    flowProblem: (flow) => {
      if (!isFlowPath(flow) || isReallyInside(project.root, resolve(cwd, flow))) return undefined;
      return `${flow} is outside of the project ${project.root}: this server serves that project only`;
    },
  };
}

async function start(invocation: Invocation, args: readonly string[]): Promise<{ readonly runId: string } | Called> {
  const [out, err] = [captureWriter(), captureWriter()];
  const started = await startAlone({ ...invocation, command: args[4]!, out, err }, args);
  return 'runId' in started ? started : { ...started, stdout: out.text(), stderr: err.text() };
}
