import { Type } from '@sinclair/typebox';
import { Duration, NonEmptyText } from './common.js';
import { closed, field, optional } from './describe.js';

const COMMAND = field(Type.Union([Type.Array(Type.String(), { minItems: 1 }), NonEmptyText]), {
  title: 'Command',
  description: 'A program with its arguments, or a line for `sh`.',
  examples: [['./notify.sh']],
});
const URL = field(NonEmptyText, {
  title: 'Address',
  description: 'Where the JSON is posted.',
  examples: ['https://hooks.example.org/taskflow'],
});
const FILE = field(NonEmptyText, {
  title: 'File',
  description: 'A file of the project that holds the last result.',
  examples: ['result.json'],
});
const SECRET = field(
  closed({ env: field(NonEmptyText, { title: 'Variable', description: 'Its name.', examples: ['HOOK_SECRET'] }) }),
  {
    title: 'Secret',
    description: 'The variable whose value signs what is posted.',
    examples: [{ env: 'HOOK_SECRET' }],
  },
);
const RETRIES = field(Type.Integer({ minimum: 0, maximum: 10 }), {
  title: 'Retries',
  description: 'How often a post is tried again (3).',
  examples: [3],
});
const TIMEOUT = field(Duration, {
  title: 'Time limit',
  description: 'For a program 60 s, for a post 10 s, unless set.',
  examples: ['5s'],
});

/** One hook: a program with its arguments, a line for `sh`, or an object that says which command, address or file. */
const Hook = Type.Union([
  Type.Array(Type.String(), { minItems: 1 }),
  NonEmptyText,
  // `readHook` decides which of these belong together.
  closed({
    command: Type.Optional(COMMAND),
    url: Type.Optional(URL),
    file: Type.Optional(FILE),
    secret: Type.Optional(SECRET),
    retries: Type.Optional(RETRIES),
    timeout: Type.Optional(TIMEOUT),
  }),
]);

const hook = (title: string, when: string) => optional(Hook, { title, description: when, examples: [['./notify.sh']] });

export const HooksSchema = closed({
  onStart: hook('On start', 'When the run begins.'),
  onSuccess: hook('On success', 'When it ended well.'),
  onComplete: hook('On success', 'Another name for `onSuccess`.'),
  onFail: hook('On failure', 'When it failed, or its budget was used up.'),
  onBlocked: hook('When blocked', 'When a gate blocked it, or a person rejected it.'),
  onPaused: hook('When paused', 'When it waits for a person.'),
  onEnd: hook('At the end', 'However it ended.'),
});
