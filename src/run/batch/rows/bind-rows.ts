import type { ArgSpec } from '../../../model/flow.js';
import type { JsonObject, JsonValue } from '../../../model/json.js';
import { bindArgs, suggestArguments } from '../../../plan/args.js';
import { canonicalEncode } from '../../../util/canonical.js';
import { sha256Hex } from '../../../util/digest.js';
import { plural } from '../../../util/format.js';
import { nearestName } from '../../../util/nearest.js';
import type { Project } from '../../../util/project.js';
import { oneLine } from '../../../util/terminal-text.js';
import { publicArgs } from '../../core/secrets.js';
import type { RawRow, RowFormat, RowProblem } from './raw-row.js';

/** One row whose arguments fit the flow. */
export interface BatchRow {
  /** Position among the rows, from 1. */
  readonly row: number;
  readonly line: number;
  /** What people call it: its topic, or what comes nearest. */
  readonly label: string;
  readonly args: JsonObject;
  /** As they may be written: secrets by name only. */
  readonly publicArgs: JsonObject;
  /** Names its scope by its content, not its position: an inserted row moves no other. */
  readonly place: string;
}

export type BoundRows =
  | { readonly rows: readonly BatchRow[]; readonly warnings: readonly string[] }
  | { readonly problems: readonly RowProblem[] };

interface BindRowsOptions {
  readonly specs: Readonly<Record<string, ArgSpec>>;
  readonly project: Pick<Project, 'root'>;
  readonly format: RowFormat;
  /** The argument that names a row, and the only one of a row that is a bare value. */
  readonly as: string;
  /** Given for all rows and bound already; a row's own value goes before. */
  readonly common?: JsonObject;
}

/** Fits every row to the flow's arguments; all problems of all rows at once. */
export async function bindRows(raw: readonly RawRow[], options: BindRowsOptions): Promise<BoundRows> {
  const { specs, project, format, common = {} } = options;
  const source = format === 'txt' || format === 'csv' || format === 'tsv' ? 'text' : 'json';
  const problems: RowProblem[] = [];
  const unknown = new Map<string, number>();
  const counts = new Map<string, number>();
  const rows: BatchRow[] = [];
  for (const { line, values } of raw) {
    const known: Record<string, JsonValue> = {};
    for (const [name, value] of Object.entries(values)) {
      if (Object.hasOwn(specs, name)) known[name] = value;
      else unknown.set(name, (unknown.get(name) ?? 0) + 1);
    }
    const bound = bindArgs(without(specs, common, known), known, { root: project.root, source });
    if ('problems' in bound) {
      for (const { message } of await suggestArguments(bound.problems, specs)) problems.push({ line, message });
      continue;
    }
    const args = { ...common, ...bound.args };
    const shown = publicArgs(specs, args);
    const digest = sha256Hex(canonicalEncode(shown)).slice(0, 12);
    const before = counts.get(digest) ?? 0;
    counts.set(digest, before + 1);
    const row = rows.length + 1;
    rows.push({
      row,
      line,
      label: labelOf(shown, options) ?? `row ${row}`,
      args,
      publicArgs: shown,
      place: before === 0 ? digest : `${digest}-${before + 1}`,
    });
  }
  if (problems.length > 0) return { problems };
  return { rows, warnings: await unknownColumns(unknown, raw.length, specs) };
}

/** What a row still has to say: an argument that is given for all rows may be missing in one. */
function without(
  specs: Readonly<Record<string, ArgSpec>>,
  common: JsonObject,
  known: JsonObject,
): Readonly<Record<string, ArgSpec>> {
  const names = Object.keys(common).filter((name) => !Object.hasOwn(known, name));
  if (names.length === 0) return specs;
  return Object.fromEntries(Object.entries(specs).filter(([name]) => !names.includes(name)));
}

/** Its topic, else the first argument that is a text or a number. */
function labelOf(args: JsonObject, { as, specs }: BindRowsOptions): string | undefined {
  for (const name of [as, ...Object.keys(specs)]) {
    const value = args[name];
    if (specs[name]?.secret || (typeof value !== 'string' && typeof value !== 'number')) continue;
    const label = oneLine(String(value));
    if (label !== '') return label;
  }
  return undefined;
}

async function unknownColumns(
  unknown: ReadonlyMap<string, number>,
  total: number,
  specs: Readonly<Record<string, ArgSpec>>,
): Promise<string[]> {
  const warnings: string[] = [];
  for (const [name, count] of unknown) {
    const nearest = await nearestName(name, Object.keys(specs));
    const where = count === total ? 'every row' : plural(count, 'row');
    const advice = nearest === undefined ? '' : ` (did you mean "${nearest}"?)`;
    warnings.push(`the flow has no argument "${oneLine(name)}"${advice}: ignored in ${where}`);
  }
  return warnings;
}
