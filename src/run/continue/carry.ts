import { StoredOutput } from '../../model/output.js';
import type { ChildIdentity } from '../../process/process.js';
import type { Project } from '../../util/project.js';
import { linkOutput, outputsBeside, writeOutputs } from '../core/output-folder.js';
import { inFolder } from '../core/stored-writer.js';
import { endLeftovers } from '../execute/leftovers.js';
import { clearedIn } from '../history/cleared-results.js';
import type { RunHead } from '../history/run-head.js';
import { journalOf } from '../history/runs-folder.js';
import type { JournalLine, ResultLine, RunLine } from '../journal/lines.js';
import { readLines } from '../journal/reader.js';
import type { JournalWriter } from '../journal/writer.js';
import { changedSinceRun } from './changed-since.js';
import { PriorResults } from './prior-results.js';
import { carriedName, Survey } from './survey.js';

interface CarryOptions {
  readonly how: 'auto' | 'resume';
  readonly journal: JournalWriter;
  /** What the flow is made of: an edit there is no change around it. */
  readonly flowFiles: readonly string[] | undefined;
}

/**
 * Copies into a new journal what it needs of the run that it continues, so that each journal is complete in itself and
 * the old one is never changed. Processes that the old run left behind are ended first.
 */
export async function carryOver(
  project: Project,
  previous: RunHead,
  { how, journal, flowFiles }: CarryOptions,
): Promise<PriorResults> {
  const prior = new PriorResults({
    how,
    runId: previous.runId,
    journal: journal.path,
    changedSince: (runId, around) => changedSinceRun(project, runId, { flowFiles, around }),
  });
  const children = new Map<number, ChildIdentity>();
  carryInto(journal, prior, {
    from: previous.runId,
    at: project.clock.now(),
    read: () => watched(project, previous.runId, children),
  });
  if (previous.state !== 'crashed' || children.size === 0) return prior;
  const { endSurvivors } = await import('../../process/end-tree.js');
  await endSurvivors([...children.values()], previous.run.owner);
  await endLeftovers(previous.runId, previous.run.owner);
  return prior;
}

function* watched(project: Project, runId: string, children: Map<number, ChildIdentity>): Generator<JournalLine> {
  const isCleared = clearedIn(project, runId);
  for (const { line } of readLines(journalOf(project, runId))) {
    if (isCleared(line)) continue;
    if (line.type === 'child') {
      children.set(line.pid, { pid: line.pid, startTicks: line.startTicks, mark: line.mark });
    }
    yield line;
  }
}

/** What a checkpoint brings; `outputs` are the files of large outputs, in base64. */
export interface CarriedLines {
  readonly runId: string;
  readonly run?: RunLine;
  readonly lines: readonly JournalLine[];
  readonly outputs?: Readonly<Record<string, string>>;
}

/** The same from a checkpoint. It may come from another machine: there are no processes to end, no files to compare. */
export function carryLines(
  { runId, run, lines, outputs = {} }: CarriedLines,
  journal: JournalWriter,
  at: number,
): PriorResults {
  const prior = new PriorResults({ how: 'checkpoint', runId, journal: journal.path });
  writeOutputs(outputsBeside(journal.path), outputs);
  carryInto(journal, prior, { from: runId, at, read: () => (run ? [run, ...lines] : lines) });
  return prior;
}

function carryInto(
  journal: JournalWriter,
  prior: PriorResults,
  { from, at, read }: { readonly from: string; readonly at: number; readonly read: () => Iterable<JournalLine> },
): void {
  journal.write({ type: 'carried-begin', at, from }, 'held');
  for (const line of linesToCarry(read, prior)) {
    // A result whose large output is gone is none.
    const carried = withOutputBeside(line, journal.path);
    if (!carried) continue;
    const place = journal.write(carried, 'held');
    if (isResult(carried)) prior.keep(carried, place);
  }
  journal.write({ type: 'carried-end', at, from });
}

/** The line, with its large output beside the new journal too. */
function withOutputBeside(line: JournalLine, journal: string): JournalLine | undefined {
  if (!isResult(line) || !(line.output instanceof StoredOutput)) return line;
  const folder = outputsBeside(journal);
  // A checkpoint's outputs are there already.
  const output = linkOutput(line.output.in(inFolder(folder)), folder) ?? linkOutput(line.output, folder);
  return output && { ...line, output };
}

/**
 * The lines of a run that a run which continues it needs: results, each once, then what is still open. `prior` collects
 * the rest on the way. The journal is read two times: what a run did with a carried result comes after that result.
 */
export function* linesToCarry(read: () => Iterable<JournalLine>, prior: PriorResults): Generator<JournalLine> {
  const carried = new Set<string>();
  const survey = new Survey(read());
  let from: string | undefined;
  for (const line of read()) {
    prior.collect(line);
    if (line.type === 'carried-begin') from = line.from;
    if (line.type === 'carried-end') from = undefined;
    if (line.type === 'rejected') yield line;
    if (!isResult(line)) continue;
    const name = carriedName(line);
    if (line.hit === 'run' && carried.has(name)) continue;
    carried.add(name);
    yield from === undefined ? line : { ...line, ...survey.validityOf(line, from) };
  }
  yield* prior.openLines();
}

/** A result that can be reused. */
export function isResult(line: JournalLine): line is ResultLine {
  return (line.type === 'unit' || line.type === 'phase') && line.status === 'done';
}
