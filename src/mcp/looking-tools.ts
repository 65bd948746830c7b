import { Type } from '@sinclair/typebox';
import type { JsonObject, JsonValue } from '../model/json.js';
import { argFlags, flagWords } from './line.js';
import { runState } from './run-answer.js';
import { ARGS, FLOW, input, list, MAYBE_NUMBER, MAYBE_TEXT, output, PHASE, RUN, RUN_OUTPUT, TEXT } from './schemas.js';
import { commandTool, LOOKS, type Tool } from './tool.js';

const PROBLEM = Type.Object({ severity: TEXT, message: TEXT });
const isError = (problem: JsonValue) => (problem as JsonObject)['severity'] === 'error';

/** Read-only tools: they execute nothing of the project and change nothing. */
export const LOOKING: readonly Tool[] = [
  commandTool({
    name: 'list_flows',
    title: 'List flows',
    description: 'The flows of this project: what each does, its arguments and phases.',
    input: input({}),
    output: output({ flows: list(Type.Object({ flow: TEXT, file: TEXT })) }),
    hints: LOOKS,
    command: () => ['list'],
    shape: (flows) => ({ flows }),
  }),
  commandTool({
    name: 'check_flow',
    title: 'Check a flow',
    description: 'All problems of a flow with their places and what to do. Call it after writing or changing one.',
    input: input({ flow: FLOW }),
    output: output({ ok: Type.Boolean(), problems: list(PROBLEM) }),
    hints: LOOKS,
    command: ({ flow }) => ['check', '--', flow],
    shape: (found) => ({ ok: !(found as JsonValue[]).some(isError), problems: found }),
  }),
  commandTool({
    name: 'plan_flow',
    title: 'Plan a run',
    description: 'What a run would execute, reuse or skip, why, and what that last cost. Executes nothing.',
    input: input({ flow: FLOW, args: Type.Optional(ARGS) }),
    output: output({ phases: list(Type.Object({ id: TEXT, would: TEXT })) }),
    hints: LOOKS,
    command: ({ flow, args }) => ['run', '--dry-run', ...argFlags(args), '--', flow],
    shape: (forecast) => forecast as JsonObject,
  }),
  commandTool({
    name: 'run_status',
    title: 'How a run goes',
    description: 'State of a run, with what each phase said and why it ran or was reused.',
    input: input({ run: RUN }),
    output: RUN_OUTPUT,
    hints: LOOKS,
    command: ({ run }) => ['runs', 'show', '--', run],
    shape: runState,
  }),
  commandTool({
    name: 'explain_phase',
    title: 'Why would it run',
    description: 'Why phases of a flow would run again or be reused: what differs from the nearest kept result.',
    input: input({ flow: FLOW, phase: Type.Optional(PHASE), args: Type.Optional(ARGS) }),
    output: output({ phases: list(Type.Object({ id: TEXT, would: TEXT, reason: TEXT })) }),
    hints: LOOKS,
    command: ({ flow, phase, args }) => ['explain', ...argFlags(args), '--', flow, ...(phase ? [phase] : [])],
    shape: (phases) => ({ phases }),
  }),
  commandTool({
    name: 'trace_run',
    title: 'Trace a run',
    description: 'Every attempt of a run with its inputs, retries, cost and errors. Name a phase to see one in full.',
    input: input({ run: RUN, phase: Type.Optional(PHASE) }),
    output: output({ runId: TEXT, state: TEXT, phases: list(Type.Object({ phase: TEXT })) }),
    hints: LOOKS,
    command: ({ run, phase }) => ['trace', '--', run, ...(phase ? [phase] : [])],
    shape: (trace) => trace as JsonObject,
  }),
  commandTool({
    name: 'cache_status',
    title: 'What is kept',
    description: 'How much is kept for reuse; with a flow, which of its phases are cached and since when.',
    input: input({ flow: Type.Optional(FLOW), args: Type.Optional(ARGS) }),
    output: output({
      entries: Type.Number(),
      bytes: Type.Number(),
      oldest: MAYBE_NUMBER,
      phases: list(Type.Object({ id: TEXT, state: TEXT, scope: MAYBE_TEXT })),
    }),
    hints: LOOKS,
    command: ({ flow, args }) => ['cache', 'status', ...argFlags(args), ...(flow ? ['--', flow] : [])],
    shape: (status) => status as JsonObject,
  }),
];

const DURATION = Type.String({ pattern: '^[0-9]+(ms|s|m|h|d|w)$', description: 'such as 12h or 30d' });

/** Tools that change the store or a run in one step. */
export const CHANGING: readonly Tool[] = [
  commandTool({
    name: 'cancel_run',
    title: 'End a run',
    description: 'Ends a run that is under way, as Ctrl-C does. What is done is kept: resume_run goes on with it.',
    input: input({ run: RUN }),
    output: output({ runId: TEXT, state: TEXT }),
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    command: ({ run }) => ['runs', 'cancel', '--', run],
    shape: (ended) => ended as JsonObject,
  }),
  commandTool({
    name: 'cache_clear',
    title: 'Remove kept results',
    description:
      'Removes kept results, so that they are computed again. Unless dry_run is false, only shows what would go.',
    input: input({
      flow: Type.Optional(FLOW),
      phase: Type.Optional(PHASE),
      older_than: Type.Optional(DURATION),
      all: Type.Optional(Type.Boolean({ description: 'everything of all flows' })),
      dry_run: Type.Optional(Type.Boolean({ default: true, description: 'false removes' })),
    }),
    output: output({ removed: Type.Boolean(), entries: Type.Number(), bytes: Type.Number(), keys: list(TEXT) }),
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    command: ({ flow, phase, older_than, all, dry_run = true }) => [
      ...[
        'cache',
        'clear',
        ...flagWords('phase', phase),
        ...flagWords('older-than', older_than),
        ...flagWords('all', all),
      ],
      ...[...flagWords('dry-run', dry_run), ...(flow ? ['--', flow] : [])],
    ],
    shape: (cleared, { dry_run = true }) => ({ removed: !dry_run, ...(cleared as JsonObject) }),
  }),
];
