import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Flow } from '../../model/flow.js';
import type { JsonObject, JsonValue } from '../../model/json.js';
import { type BoundRows, bindRows } from '../../run/batch/rows/bind-rows.js';
import { fromValue } from '../../run/batch/rows/from-value.js';
import type { RawRow, RowFormat, RowProblem } from '../../run/batch/rows/raw-row.js';
import { readRows } from '../../run/batch/rows/read-rows.js';
import { bareArgument } from '../../run/batch/rows/row-arguments.js';
import { formatOfName, sniffFormat } from '../../run/batch/rows/row-format.js';
import type { Project } from '../../util/project.js';

interface RowsOfCase {
  readonly over: string | readonly unknown[];
  readonly as?: string | undefined;
  /** Of the test file: what `over` is relative to. */
  readonly folder: string;
  readonly flow: Flow;
  readonly project: Pick<Project, 'root'>;
  /** Bound arguments for all rows. */
  readonly common: JsonObject;
}

/** The rows of a case, fitted to its flow. The line of a row in a list is its place there, from 1. */
export async function rowsOfCase({ over, folder, flow, project, common, ...options }: RowsOfCase): Promise<BoundRows> {
  const as = options.as ?? bareArgument(flow.args);
  const raw = typeof over === 'string' ? await fromFile(resolve(folder, over), flow, as) : fromList(over, flow, as);
  if (raw.problems.length > 0) return { problems: raw.problems };
  return bindRows(raw.rows, { specs: flow.args, project, format: raw.format, as, common });
}

interface Raw {
  readonly rows: readonly RawRow[];
  readonly problems: readonly RowProblem[];
  readonly format: RowFormat;
}

async function fromFile(path: string, flow: Flow, as: string): Promise<Raw> {
  const bytes = readFileSync(path);
  const format = formatOfName(path) ?? sniffFormat(bytes.toString('utf8', 0, 65_536), Object.keys(flow.args));
  return { ...(await readRows(bytes, format, { as })), format };
}

function fromList(over: readonly unknown[], flow: Flow, as: string): Raw {
  const rows: RawRow[] = [];
  const problems: RowProblem[] = [];
  for (const [index, value] of over.entries()) {
    const line = index + 1;
    const read = fromValue(value as JsonValue, as);
    if ('problem' in read) problems.push({ line, message: read.problem });
    else if (typeof value !== 'object' && !Object.hasOwn(flow.args, as)) {
      problems.push({ line, message: `the flow has no argument "${as}"`, hint: 'name one with "as"' });
    } else rows.push({ line, values: read.values });
  }
  return { rows, problems, format: 'json' };
}
