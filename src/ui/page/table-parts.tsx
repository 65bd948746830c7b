import type { ComponentChildren } from 'preact';

/** The head of a table: its columns, those of numbers last. */
export function Columns({
  names,
  numbers,
}: {
  readonly names: readonly string[];
  readonly numbers: readonly string[];
}) {
  return (
    <thead>
      <tr>
        {names.map((name) => (
          <th key={name} scope="col">
            {name}
          </th>
        ))}
        {numbers.map((name) => (
          <th key={name} scope="col" class="number">
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** A cell of a column of numbers; its name is shown where the table is too narrow for a head. */
export function NumberCell({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <td class="number" data-name={name}>
      {children}
    </td>
  );
}

/** Names with their values. */
export function Facts({ of }: { readonly of: readonly (readonly [name: string, value: string])[] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
