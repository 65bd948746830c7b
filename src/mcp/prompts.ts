import type { McpServer } from '@modelcontextprotocol/server';
import { Type } from '@sinclair/typebox';
import { EXAMPLE_FLOW } from './guide.js';
import { standard } from './schemas.js';

const say = (text: string) => ({ messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }] });

export function registerPrompts(server: McpServer): void {
  server.registerPrompt(
    'write_flow',
    {
      title: 'Write a flow',
      description: 'A flow for a task, checked and planned before it runs',
      argsSchema: standard(Type.Object({ task: Type.String({ description: 'what it does' }) })),
    },
    ({ task }) => say(writeFlow(task)),
  );
  const why = Type.Object({
    flow: Type.String({ description: 'name or path' }),
    phase: Type.Optional(Type.String({ description: 'the phase that ran again' })),
  });
  server.registerPrompt(
    'why_again',
    {
      title: 'Why did this run again?',
      description: 'Why a phase was executed again and not reused, and what to change',
      argsSchema: standard(why),
    },
    ({ flow, phase }) => say(whyAgain(flow, phase)),
  );
}

function writeFlow(task: string): string {
  return `Write a taskflow flow for this task:

${task}

Read the resource taskflow://language first. Write the flow into .pi/taskflows/NAME.yaml, so that its name is NAME.
Call check_flow until it has neither errors nor warnings, then plan_flow, and show me what would run before run_flow.

- A phase whose result depends only on what it names gets cache: { scope: cross-run, fingerprint: [...] } with
  everything that it reads ("file:PATH", "glob:PATTERN", "git:HEAD"); otherwise it is reused when it should not be.
- What must not happen twice gets idempotent: false. What a person has to decide gets a phase of type approval.
- A placeholder in a shell line is an error: use a list of words, input, or env.

An example:

${EXAMPLE_FLOW}`;
}

function whyAgain(flow: string, phase: string | undefined): string {
  const what = phase === undefined ? 'phases' : `the phase ${phase}`;
  return `Find out why ${what} of the taskflow flow ${flow} ran again and was not reused.

1. run_status of the last run: each phase has a reason.
2. explain_phase compares what would run now with the nearest kept result: which file, which step before it, which part
   of the prompt differs.
3. trace_run of that phase shows the inputs that it had.

Then say in one or two sentences what changed, whether running again was right, and if not, which line of the flow
(cache, fingerprint, context) to change. Change nothing before I agree.`;
}
