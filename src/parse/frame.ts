import type { Diagnostic } from '../model/diagnostic.js';
import { Source } from './source.js';

/** The colours and the width of the terminal, if there is one. */
interface FrameStyle {
  readonly columns?: number;
  readonly error: (text: string) => string;
  readonly warning: (text: string) => string;
  readonly quiet: (text: string) => string;
}

const PLAIN: FrameStyle = { error: (text) => text, warning: (text) => text, quiet: (text) => text };
const WIDEST = 160;
const NARROWEST = 30;

/** `file:line:column`, what is wrong, the line with the place underlined, and what to do. */
export function renderDiagnostic(diagnostic: Diagnostic, source: string | undefined, style = PLAIN): string {
  const { file, line, column, severity, code, message, hint } = diagnostic;
  const paint = severity === 'error' ? style.error : style.warning;
  const lines = [`${file}:${line}:${column} ${paint(severity)} ${message} ${style.quiet(`[${code}]`)}`];
  const written = source === undefined ? undefined : new Source(file, source).line(line);
  if (written !== undefined) lines.push(...frame(diagnostic, written, { ...style, paint }));
  if (hint) lines.push(`  ${hint}`);
  return lines.join('\n');
}

function frame(
  { line, column, length }: Diagnostic,
  written: string,
  { paint, quiet, columns = Infinity }: FrameStyle & { readonly paint: (text: string) => string },
): readonly string[] {
  const gutter = String(line);
  // Cut, because a line that wraps would move the mark to another place.
  const most = Math.max(NARROWEST, Math.min(WIDEST, columns - gutter.length - 5));
  const lead = Math.min(40, Math.floor(most / 3));
  const from = column > most - lead ? column - lead : 0;
  const shown = written.slice(from, from + most);
  const at = column - 1 - from;
  // Keeps tabs, so that the mark is below its place whatever the width of a tab.
  const indent = shown.slice(0, at).replaceAll(/[^\t]/g, ' ');
  const width = Math.max(1, Math.min(length, shown.length - at));
  const printable = shown.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '\u00b7');
  return [
    `${quiet(`  ${gutter} |`)} ${printable}`,
    `${quiet(`  ${' '.repeat(gutter.length)} |`)} ${indent}${paint('^'.repeat(width))}`,
  ];
}
