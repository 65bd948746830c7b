import type { RunnerRequest } from '../../agent/runner.js';
import { canonicalEncode } from '../../util/canonical.js';
import { sha256Hex } from '../../util/digest.js';

export const CALL_FIELDS = ['task', 'systemPrompt', 'tools', 'thinking', 'answer'] as const;

/** The fields by which a recording answers a request. Without its model, client and folder. */
export type Call = Pick<RunnerRequest, (typeof CALL_FIELDS)[number]>;

/** The request as it is recorded. `hide` takes secrets and folders out of a text. */
export function callOf(request: RunnerRequest, hide: (text: string) => string): Call {
  const { task, systemPrompt, tools, thinking, answer } = request;
  return {
    task: hide(task),
    ...(systemPrompt !== undefined && { systemPrompt: hide(systemPrompt) }),
    ...(tools !== undefined && { tools: [...tools].sort() }),
    ...(thinking !== undefined && { thinking }),
    ...(answer !== undefined && { answer }),
  };
}

export function callKey(call: Call): string {
  return sha256Hex(canonicalEncode(CALL_FIELDS.map((field) => call[field] ?? null)));
}

/** A title for people: the beginning of the task, without the files and data that are sent along. */
export function titleOf({ task }: Pick<Call, 'task'>): string {
  const own = task
    .replaceAll(/<file path="[^"]*">[\s\S]*?<\/file>/g, '')
    .replaceAll(/\[data\][\s\S]*?\[end\]/g, '')
    .replace(/^What stands between .*$/m, '')
    .trim();
  return (own === '' ? task.trim() : own).split('\n', 1)[0]!.slice(0, 120);
}
