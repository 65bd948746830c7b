import { Type } from '@sinclair/typebox';
import { Json, NonEmptyText } from './common.js';
import { field } from './describe.js';

/** One hook: a program with its arguments, a line for `sh`, or an object that says which command, address or file. */
const Hook = Type.Union([Type.Array(Type.String(), { minItems: 1 }), NonEmptyText, Type.Record(Type.String(), Json)]);

const hook = (title: string, when: string) =>
  Type.Optional(field(Hook, { title, description: when, examples: [['./notify.sh']] }));

export const Hooks = Type.Object(
  {
    onStart: hook('On start', 'When the run begins.'),
    onSuccess: hook('On success', 'When it ended well.'),
    onComplete: hook('On success', 'Another name for `onSuccess`.'),
    onFail: hook('On failure', 'When it failed.'),
    onBlocked: hook('When blocked', 'When a gate blocked it, or a person rejected it.'),
    onPaused: hook('When paused', 'When it waits for a person.'),
    onEnd: hook('At the end', 'However it ended.'),
  },
  { additionalProperties: false },
);
