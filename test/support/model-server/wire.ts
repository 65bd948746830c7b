import type { ModelUsage, Step } from './script.js';
import type { OfferedTool, ToolCall } from './tools.js';

/** What the server needs to know of a request, whatever protocol it came in. */
export interface ModelCall {
  readonly protocol: 'chat' | 'responses' | 'messages';
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly model: string;
  readonly system: string;
  /** All that the user said, tool results left out. */
  readonly prompt: string;
  /** How many times the model has answered in this conversation. */
  readonly turn: number;
  readonly stream: boolean;
  readonly tools: readonly OfferedTool[];
}

export interface Answer {
  readonly id: string;
  readonly model: string;
  readonly step: Step;
  readonly tool?: ToolCall;
  readonly usage: ModelUsage;
}

/** One protocol: how a request is read, and an answer written, streamed or whole. */
export interface Protocol {
  read(body: Record<string, unknown>): Pick<ModelCall, 'model' | 'system' | 'prompt' | 'turn' | 'stream' | 'tools'>;
  /** Server-sent events; a `cut` connection ends after the first half of them. */
  events(answer: Answer): SseEvent[];
  whole(answer: Answer): unknown;
  error(status: number): unknown;
  /** An error in the middle of a stream. */
  streamError: SseEvent;
}

export interface SseEvent {
  readonly event?: string;
  readonly data: unknown;
}

type Part = string | { readonly text?: string; readonly type?: string };

/** The text of a message's content, in any of the shapes it comes in. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as Part[]).map((part) => (typeof part === 'string' ? part : (part.text ?? ''))).join('\n');
}

/** Two pieces, so that a stream has a middle. */
export function halves(text: string): string[] {
  if (text.length < 2) return text === '' ? [] : [text];
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}
