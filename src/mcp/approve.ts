import { inputRequired, inputResponse } from '@modelcontextprotocol/server';
import { Type } from '@sinclair/typebox';
import type { JsonObject } from '../model/json.js';
import { shellWord } from '../util/shell-word.js';
import { readCalled } from './answer.js';
import type { Question, ToolProblem } from './host.js';
import { flagWords } from './line.js';
import { input, MAYBE_TEXT, output, PHASE, RUN, TEXT } from './schemas.js';
import { type McpCall, type Tool, type ToolReply, tool } from './tool.js';

const FORM = {
  type: 'object' as const,
  properties: {
    decision: { type: 'string' as const, title: 'Decision', enum: ['approve', 'reject'] },
    note: { type: 'string' as const, title: 'Note', description: 'a word to later phases; may be left out' },
  },
  required: ['decision'],
};

/** Lets a person decide, in a form that the client shows. The agent itself cannot. */
export const APPROVE: Tool = tool({
  name: 'approve',
  title: 'Ask a person to decide',
  description: `Shows a person exactly what a paused run asks, in a form of this client, and writes their decision down.
Only a form that they send decides. A detached run then goes on by itself.`,
  input: input({ run: RUN, phase: Type.Optional(PHASE) }),
  output: output({
    runId: TEXT,
    phase: TEXT,
    decision: Type.Union([Type.Literal('approve'), Type.Literal('reject'), Type.Null()], {
      description: 'null: not decided, the run goes on waiting',
    }),
    text: TEXT,
    digest: TEXT,
    goesOnAs: Type.Optional(MAYBE_TEXT),
    next: Type.Optional(TEXT),
  }),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  async answer({ run, phase }, call) {
    const found = call.host.questions(run);
    if ('problem' in found) return found;
    const { runId } = found;
    const asked = chosen(found, phase);
    return 'problem' in asked ? asked : ask(runId, asked, call);
  },
});

function chosen(
  { runId, waiting }: { readonly runId: string; readonly waiting: readonly Question[] },
  phase: string | undefined,
): Question | ToolProblem {
  const fitting = waiting.filter((one) => phase === undefined || one.phase === phase);
  if (fitting.length === 1) return fitting[0]!;
  const names = waiting.map((one) => one.phase).join(', ');
  if (names === '') return { problem: `run ${runId} waits for no approval` };
  return { problem: `${phase === undefined ? 'say which' : `${phase} does not wait`}; waiting: ${names}` };
}

async function ask(runId: string, asked: Question, call: McpCall): Promise<ToolReply> {
  const { phase, text, digest } = asked;
  const { client, context } = call;
  if (!client.asksPeople) return undecided(runId, asked, 'this client cannot ask a person');
  const reply = inputResponse(context.mcpReq.inputResponses, 'decision');
  if (reply.kind !== 'elicit') {
    const message = `${text}\n\nRun ${runId}, phase ${phase}, text ${digest.slice(0, 12)}`;
    const form = inputRequired.elicit({ message, requestedSchema: FORM });
    return inputRequired({ inputRequests: { decision: form }, requestState: digest });
  }
  if (context.mcpReq.requestState() !== digest) {
    return { problem: `${phase} of run ${runId} asks something else now: call approve again` };
  }
  const { decision, note } = reply.content ?? {};
  if (reply.action !== 'accept' || (decision !== 'approve' && decision !== 'reject')) {
    return undecided(runId, asked, 'no person has decided');
  }
  return decide({ runId, asked, decision, note: typeof note === 'string' && note !== '' ? note : undefined }, call);
}

interface Decision {
  readonly runId: string;
  readonly asked: Question;
  readonly decision: 'approve' | 'reject';
  readonly note: string | undefined;
}

async function decide({ runId, asked, decision, note }: Decision, { host, client }: McpCall): Promise<ToolReply> {
  const by = `${host.user ?? 'somebody'} via mcp:${client.name}`;
  const line = [decision, '--json', ...flagWords('by', by), ...flagWords('note', note), '--', runId, asked.phase];
  const read = readCalled(await host.call(line));
  if ('problem' in read) return read;
  const { goesOnAs } = read.json as JsonObject;
  const next = goesOnAs ? `wait_run with run ${goesOnAs}` : `resume_run with run ${runId} goes on`;
  return answer(runId, asked, { ...(read.json as JsonObject), next });
}

function undecided(runId: string, asked: Question, why: string): ToolReply {
  const words = `${runId} ${shellWord(asked.phase)}`;
  const next = `${why}: the run waits. In a terminal: taskflow approve ${words}, or taskflow reject ${words}`;
  return answer(runId, asked, { decision: null, next });
}

function answer(runId: string, { phase, text, digest }: Question, more: JsonObject): ToolReply {
  return { value: { runId, phase, text, digest, ...more }, whole: `taskflow runs show ${runId}` };
}
