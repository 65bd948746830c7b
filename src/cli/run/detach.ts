import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startDetached } from '../../process/start-detached.js';
import { journalOf, makeRunFolder, newRunId, removeRun, runFolder } from '../../run/history/runs-folder.js';
import { readRunLine } from '../../run/journal/reader.js';
import { delay } from '../../util/timer.js';
import { whyUnwritable } from '../../util/why-unwritable.js';
import type { Invocation } from '../boot/command.js';
import { EXIT } from '../errors/exit-status.js';
import { complain } from '../errors/problem.js';
import { createStyle } from '../terminal/style.js';
import { adviceLines } from '../text/advice.js';

const LOOK_MS = 20;

/** `--detach`: the same command in a process of its own. Returns once the run has begun, or could not. */
export async function detach(invocation: Invocation): Promise<number> {
  const problem = contradiction(invocation);
  if (problem !== undefined) return complain(invocation, problem);
  const args = process.argv.slice(2).filter((word) => word !== '--detach' && word !== '--json');
  const started = await startAlone(invocation, args);
  if ('status' in started) return started.status;
  report(invocation, started.runId);
  return EXIT.success;
}

/** `args`: a command line that runs, continues or repeats something. */
export async function startAlone(
  invocation: Invocation,
  args: readonly string[],
): Promise<{ readonly runId: string } | { readonly status: number }> {
  const { project } = invocation;
  const runId = newRunId(project.clock.now());
  makeRunFolder(project, runId);
  const path = join(runFolder(project, runId), 'detached.log');
  let log: number;
  try {
    log = openSync(path, 'a', 0o600);
  } catch (error) {
    return { status: complain(invocation, `a detached run needs a journal: ${whyUnwritable(error)}`) };
  }
  const program = [process.execPath, process.argv[1]!];
  // Words after `--` are not flags.
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const argv = [...program, ...args.slice(0, end), '--detached-as', runId, ...args.slice(end)];
  const started = await startDetached({ argv, cwd: process.cwd(), env: project.env, log });
  closeSync(log);
  if ('failed' in started) return { status: complain(invocation, started.failed) };
  let status: number | undefined;
  void started.ended.then((code) => {
    status = code;
  });
  while (!readRunLine(journalOf(project, runId))) {
    if (status !== undefined) return { status: neverBegan(invocation, { runId, path, status }) };
    await delay(LOOK_MS);
  }
  return { runId };
}

function contradiction({ flags }: Invocation): string | undefined {
  if (flags.given().includes('dry-run')) return '--dry-run ends at once: there is nothing to detach';
  if (flags.boolean('events'))
    return '--detach prints the run id; its events are in: taskflow runs logs ID --events -f';
  const reads = ['args-file', 'over'].find((name) => flags.given().includes(name) && flags.string(name) === '-');
  return reads && `--${reads} - reads standard input, which a detached run does not have`;
}

/** The flow has problems, or the run was refused: passes on what the process printed. */
function neverBegan(
  { err, project }: Invocation,
  { runId, path, status }: Record<'runId' | 'path', string> & { status: number },
): number {
  err.write(readFileSync(path, 'utf8'));
  removeRun(project, runId);
  return status || EXIT.failed;
}

function report({ out, err, flags }: Invocation, runId: string): void {
  if (flags.boolean('json')) {
    out.write(`${JSON.stringify({ runId })}\n`);
    return;
  }
  out.write(`${runId}\n`);
  const style = createStyle(err.color);
  const columns = err.isTerminal ? err.columns : undefined;
  const advice = adviceLines(
    [
      [`taskflow runs attach ${runId}`, 'shows how it goes'],
      [`taskflow runs wait ${runId}`, 'returns when it has ended, with its status'],
      [`taskflow runs cancel ${runId}`, 'ends it'],
    ],
    { style, columns },
  );
  if (!flags.boolean('quiet')) err.write(`${advice.join('\n')}\n`);
}
