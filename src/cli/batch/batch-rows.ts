import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Flow } from '../../model/flow.js';
import { type BatchRow, bindRows } from '../../run/batch/rows/bind-rows.js';
import type { RowFormat, RowProblem } from '../../run/batch/rows/raw-row.js';
import { readRows } from '../../run/batch/rows/read-rows.js';
import { bareArgument, commonSpecs } from '../../run/batch/rows/row-arguments.js';
import { formatOfName, sniffFormat } from '../../run/batch/rows/row-format.js';
import { plural } from '../../util/format.js';
import { isInside, relativePath } from '../../util/inside.js';
import { whyUnreadable } from '../../util/why-unreadable.js';
import type { Invocation } from '../boot/command.js';
import { complain, complainAll, refuse } from '../errors/problem.js';
import { givenArgs } from '../flags/given-args.js';
import { createStyle } from '../terminal/style.js';
import { warningLine } from '../view/plain.js';

interface ReadRows {
  readonly rows: readonly BatchRow[];
  readonly over: string;
  /** Already shown. */
  readonly warnings: readonly string[];
}

/** The rows that `--over` names, fitted to the flow; or the exit status after all their problems have been shown. */
export async function readBatchRows(
  invocation: Invocation,
  flow: Flow,
  pairs: readonly string[],
): Promise<ReadRows | { readonly status: number }> {
  const { flags, project } = invocation;
  const typed = flags.string('over')!;
  if (typed === '-' && flags.string('args-file') === '-') {
    return { status: complain(invocation, '--over - and --args-file - both want stdin') };
  }
  const common = await givenArgs(invocation, commonSpecs(flow.args), { pairs });
  if ('problems' in common) return { status: complainAll(invocation, common.problems) };
  const bytes = readInput(invocation, typed);
  if ('problem' in bytes) return { status: complain(invocation, bytes.problem) };
  const names = Object.keys(flow.args);
  const format =
    (flags.string('format') as RowFormat | undefined) ??
    formatOfName(typed) ??
    sniffFormat(bytes.toString('utf8', 0, 65_536), names);
  const as = flags.string('as') ?? bareArgument(flow.args);
  const raw = await readRows(bytes, format, { as });
  if (format === 'txt' && raw.rows.length > 0 && !names.includes(as)) {
    const hint =
      names.length === 0 ? 'it takes no arguments' : `name one of its arguments: --as ${names.join(', --as ')}`;
    return { status: complain(invocation, `the flow has no argument "${as}"`, hint) };
  }
  const bound = await bindRows(raw.rows, { specs: flow.args, project, format, as, common: common.args });
  const problems = [...raw.problems, ...('problems' in bound ? bound.problems : [])];
  if (problems.length > 0 || 'problems' in bound) return { status: complainAboutRows(invocation, typed, problems) };
  const style = createStyle(invocation.err.color);
  for (const warning of bound.warnings) invocation.err.write(`${warningLine(undefined, warning, style)}\n`);
  return { rows: bound.rows, over: rowListName(invocation, typed), warnings: bound.warnings };
}

function readInput({ cwd, stdin }: Invocation, typed: string): Buffer | { readonly problem: string } {
  if (typed === '-') {
    if (stdin.isTerminal) return { problem: '--over - reads rows from stdin, and stdin is this terminal' };
    return stdin.readAll();
  }
  try {
    return readFileSync(resolve(cwd, typed));
  } catch (error) {
    return { problem: `--over ${typed} cannot be read: ${whyUnreadable(error)}` };
  }
}

/** The name of the list: the same for one file, whatever the folder it is named from. */
export function rowListName({ cwd, project }: Invocation, typed: string): string {
  if (typed === '-') return '-';
  const path = resolve(cwd, typed);
  return isInside(project.root, path) ? relativePath(project.root, path) : path;
}

function complainAboutRows(invocation: Invocation, file: string, problems: readonly RowProblem[]): number {
  const shown = file === '-' ? 'stdin' : file;
  const sorted = [...problems].sort((a, b) => a.line - b.line);
  const lines = sorted.map(
    ({ line, message, hint }) => `${shown}:${line}: ${message}${hint === undefined ? '' : `\n  ${hint}`}`,
  );
  const count = plural(problems.length, 'problem');
  invocation.err.write(`${lines.join('\n')}\ntaskflow batch: ${count} in the rows of ${shown}; nothing was started\n`);
  return refuse(
    invocation,
    sorted.map((problem) => ({ ...problem, file: shown })),
  );
}
