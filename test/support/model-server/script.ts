/** What the scripted model does in one call. */
export interface Step {
  /** What it says. With a tool call, said before it. */
  text: string;
  tool?: ToolWish;
  /** Milliseconds before the answer, and again in the middle of it. */
  pauseMs: number;
  end: 'complete' | 'length' | 'refusal' | 'cut' | 'hang' | 'garbage' | 'stream-error';
  /** Answers with this status instead, on the first `times` calls with the same prompt. */
  status?: {
    readonly code: number;
    readonly times: number;
    readonly retryAfter?: string;
    readonly headers?: Readonly<Record<string, string>>;
    /** Instead of the error that the protocol has for the status. */
    readonly body?: object;
  };
  usage: ModelUsage;
  model?: string;
}

export interface ToolWish {
  /** `write`, `read`, `bash`, or the very name of a tool that the client offers. */
  readonly name: string;
  /** For `write`: path and content; for `read`: path; for `bash`: the command; otherwise JSON arguments. */
  readonly rest: string;
}

export interface ModelUsage {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

export const USAGE: ModelUsage = { input: 100, cached: 40, output: 20 };

const DIRECTIVE = /\[\[\s*([a-z-]+)\s*:?\s*([\s\S]*?)\]\]/g;

/**
 * Reads the steps out of a prompt. `[[reply: text]]` and `[[tool: write path content]]` end a step each, one step per
 * call of the conversation; the others say how the next step goes:
 * `[[pause 500]]`, `[[status: 429 times 2]]`, `[[retry-after: 7]]`, `[[length]]`, `[[refusal]]`, `[[cut]]`, `[[hang]]`,
 * `[[garbage]]`, `[[stream-error]]`, `[[usage: 100 40 20]]` (input, cached, output), `[[model: name]]`.
 * A prompt without directives is answered with itself.
 */
export function readScript(prompt: string): Step[] {
  const steps: Step[] = [];
  let step = newStep();
  let open = false;
  for (const [, name = '', body = ''] of prompt.matchAll(DIRECTIVE)) {
    const value = body.trim();
    open = true;
    if (name === 'reply' || name === 'tool') {
      if (name === 'reply') step.text = value;
      else step.tool = toolWish(value);
      steps.push(step);
      step = newStep();
      open = false;
    } else applyDirective(step, name, value);
  }
  if (open || steps.length === 0) steps.push({ ...step, text: step.text || echo(prompt) });
  return steps;
}

function newStep(): Step {
  return { text: '', pauseMs: 0, end: 'complete', usage: USAGE };
}

function echo(prompt: string): string {
  return `echo: ${prompt.replaceAll(DIRECTIVE, '').trim()}`;
}

function toolWish(value: string): ToolWish {
  const space = value.search(/\s|$/);
  return { name: value.slice(0, space), rest: value.slice(space + 1) };
}

function applyDirective(step: Step, name: string, value: string): void {
  switch (name) {
    case 'pause':
      step.pauseMs = Number(value);
      return;
    case 'status': {
      const [code, , times] = value.split(/\s+/);
      step.status = { ...step.status, code: Number(code), times: times === undefined ? Infinity : Number(times) };
      return;
    }
    case 'retry-after':
      step.status = { code: 429, times: 1, ...step.status, retryAfter: value };
      return;
    case 'usage': {
      const [input = 0, cached = 0, output = 0] = value.split(/\s+/).map(Number);
      step.usage = { input, cached, output };
      return;
    }
    case 'model':
      step.model = value;
      return;
    case 'length':
    case 'refusal':
    case 'cut':
    case 'hang':
    case 'garbage':
    case 'stream-error':
      step.end = name;
      return;
    default:
      throw new Error(`unknown directive [[${name}]]`);
  }
}
