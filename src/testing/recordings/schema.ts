import { type Static, Type } from '@sinclair/typebox';
import { Text } from '../../model/schema/common.js';

const closed = { additionalProperties: false };

/** A text, or its lines. */
const Lines = Type.Union([Text, Type.Array(Text)]);

const Content = Type.Union([
  Text,
  Type.Array(Text),
  Type.Object(
    { text: Type.Optional(Lines), base64: Type.Optional(Text), executable: Type.Optional(Type.Literal(true)) },
    closed,
  ),
]);

const oneOf = <const W extends readonly string[]>(words: W) =>
  Type.Unsafe<W[number]>(Type.Union(words.map((word) => Type.Literal(word))));

const Count = Type.Integer({ minimum: 0 });

/** A file of recordings, as a person may read and change it. All but the task and the answer may be left out. */
export const RecordingObject = Type.Object(
  {
    request: Type.Object(
      {
        task: Lines,
        systemPrompt: Type.Optional(Lines),
        tools: Type.Optional(Type.Array(Text)),
        thinking: Type.Optional(Text),
        answer: Type.Optional(Type.Literal('json')),
        ordinal: Type.Optional(Type.Integer({ minimum: 1 })),
      },
      closed,
    ),
    runner: Type.Optional(
      Type.Object(
        {
          name: Type.Optional(Text),
          type: Type.Optional(oneOf(['pi', 'claude', 'codex', 'openai', 'command'])),
          reportsCost: Type.Optional(Type.Boolean()),
          answersJson: Type.Optional(Type.Literal(true)),
          model: Type.Optional(Text),
        },
        closed,
      ),
    ),
    result: Type.Object(
      {
        text: Lines,
        model: Type.Optional(Text),
        usage: Type.Optional(
          Type.Object(
            {
              inputTokens: Type.Optional(Count),
              cachedInputTokens: Type.Optional(Count),
              outputTokens: Type.Optional(Count),
              usd: Type.Optional(Type.Number({ minimum: 0 })),
            },
            closed,
          ),
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
          Type.Object(
            {
              code: oneOf(['length', 'refusal', 'runner']),
              message: Text,
              hint: Type.Optional(Text),
              detail: Type.Optional(Text),
            },
            closed,
          ),
        ),
      },
      closed,
    ),
    files: Type.Optional(Type.Record(Type.String(), Type.Union([...Content.anyOf, Type.Null()]))),
  },
  closed,
);

export type RawText = Static<typeof Lines>;
export type Content = Static<typeof Content>;
export type RawRecording = Static<typeof RecordingObject>;
