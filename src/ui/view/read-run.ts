import { relative, sep } from 'node:path';
import { runHead } from '../../run/history/run-head.js';
import { isRunId, journalOf } from '../../run/history/runs-folder.js';
import { readLines } from '../../run/journal/reader.js';
import type { Project } from '../../util/project.js';
import { ViewBuilder } from './build-view.js';
import { Details } from './details.js';
import { TextBudget } from './text.js';
import type { Detail, RunView } from './types.js';

/** Characters of all texts of one page: of the phases, of everything inside of them, and of the rest. */
const [OF_PHASES, OF_UNITS, OF_RUN] = [4_000_000, 8_000_000, 1_000_000];

export interface ReadOptions {
  /** Takes secrets out of a text. Journals have none; settings may name some since. */
  mask?(text: string): string;
  /** False: contents are left out. By default they are read. */
  readonly outputs?: boolean;
}

/** A run from its journal, line by line; undefined when there is no such run. */
export function readRunView(project: Project, runId: string, options: ReadOptions = {}): RunView | undefined {
  return readRun(project, runId, { ...options, details: false })?.view;
}

export interface ReadRun {
  readonly view: RunView;
  readonly details: ReadonlyMap<string, Detail>;
}

/** The same with the long texts, as far as a page may hold them. */
export function readRun(
  project: Project,
  runId: string,
  { mask, outputs = true, details: wanted = true }: ReadOptions & { readonly details?: boolean } = {},
): ReadRun | undefined {
  const head = isRunId(runId) ? runHead(project, runId) : undefined;
  if (!head) return undefined;
  const builder = new ViewBuilder(head.run, { texts: new TextBudget(OF_RUN, mask), outputs });
  const details = new Details({
    phases: new TextBudget(OF_PHASES, mask),
    units: new TextBudget(OF_UNITS, mask),
    outputs,
    fileName: (path) => relative(project.root, path).split(sep).join('/'),
  });
  let carrying = false;
  for (const { line } of readLines(journalOf(project, runId))) {
    if (line.type === 'carried-begin' || line.type === 'carried-end') carrying = line.type === 'carried-begin';
    builder.add(line);
    if (wanted && !carrying) details.add(line);
  }
  return { view: builder.view(head), details: details.byName };
}
