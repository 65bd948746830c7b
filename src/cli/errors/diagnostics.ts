import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { Diagnostic } from '../../model/diagnostic.js';
import { textIfThere } from '../../util/if-there.js';
import type { Writer } from '../boot/command.js';
import { createStyle } from '../terminal/style.js';

interface DiagnosticsOptions {
  /** File names are relative to this folder. */
  readonly root: string;
  readonly home?: string;
}

/** Every problem with its place underlined and what to do. Loads the drawing of frames only if there is a problem. */
export async function writeDiagnostics(
  target: Writer,
  diagnostics: readonly Diagnostic[],
  { root, home = homedir() }: DiagnosticsOptions,
): Promise<void> {
  if (diagnostics.length === 0) return;
  const { renderDiagnostic } = await import('../../parse/frame.js');
  const style = createStyle(target.color);
  const texts = new Map<string, string | undefined>();
  const textOf = (file: string) => {
    if (!texts.has(file)) texts.set(file, textIfThere(resolve(root, file.replace(/^~(?=\/)/, home))));
    return texts.get(file);
  };
  const frames = diagnostics.map((diagnostic) =>
    renderDiagnostic(diagnostic, textOf(diagnostic.file), {
      error: style.red,
      warning: style.yellow,
      quiet: style.dim,
      columns: target.isTerminal ? target.columns : undefined,
    }),
  );
  target.write(`${frames.join('\n')}\n`);
}
