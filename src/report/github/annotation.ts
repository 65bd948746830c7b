import { sanitize } from '../../util/terminal-text.js';

/** Something that GitHub Actions shows at a line of a file. */
export interface Annotation {
  readonly severity: 'error' | 'warning' | 'notice';
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly endColumn?: number;
  readonly title: string;
  readonly message: string;
}

/** A line that the workflow's runner reads as a command, with special characters escaped. */
export function annotationLine({ severity, title, message, ...place }: Annotation): string {
  const { file, line, column, endColumn } = place;
  const parts = file === undefined ? { title } : { file, line, col: column, endColumn, title };
  const properties = Object.entries(parts).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${property(String(value))}`],
  );
  return `::${severity} ${properties.join(',')}::${data(message)}`;
}

function data(text: string): string {
  return sanitize(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
