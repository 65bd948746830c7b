import type { Diagnostic } from '../model/diagnostic.js';

/** Problems of a flow or of settings: what, where, and what to do about it. */
export class FlowError extends Error {
  constructor(readonly diagnostics: readonly Diagnostic[]) {
    const errors = diagnostics.filter((diagnostic) => diagnostic.severity === 'error');
    super(errors.map((d) => `${d.file}:${d.line}:${d.column}: ${d.message}`).join('\n'));
    this.name = 'FlowError';
  }
}
