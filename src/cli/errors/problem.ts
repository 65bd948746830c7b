import type { Invocation } from '../boot/command.js';
import { EXIT } from './exit-status.js';
import { type Channel, type InputProblem, refusalLine } from './refusal.js';

/** Prints what is wrong with a command line or its input, and what to do; returns the exit status. */
export function complain(invocation: Invocation, message: string, hint?: string): number {
  return complainAll(invocation, [{ message, hint }]);
}

export function complainAll(invocation: Invocation, problems: readonly InputProblem[]): number {
  for (const { message, hint } of problems) {
    invocation.err.write(`taskflow ${invocation.command}: ${message}\n${hint ? `  ${hint}\n` : ''}`);
  }
  return refuse(
    invocation,
    problems.map(({ message, hint }) => ({ message, ...(hint ? { hint } : {}) })),
  );
}

/** Writes problems to stdout for a program that reads a result there; people have read them on stderr. */
export function refuse(invocation: Invocation, problems: readonly InputProblem[]): number {
  const channel = channelOf(invocation);
  if (channel) invocation.out.write(refusalLine(channel, problems, invocation.project.clock.now()));
  return EXIT.usage;
}

/** Commands whose `--format` is that of the result; in a batch it is that of the rows. */
const FORMATTED = new Set(['check', 'graph']);

function channelOf({ flags, command }: Invocation): Channel | undefined {
  const isGiven = (name: string) => flags.given().includes(name) && flags.boolean(name);
  if (isGiven('json') || (FORMATTED.has(command) && flags.string('format') === 'json')) return 'json';
  return isGiven('events') ? 'events' : undefined;
}
