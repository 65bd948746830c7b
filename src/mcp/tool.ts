import type { InputRequiredResult, ServerContext, ToolAnnotations } from '@modelcontextprotocol/server';
import type { Static, TObject } from '@sinclair/typebox';
import type { JsonObject, JsonValue } from '../model/json.js';
import { readCalled, type ToolAnswer } from './answer.js';
import type { McpHost, ToolProblem } from './host.js';
import { shellLine, withFlag } from './line.js';

/** One call of a tool: the client, and the host that the command line lends. */
export interface McpCall {
  readonly host: McpHost;
  readonly context: ServerContext;
  readonly client: McpClient;
}

/** The program at the other end, as it introduced itself. */
export interface McpClient {
  readonly name: string;
  /** It can show a form to a person. */
  readonly asksPeople: boolean;
}

export type ToolReply = ToolAnswer | ToolProblem | InputRequiredResult;

export interface Tool<I extends TObject = TObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: I;
  readonly output: TObject;
  readonly hints: ToolAnnotations;
  answer(input: Static<I>, call: McpCall): Promise<ToolReply>;
}

/** Only infers the type of the input. */
export function tool<I extends TObject>(row: Tool<I>): Tool {
  return row as unknown as Tool;
}

/** For a tool that changes nothing and executes nothing of the project. */
export const LOOKS: ToolAnnotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

interface CommandTool<I extends TObject> extends Omit<Tool<I>, 'answer'> {
  /** The tool's command line, without `--json`; values from a client come last or after `=`. */
  command(input: Static<I>): readonly string[];
  /** The answer from what the command printed. */
  shape(json: JsonValue, input: Static<I>): JsonObject;
}

/** A tool that runs one command and answers with its JSON. */
export function commandTool<I extends TObject>({ command, shape, ...row }: CommandTool<I>): Tool {
  return tool<I>({
    ...row,
    async answer(given, { host }) {
      const line = withFlag(command(given), '--json');
      const read = readCalled(await host.call(line));
      return 'problem' in read ? read : { value: shape(read.json, given), whole: shellLine(line) };
    },
  });
}
