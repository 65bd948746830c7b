import type { ArgSpec } from '../../model/flow.js';
import { valueText } from '../../plan/template.js';
import { oneLine } from '../../util/terminal-text.js';

type Args = Readonly<Record<string, ArgSpec>>;

const PLACEHOLDERS: Readonly<Record<ArgSpec['type'], string>> = {
  string: 'TEXT',
  number: 'NUMBER',
  boolean: 'true|false',
  enum: 'VALUE',
  path: 'PATH',
  json: 'JSON',
};

/** `topic=TEXT`, `style=short|long`: an argument as it is typed. */
export function argumentForm(name: string, { type, values }: ArgSpec): string {
  const choices = values?.map((value) => oneLine(String(value))).join('|');
  return `${name}=${choices ?? PLACEHOLDERS[type]}`;
}

/** `topic=TEXT [style=short|long]`: all of them in one line. */
export function argumentsLine(args: Args): string {
  return Object.entries(args)
    .map(([name, spec]) => (spec.required ? argumentForm(name, spec) : `[${argumentForm(name, spec)}]`))
    .join(' ');
}

/** `How long the text is (1 to 5; default: 2)`. */
export function argumentHelp({ description, required, secret, minimum, maximum, ...spec }: ArgSpec): string {
  const facts: string[] = [];
  if (required) facts.push('required');
  if (minimum !== undefined && maximum !== undefined) facts.push(`${minimum} to ${maximum}`);
  else if (minimum !== undefined) facts.push(`${minimum} or more`);
  else if (maximum !== undefined) facts.push(`${maximum} or less`);
  if (secret) facts.push('secret');
  else if (spec.default !== undefined) facts.push(`default: ${oneLine(valueText(spec.default))}`);
  const words = facts.length === 0 ? '' : `(${facts.join('; ')})`;
  return [oneLine(description ?? ''), words].filter(Boolean).join(' ');
}

/** An argument as JSON, without the default of a secret. */
export function argumentJson({ untyped, ...spec }: ArgSpec) {
  return spec.secret ? { ...spec, default: undefined } : spec;
}

/** An example value. */
export function exampleValue({ type, values, minimum, ...spec }: ArgSpec): string {
  if (spec.default !== undefined && !spec.secret) return valueText(spec.default);
  if (values?.[0] !== undefined) return valueText(values[0]);
  const examples = {
    string: 'TEXT',
    number: String(minimum ?? 1),
    boolean: 'true',
    enum: '',
    path: './FILE',
    json: '{}',
  };
  return examples[type];
}
