import type { ArgSpec } from '../../model/flow.js';
import { LEFT_OUT } from '../../run/batch/row-flags.js';
import type { Invocation } from '../boot/command.js';
import { rowListName } from './batch-rows.js';

const WORDS = ['as', 'format'];
const FILES = ['args-file', 'out'];

/** The flags to repeat for the same rows and files, besides the list; undefined when there are none. */
export function rowFlags(
  invocation: Invocation,
  specs: Readonly<Record<string, ArgSpec>>,
  pairs: readonly string[],
): readonly string[] | undefined {
  const { flags } = invocation;
  const given = (names: readonly string[], said: (value: string) => string) =>
    names.flatMap((name) => {
      const value = flags.string(name);
      return value === undefined ? [] : [`--${name}=${said(value)}`];
    });
  const words = [
    ...given(WORDS, (value) => value),
    ...given(FILES, (value) => rowListName(invocation, value)),
    ...[...flags.list('arg'), ...pairs].map((pair) => `--arg=${withoutSecret(pair, specs)}`),
  ];
  return words.length === 0 ? undefined : words;
}

function withoutSecret(pair: string, specs: Readonly<Record<string, ArgSpec>>): string {
  const name = pair.slice(0, pair.indexOf('=')).trim();
  return Object.hasOwn(specs, name) && specs[name]!.secret ? `${name}=${LEFT_OUT}` : pair;
}
