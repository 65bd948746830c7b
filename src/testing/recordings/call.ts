import type { RunnerRequest } from '../../agent/runner.js';
import { canonicalEncode } from '../../util/canonical.js';
import { sha256Hex } from '../../util/digest.js';

export const CALL_FIELDS = ['task', 'systemPrompt', 'tools', 'thinking', 'answer'] as const;

/** What decides which recording answers a request. Not its model, its client or its folder. */
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

/** What a person knows a call by: the beginning of its task, without the files and the data that are sent along. */
export function titleOf({ task }: Pick<Call, 'task'>): string {
  const own = task
    .replaceAll(/<file path="[^"]*">[\s\S]*?<\/file>/g, '')
    .replaceAll(/\[data\][\s\S]*?\[end\]/g, '')
    .replace(/^What stands between .*$/m, '')
    .trim();
  return (own === '' ? task.trim() : own).split('\n', 1)[0]!.slice(0, 120);
}
