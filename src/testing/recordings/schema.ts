import { type Static, Type } from '@sinclair/typebox';
import { Text } from '../../model/schema/common.js';
import { closed, oneOf } from '../../model/schema/describe.js';

/** A text, or its lines. */
const Lines = Type.Union([Text, Type.Array(Text)]);

const Content = Type.Union([
  Text,
  Type.Array(Text),
  closed({ text: Type.Optional(Lines), base64: Type.Optional(Text), executable: Type.Optional(Type.Literal(true)) }),
]);

const Count = Type.Integer({ minimum: 0 });

/** One recording, which a person may read and change. Only the task and the answer are required. */
export const RecordingObject = closed({
  request: closed({
    task: Lines,
    systemPrompt: Type.Optional(Lines),
    tools: Type.Optional(Type.Array(Text)),
    thinking: Type.Optional(Text),
    answer: Type.Optional(Type.Literal('json')),
    ordinal: Type.Optional(Type.Integer({ minimum: 1 })),
  }),
  runner: Type.Optional(
    closed({
      name: Type.Optional(Text),
      type: Type.Optional(oneOf(['pi', 'claude', 'codex', 'openai', 'command'])),
      reportsCost: Type.Optional(Type.Boolean()),
      answersJson: Type.Optional(Type.Literal(true)),
      model: Type.Optional(Text),
    }),
  ),
  result: closed({
    text: Lines,
    model: Type.Optional(Text),
    usage: Type.Optional(
      closed({
        inputTokens: Type.Optional(Count),
        cachedInputTokens: Type.Optional(Count),
        outputTokens: Type.Optional(Count),
        usd: Type.Optional(Type.Number({ minimum: 0 })),
      }),
    ),
    stopReason: Type.Optional(oneOf(['complete', 'length', 'refusal'])),
    filesRead: Type.Optional(Type.Array(Text)),
    filesWritten: Type.Optional(Type.Array(Text)),
    turns: Type.Optional(Count),
    usedTools: Type.Optional(Type.Boolean()),
    permissionDenied: Type.Optional(Type.Boolean()),
    deniedTools: Type.Optional(Type.Array(Text)),
    clientVersion: Type.Optional(Text),
    failure: Type.Optional(
      closed({
        code: oneOf(['length', 'refusal', 'runner']),
        message: Text,
        hint: Type.Optional(Text),
        detail: Type.Optional(Text),
      }),
    ),
  }),
  files: Type.Optional(Type.Record(Type.String(), Type.Union([...Content.anyOf, Type.Null()]))),
});

export type RawText = Static<typeof Lines>;
export type Content = Static<typeof Content>;
export type RawRecording = Static<typeof RecordingObject>;
