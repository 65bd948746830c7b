import type { Invocation } from './command.js';
import { EXIT } from './exit-status.js';

/** Says what is wrong with a command line or its input, and what to do; gives the exit status for it. */
export function complain(invocation: Invocation, message: string, hint?: string): number {
  invocation.err.write(`taskflow ${invocation.command}: ${message}\n${hint ? `  ${hint}\n` : ''}`);
  return EXIT.usage;
}

export function complainAll(
  invocation: Invocation,
  problems: readonly { readonly message: string; readonly hint?: string }[],
): number {
  for (const { message, hint } of problems) complain(invocation, message, hint);
  return EXIT.usage;
}
