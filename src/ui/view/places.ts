/** Where a line of the journal belongs: which phase of the flow, in which row, and where inside. */
interface Place {
  readonly phase: string;
  /** `rows/<digest>`, of a batch. */
  readonly row?: string;
  /** The part of the phase: `inner`, `[3]/inner`, `item 3`. Empty for the phase itself. */
  readonly inside: string;
}

const ROWS = /^(rows\/[^/]+)\/(.+)$/s;
const FIRST = /^([^/[]+)\/?(.*)$/s;

export function placeOf(path: string, unit: string | undefined): Place {
  const [, row, below = path] = ROWS.exec(path) ?? [];
  const [, phase = below, rest = ''] = FIRST.exec(below) ?? [];
  const inside = unit === undefined ? rest : rest === '' ? unit : `${rest} ${unit}`;
  return { phase, inside, ...(row !== undefined && { row }) };
}
