import type { Diagnostic } from '../../model/diagnostic.js';

/** A problem with a command line or its input; with its place if it is in a file. */
export type InputProblem = Pick<Diagnostic, 'message' | 'hint'> & Partial<Diagnostic>;

/** The format that a program wants on stdout. */
export type Channel = 'json' | 'events';

/** What a program reads after a bug of ours. */
export function bugLine(channel: Channel, message: string, at: number): string {
  const head = channel === 'events' ? { type: 'broken', at, runId: null } : { status: 'failed' };
  const hint = 'This is a bug in taskflow; TASKFLOW_DEBUG=1 shows where it happened.';
  return `${JSON.stringify({ ...head, error: { code: 'internal', message, hint } })}\n`;
}

/**
 * What a program reads in place of a result, when nothing was started: `error` as in every result, and all of the
 * problems as in `check --json`. Among events it is a line like the others, of a run without an id.
 */
export function refusalLine(channel: Channel, problems: readonly InputProblem[], at: number): string {
  const error = problems.find(({ severity }) => severity !== 'warning') ?? problems[0];
  const head = channel === 'events' ? { type: 'refused', at, runId: null } : { status: 'refused' };
  return `${JSON.stringify({ ...head, error, problems })}\n`;
}
