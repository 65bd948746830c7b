import { join } from 'node:path';
import type { RunEvent } from '../../model/event.js';
import { textPieces } from '../../run/core/output-text.js';
import type { RunResult } from '../../run/core/result.js';
import { lastCosts } from '../../run/history/last-costs.js';
import { lastRunId } from '../../run/history/runs-folder.js';
import type { Invocation } from '../boot/command.js';
import { LineBuffer } from '../terminal/line-buffer.js';
import { eventLine } from '../text/event-line.js';
import { createRunView, type RunDisplay } from '../view/run-view.js';
import { exitStatusOf } from './run-status.js';

/** Shows a run to a person or a program. */
interface Showing {
  readonly view: RunDisplay;
  readonly onEvent: (event: RunEvent) => void;
  /** Writes everything that was held back, and the closing summary. */
  end(): void;
}

export function showingRun({ flags, out, err, project }: Invocation, flowId: string): Showing {
  // Looked up before the start, which makes this run the last one of the flow.
  const lastRun = err.isLive ? lastRunId(project, flowId) : undefined;
  const usual = () => new Map([...lastCosts(project, lastRun)].map(([id, { ms }]) => [id, ms]));
  const view = createRunView({ out: err, clock: project.clock, quiet: flags.boolean('quiet'), usual });
  const events = flags.boolean('events') ? new LineBuffer(out) : undefined;
  return {
    view,
    onEvent: (event) => {
      events?.add(eventLine(event));
      view.onEvent(event);
    },
    end: () => {
      events?.flush();
      view.stop();
    },
  };
}

/** Prints the result on stdout in the form that the flags name; returns the exit status. */
export function printResult({ flags, out, project }: Invocation, result: RunResult): number {
  const { output, outputFile } = result;
  if (flags.boolean('json')) out.write(`${JSON.stringify(result)}\n`);
  else if (!flags.boolean('events') && result.status === 'success' && output !== '') {
    if (outputFile) printFile(out, join(project.root, outputFile.path));
    else out.write(output.endsWith('\n') ? output : `${output}\n`);
  }
  return exitStatusOf(result);
}

/** A large output is never in memory as a whole. */
function printFile(out: Invocation['out'], path: string): void {
  for (const piece of textPieces(path)) out.write(piece);
  out.write('\n');
}

/** `--junit`, or inside a job of GitHub Actions. */
export function wantsReports({ flags, project }: Invocation): boolean {
  return flags.string('junit') !== undefined || project.env['GITHUB_ACTIONS'] === 'true';
}
