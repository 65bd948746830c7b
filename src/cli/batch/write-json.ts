import type { BatchResult, RowResult } from '../../run/batch/result.js';
import type { Writer } from '../boot/command.js';
import { JsonList } from '../text/json-list.js';

/** One JSON object, written piece by piece: all outputs of a large batch together would not fit into memory. */
export function writeBatchJson(out: Pick<Writer, 'write'>, result: BatchResult): void {
  const { outputOf, rows, ...facts } = result;
  const shown = ({ args, status, ...rest }: RowResult) => {
    const output = outputOf(rest.row);
    const said = {
      output: output?.text ?? '',
      json: output?.json ?? null,
      base64: output?.base64,
      outputFile: output?.file,
    };
    return { args, status, ...said, ...rest };
  };
  writeRows(out, facts, { rows, shown });
}

/** `{…facts, rows: […]}`. */
export function writeRows<T>(
  out: Pick<Writer, 'write'>,
  facts: object,
  { rows, shown }: { readonly rows: readonly T[]; readonly shown: (row: T) => object },
): void {
  const list = new JsonList(out, `${JSON.stringify(facts).slice(0, -1)},"rows":[`);
  for (const row of rows) list.add(JSON.stringify(shown(row)));
  list.end(']}');
}
