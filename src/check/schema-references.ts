import { isJsonObject } from '../model/json.js';
import type { Path } from '../parse/locate.js';
import { percentDecoded } from '../util/if-there.js';
import type { Problems } from './problem.js';

/** Keywords whose schemas apply to the same value as their parent: only these can multiply without end. */
const ONE = ['not', 'if', 'then', 'else'];
const LISTS = ['allOf', 'anyOf', 'oneOf'];
/** Not schemas at all. */
const VALUES = ['enum', 'const', 'default', 'examples'];

/** More schemas than this for one value take too long to check. */
const MOST_AT_ONCE = 100_000;

type Fields = Readonly<Record<string, unknown>>;

/** Finds references that lead nowhere, in a circle, or to too many schemas. */
export function checkReferences(root: unknown, path: Path, problems: Problems): void {
  // Only the validator follows a schema's own names (`$id`, `$anchor`).
  if (!isJsonObject(root) || JSON.stringify(root).includes('"$id"')) return;
  const references = new References(root);
  const visit = (schema: unknown, at: Path): void => {
    if (typeof schema !== 'object' || schema === null) return;
    if (isJsonObject(schema) && typeof schema['$ref'] === 'string' && !references.leadsSomewhere(schema['$ref'])) {
      problems.error([...at, '$ref'], 'bad-schema', `there is no ${schema['$ref']} in this schema`);
    }
    for (const [name, member] of Object.entries(schema)) {
      if (!VALUES.includes(name)) visit(member, [...at, Array.isArray(schema) ? Number(name) : name]);
    }
  };
  visit(root, path);
  const most = references.most(root);
  if (most === Number.POSITIVE_INFINITY) {
    problems.error(path, 'bad-schema', 'its references lead in a circle without going into the value');
  } else if (most > MOST_AT_ONCE) {
    const hint = 'a schema that refers twice to one that refers twice, and so on, doubles each time';
    problems.error(path, 'bad-schema', {
      message: `its references multiply to ${most.toPrecision(2)} schemas for one value`,
      hint,
    });
  }
}

class References {
  /** Schemas that are being counted: meeting one again is a circle. */
  readonly #counts = new Map<object, number>();

  constructor(private readonly root: Fields) {}

  leadsSomewhere(ref: string): boolean {
    return !isPointer(ref) || this.#find(ref) !== undefined;
  }

  /** The largest count of any schema in this value. */
  most(schema: unknown): number {
    if (typeof schema !== 'object' || schema === null) return 0;
    const own = isJsonObject(schema) ? this.#count(schema) : 0;
    return Object.values(schema).reduce((most: number, member) => Math.max(most, this.most(member)), own);
  }

  /** How many schemas a validator applies to a value for this one. */
  #count(schema: unknown): number {
    if (!isJsonObject(schema)) return 1;
    const known = this.#counts.get(schema);
    if (known !== undefined) return known;
    this.#counts.set(schema, Number.POSITIVE_INFINITY);
    let count = 1;
    for (const keyword of ONE) if (schema[keyword] !== undefined) count += this.#count(schema[keyword]);
    for (const keyword of LISTS) {
      const list = schema[keyword];
      if (Array.isArray(list)) for (const inner of list) count += this.#count(inner);
    }
    const ref = schema['$ref'];
    if (typeof ref === 'string' && isPointer(ref)) count += this.#count(this.#find(ref));
    this.#counts.set(schema, count);
    return count;
  }

  #find(ref: string): unknown {
    const names = ref.slice(1).split('/').slice(1);
    let found: unknown = this.root;
    for (const name of names) {
      const key = percentDecoded(name).replaceAll('~1', '/').replaceAll('~0', '~');
      if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
      found = (found as Fields)[key];
    }
    return found;
  }
}

function isPointer(ref: string): boolean {
  return ref === '#' || ref.startsWith('#/');
}
