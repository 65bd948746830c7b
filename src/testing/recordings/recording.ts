import type { Runner, RunnerResult } from '../../agent/runner.js';
import { NO_USAGE, type Usage } from '../../model/outcome.js';
import type { Call } from './call.js';
import type { Content, RawRecording, RawText } from './schema.js';

/** One answer of a runner, with the call that it answers. */
export interface Recording {
  readonly call: Call;
  /** Number among equal calls of one case, from 1. */
  readonly ordinal: number;
  readonly runner: RunnerFacts;
  /** Paths are relative to the project, or to the folder of the call where that is elsewhere. */
  readonly result: RunnerResult;
  /** Files that the agent wrote, and null for those that it removed. */
  readonly files: Readonly<Record<string, Content | null>>;
}

/** The facts about a runner that decide how it is called. */
export interface RunnerFacts extends Pick<Runner, 'name' | 'type' | 'reportsCost' | 'canAnswerJson'> {
  /** The model that was asked for. */
  readonly model?: string;
}

export function fromRaw({ request, runner = {}, result, files = {} }: RawRecording): Recording {
  const { ordinal = 1, task, systemPrompt, tools, ...rest } = request;
  const { name = 'recorded', type = 'command', reportsCost = true, answersJson, model } = runner;
  return {
    call: {
      task: textOf(task),
      ...(systemPrompt !== undefined && { systemPrompt: textOf(systemPrompt) }),
      ...(tools && { tools: [...tools].sort() }),
      ...rest,
    },
    ordinal,
    runner: {
      ...{ name, type, reportsCost },
      ...(answersJson && { canAnswerJson: true }),
      ...(model !== undefined && { model }),
    },
    result: { ...PLAIN, ...result, usage: usageOf(result.usage), text: textOf(result.text) },
    files,
  };
}

/** A recording with tokens but without a price has an unknown price, never 0. */
function usageOf(usage: RawRecording['result']['usage']): Usage {
  return usage ? { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, ...usage } : NO_USAGE;
}

const PLAIN = {
  stopReason: 'complete',
  filesRead: [],
  filesWritten: [],
  turns: 1,
  usedTools: false,
  permissionDenied: false,
} as const;

function isPlain(name: string, value: unknown): boolean {
  return JSON.stringify(value) === JSON.stringify(PLAIN[name as keyof typeof PLAIN]);
}

/** The file form: texts of several lines become lists of lines, which people and `git diff` can read. */
export function toRaw({ call, ordinal, runner, result, files }: Recording): RawRecording {
  const { task, systemPrompt, tools, ...rest } = call;
  const { name, type, reportsCost, canAnswerJson, model } = runner;
  const { text, usage, ...facts } = result;
  const notable = Object.entries(facts).filter(([name, value]) => !isPlain(name, value));
  return {
    request: {
      task: lines(task),
      ...(systemPrompt !== undefined && { systemPrompt: lines(systemPrompt) }),
      ...(tools && { tools: [...tools] }),
      ...rest,
      ...(ordinal > 1 && { ordinal }),
    },
    runner: {
      name,
      type,
      reportsCost,
      ...(canAnswerJson && { answersJson: true }),
      ...(model !== undefined && { model }),
    },
    result: { text: lines(text), ...Object.fromEntries(notable), ...(usage !== NO_USAGE && { usage }) },
    ...(Object.keys(files).length > 0 && { files: { ...files } }),
  };
}

export function textOf(text: RawText): string {
  return typeof text === 'string' ? text : text.join('\n');
}

export function lines(text: string): RawText {
  return text.includes('\n') ? text.split('\n') : text;
}
