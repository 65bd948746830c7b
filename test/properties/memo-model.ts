/** A small language of flows, and a plain model of which of their phases execute: a map, and nothing of the engine. */

export type Node = {
  readonly id: string;
  readonly word: string;
  readonly files: readonly string[];
  readonly needs: readonly Need[];
} & (
  | { readonly kind: 'script' }
  | { readonly kind: 'map'; readonly items: readonly string[] }
  /** A flow that is kept as a whole; the two scripts in it are not. */
  | { readonly kind: 'nested' }
);

/** `quoted`: the output becomes an argument. Otherwise the phase only comes after it. */
export interface Need {
  readonly id: string;
  readonly quoted: boolean;
}

export type Files = Readonly<Record<string, string>>;

/** What `bin/step ID WORD FILES ARGS…` prints: of a file only the first character, so two contents may look alike. */
export function said(word: string, files: readonly string[], contents: Files, given: readonly string[]): string {
  const read = files.map((name) => contents[name]!.slice(0, 1)).join('');
  return [word, read, ...given].join('.');
}

export const STEP = `#!/bin/sh
bin/note "$1"
out=$2
for file in $3; do read=$read$(cut -c1 "$file"); done
out=$out.$read
shift 3
for given in "$@"; do out=$out.$given; done
printf '%s' "$out"
`;

export function phaseOf(node: Node): object {
  const quoted = node.needs.filter((need) => need.quoted).map((need) => `{steps.${need.id}.output}`);
  const dependsOn = node.needs.filter((need) => !need.quoted).map((need) => need.id);
  const fingerprint = node.files.map((name) => `file:${name}`);
  const step = (id: string, ...given: string[]) => ['bin/step', id, node.word, node.files.join(' '), ...given];
  const common = { id: node.id, dependsOn, cache: { scope: 'cross-run', fingerprint } };
  switch (node.kind) {
    case 'script':
      return { ...common, type: 'script', run: step(node.id, ...quoted) };
    case 'map':
      return { ...common, type: 'map', over: node.items, run: step(`${node.id}-{item}`, ...quoted, '{item}') };
    case 'nested': {
      const inner = { id: 'one', type: 'script', run: step(`${node.id}-one`, '{args.given}'), cache: { fingerprint } };
      const last = { id: 'two', type: 'script', run: ['bin/step', `${node.id}-two`, 'end', '', '{steps.one.output}'] };
      const def = { name: 'inner', args: { given: {} }, phases: [inner, last] };
      return {
        ...common,
        cache: { scope: 'cross-run', fingerprint: [] },
        type: 'flow',
        def,
        with: { given: quoted.join('+') },
      };
    }
  }
}

export interface Predicted {
  /** Names that `bin/step` notes. */
  readonly executed: readonly string[];
  readonly hits: ReadonlySet<string>;
  readonly outputs: Readonly<Record<string, string>>;
}

/** The store as a map from everything that decides a result to the result. */
export class Model {
  readonly #kept = new Map<string, { readonly phase: string; readonly output: string }>();

  run(nodes: readonly Node[], files: Files, { refresh = false } = {}): Predicted {
    const executed: string[] = [];
    const hits = new Set<string>();
    const outputs: Record<string, string> = {};
    const keys: Record<string, string> = {};
    const take = (phase: string, key: string, names: readonly string[], output: string): boolean => {
      const known = refresh ? undefined : this.#kept.get(key);
      if (!known) executed.push(...names);
      this.#kept.set(key, { phase, output });
      return known !== undefined;
    };
    for (const node of nodes) {
      const { id, word } = node;
      const given = node.needs.filter((need) => need.quoted).map((need) => outputs[need.id]!);
      const followed = node.needs.filter((need) => !need.quoted).map((need) => [need.id, keys[need.id]!]);
      const read = node.files.map((name) => [name, files[name]!]);
      const made = (...more: string[]) => said(word, node.files, files, more);
      const keyOf = (what: unknown) => JSON.stringify([id, node.kind, word, read, what, followed.sort()]);
      if (node.kind === 'script') {
        keys[id] = keyOf(given);
        outputs[id] = made(...given);
        if (take(id, keys[id], [id], outputs[id])) hits.add(id);
      } else if (node.kind === 'nested') {
        keys[id] = keyOf(given.join('+'));
        outputs[id] = said('end', [], files, [made(given.join('+'))]);
        if (take(id, keys[id], [`${id}-one`, `${id}-two`], outputs[id])) hits.add(id);
      } else {
        const units = node.items.map((item, index) => {
          const before = node.items.slice(0, index).filter((other) => other === item).length;
          return { item, key: keyOf([given, item, before]), output: made(...given, item) };
        });
        const reused = units.map(({ item, key, output }) => take(id, key, [`${id}-${item}`], output));
        if (reused.every(Boolean)) hits.add(id);
        keys[id] = JSON.stringify(units.map((unit) => unit.key));
        outputs[id] = units.map((unit) => unit.output).join('\n\n');
      }
    }
    return { executed: executed.sort(), hits, outputs };
  }

  clear(phase: string | undefined): void {
    for (const [key, entry] of this.#kept) if (phase === undefined || entry.phase === phase) this.#kept.delete(key);
  }
}
