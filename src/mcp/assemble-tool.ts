import { Type } from '@sinclair/typebox';
import type { JsonObject } from '../model/json.js';
import { readCalled } from './answer.js';
import { flagWords } from './line.js';
import { ProgressNotifier } from './progress.js';
import { input, list, output, TEXT } from './schemas.js';
import { type Tool, tool } from './tool.js';

const ANY = Type.Record(Type.String(), Type.Unknown());
const EXAMPLE = Type.Object({ input: Type.Unknown(), output: Type.Optional(Type.Unknown()) });

export const ASSEMBLE: Tool = tool({
  name: 'assemble',
  title: 'Make a flow for a task',
  description: `Lets an agent write a flow for a task, checks it and tries it on the examples; a flow that was made for
the same task before is taken as it is. It costs money and may take minutes. The flow must not execute commands.`,
  input: input({
    task: Type.String({ minLength: 1, maxLength: 20_000, description: 'what the flow is for, in words' }),
    input: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema of an object: its arguments' }),
    output: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema of its result' }),
    examples: Type.Optional(Type.Array(EXAMPLE, { maxItems: 20, description: 'arguments and what they should give' })),
    max_usd: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    max_rounds: Type.Optional(Type.Integer({ minimum: 1, maximum: 20 })),
    replan: Type.Optional(Type.Boolean({ description: 'ignore what is there' })),
  }),
  output: output({
    status: TEXT,
    id: Type.Optional(TEXT),
    file: Type.Optional(TEXT),
    flow: Type.Optional(ANY),
    rounds: Type.Optional(Type.Number()),
    changed: Type.Optional(list(TEXT)),
  }),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  async answer(given, { host, context }) {
    const schemas = [
      ...flagWords('input', JSON.stringify(given.input)),
      ...flagWords('output', JSON.stringify(given.output)),
    ];
    const examples = (given.examples ?? []).map((example) => JSON.stringify(example));
    const bounds = [...flagWords('max-usd', given.max_usd), ...flagWords('max-rounds', given.max_rounds)];
    const flags = ['--json', ...schemas, ...flagWords('example', examples), ...bounds];
    const line = ['assemble', ...flags, ...flagWords('replan', given.replan), '--', given.task];
    const progress = new ProgressNotifier(context);
    const watching = { signal: context.mcpReq.signal, onLine: (said: string) => void progress.line(said) };
    const read = readCalled(await host.execute(line, watching));
    if ('problem' in read) return read;
    const value = read.json as JsonObject;
    return { value, whole: `taskflow assemble show ${value['id'] ?? 'last'}` };
  },
});
