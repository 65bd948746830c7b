import { Type } from '@sinclair/typebox';
import { Duration, NonEmptyText } from './common.js';
import { field } from './describe.js';

const Command = Type.Union([Type.Array(Type.String(), { minItems: 1 }), NonEmptyText]);
const closed = { additionalProperties: false };

/** One hook: a program with its arguments, a line for `sh`, or an object that says which command, address or file. */
const Hook = Type.Union([
  Type.Array(Type.String(), { minItems: 1 }),
  NonEmptyText,
  // Which of these belong together, `readHook` says.
  Type.Object(
    {
      command: Type.Optional(Command),
      url: Type.Optional(NonEmptyText),
      file: Type.Optional(NonEmptyText),
      secret: Type.Optional(Type.Object({ env: NonEmptyText }, closed)),
      retries: Type.Optional(Type.Integer({ minimum: 0, maximum: 10 })),
      timeout: Type.Optional(Duration),
    },
    closed,
  ),
]);

const hook = (title: string, when: string) =>
  Type.Optional(field(Hook, { title, description: when, examples: [['./notify.sh']] }));

export const HooksSchema = Type.Object(
  {
    onStart: hook('On start', 'When the run begins.'),
    onSuccess: hook('On success', 'When it ended well.'),
    onComplete: hook('On success', 'Another name for `onSuccess`.'),
    onFail: hook('On failure', 'When it failed, or its budget was used up.'),
    onBlocked: hook('When blocked', 'When a gate blocked it, or a person rejected it.'),
    onPaused: hook('When paused', 'When it waits for a person.'),
    onEnd: hook('At the end', 'However it ended.'),
  },
  closed,
);
