import { isJsonObject, type JsonValue } from '../../../model/json.js';
import { parseJson } from '../../../parse/json.js';
import { Source } from '../../../parse/source.js';
import type { TreeNode } from '../../../parse/tree.js';
import { fromValue } from './from-value.js';
import type { RawRow, RawRows, ReadRowsOptions, RowProblem } from './raw-row.js';

/** A JSON or YAML list of rows, bare or under `rows`; with the line of each. */
export async function readList(text: string, format: 'json' | 'yaml', { as }: ReadRowsOptions): Promise<RawRows> {
  const parsed =
    format === 'json' ? await parseJson(text) : await (await import('../../../parse/yaml.js')).parseYaml(text);
  const source = new Source('', text);
  const lineOf = (offset: number) => source.position(offset).line;
  if ('problems' in parsed) {
    const problems = parsed.problems.map(({ offset, message, hint }) => ({ line: lineOf(offset), message, hint }));
    return { rows: [], problems };
  }
  const list = listIn(parsed.value);
  if (list === undefined) {
    const hint = 'write a list of objects, one for each row';
    return parsed.value === null
      ? { rows: [], problems: [] }
      : { rows: [], problems: [{ line: 1, message: 'the file holds no list of rows', hint }] };
  }
  const items = listNode(await parsed.tree());
  const rows: RawRow[] = [];
  const problems: RowProblem[] = [];
  for (const [index, value] of list.entries()) {
    const line = lineOf(items[index]?.start ?? 0);
    const row = fromValue(value, as);
    if ('problem' in row) problems.push({ line, message: row.problem });
    else rows.push({ line, values: row.values });
  }
  return { rows, problems };
}

function listIn(value: JsonValue): readonly JsonValue[] | undefined {
  if (Array.isArray(value)) return value;
  const inside = isJsonObject(value) ? value['rows'] : undefined;
  return Array.isArray(inside) ? inside : undefined;
}

function listNode(tree: TreeNode): readonly TreeNode[] {
  if (tree.type === 'list') return tree.items;
  const inside = tree.type === 'map' ? tree.entries.find(({ key }) => key === 'rows')?.value : undefined;
  return inside?.type === 'list' ? inside.items : [];
}
