import type { Diagnostic } from '../model/diagnostic.js';
import type { Writer } from './command.js';
import { createStyle } from './style.js';

/** One line each, as compilers write them, with the advice under it. */
export function writeDiagnostics(target: Writer, diagnostics: readonly Diagnostic[]): void {
  const style = createStyle(target.color);
  let text = '';
  for (const { file, line, column, severity, message, hint } of diagnostics) {
    const label = severity === 'error' ? style.red('error') : style.yellow('warning');
    text += `${file}:${line}:${column}: ${label}: ${message}\n${hint ? `  ${hint}\n` : ''}`;
  }
  target.write(text);
}
