import type { Diagnostic } from '../model/diagnostic.js';
import { Source } from './source.js';

/** Colours of a terminal, or nothing. */
export interface FrameStyle {
  readonly error: (text: string) => string;
  readonly warning: (text: string) => string;
  readonly quiet: (text: string) => string;
}

const PLAIN: FrameStyle = { error: (text) => text, warning: (text) => text, quiet: (text) => text };
const WIDEST = 160;

/** `file:line:column`, what is wrong, the line with the place underlined, and what to do. */
export function renderDiagnostic(diagnostic: Diagnostic, source: string | undefined, style = PLAIN): string {
  const { file, line, column, severity, code, message, hint } = diagnostic;
  const paint = severity === 'error' ? style.error : style.warning;
  const lines = [`${file}:${line}:${column} ${paint(severity)} ${message} ${style.quiet(`[${code}]`)}`];
  const written = source === undefined ? undefined : new Source(file, source).line(line);
  if (written !== undefined) lines.push(...frame(diagnostic, written, { paint, quiet: style.quiet }));
  if (hint) lines.push(`  ${hint}`);
  return lines.join('\n');
}

function frame(
  { line, column, length }: Diagnostic,
  written: string,
  { paint, quiet }: Record<'paint' | 'quiet', (text: string) => string>,
): readonly string[] {
  const gutter = String(line);
  const from = column > WIDEST - 40 ? column - 40 : 0;
  const shown = written.slice(from, from + WIDEST);
  const at = column - 1 - from;
  // Tabs stay tabs, so that the mark stands below its place whatever a tab is worth.
  const indent = shown.slice(0, at).replaceAll(/[^\t]/g, ' ');
  const width = Math.max(1, Math.min(length, shown.length - at));
  const printable = shown.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '\u00b7');
  return [
    `${quiet(`  ${gutter} |`)} ${printable}`,
    `${quiet(`  ${' '.repeat(gutter.length)} |`)} ${indent}${paint('^'.repeat(width))}`,
  ];
}
