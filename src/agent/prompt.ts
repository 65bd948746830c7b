import type { RunnerRequest } from './runner.js';

/** The system allows about 128 KB per argument. */
const MAX_ARGUMENT_BYTES = 100_000;

interface Prompt {
  /** For a flag; undefined if there is none, or it has to go with the task. */
  readonly system?: string;
  /** For stdin. */
  readonly task: string;
}

/** Splits the prompt into what fits an argument and what goes by stdin. */
export function promptOf({ systemPrompt, task }: Pick<RunnerRequest, 'systemPrompt' | 'task'>): Prompt {
  if (systemPrompt === undefined || systemPrompt.trim() === '') return { task };
  // An argument cannot hold a NUL byte either.
  if (Buffer.byteLength(systemPrompt) > MAX_ARGUMENT_BYTES || systemPrompt.includes('\0')) {
    return { task: `${systemPrompt}\n\n${task}` };
  }
  return { system: systemPrompt, task };
}
