import type { JsonObject } from '../model/json.js';
import { planText } from './check-plan.js';
import { languageGuide } from './language-guide.js';
import type { Tried } from './record.js';
import type { AssembleRequest } from './request.js';

/** The last flow that the planner wrote, and what is wrong with it. */
interface ToRepair {
  readonly flow?: JsonObject;
  /** The planner's answer, where it was not a flow. */
  readonly answer?: string;
  readonly diagnostics: readonly string[];
  readonly examples: readonly Tried[];
}

interface PromptParts {
  readonly request: AssembleRequest;
  readonly allowScripts: boolean;
  /** Agents and saved flows that there are, a line each. */
  readonly agents: readonly string[];
  readonly flows: readonly string[];
  readonly repair?: ToRepair;
}

/** The planner's prompt. Raise `PLANNER_VERSION` when a change should replace existing plans. */
export function planPrompt({ request, allowScripts, agents, flows, repair }: PromptParts): string {
  const { task, input, output, examples } = request;
  return [
    'Write a flow for the program taskflow. Answer with one JSON object, the flow, and nothing else.',
    section('What the flow is for', task),
    section('Its input: the properties of this JSON Schema are its arguments, {args.NAME}', JSON.stringify(input)),
    section('Its result has to fit this JSON Schema', JSON.stringify(output)),
    ...(examples.length === 0 ? [] : [section('Examples that it is tried on', exampleLines(request))]),
    section('Rules', rules(allowScripts)),
    section('Agents that there are', agents.join('\n')),
    ...(flows.length === 0 ? [] : [section('Saved flows that a phase may use', flows.join('\n'))]),
    section('The language', languageGuide({ allowScripts })),
    ...(repair ? [repairText(repair)] : []),
  ].join('\n\n');
}

function section(title: string, text: string): string {
  return `## ${title}\n${text}`;
}

function exampleLines({ examples }: AssembleRequest): string {
  return examples
    .map(({ name, input, output, judge, files }) =>
      JSON.stringify({ name, input, output, judge, files: files && Object.keys(files) }),
    )
    .join('\n');
}

function rules(allowScripts: boolean): string {
  const commands = allowScripts
    ? '- Commands (type: script) are allowed. They run in the project folder.'
    : '- No commands: no script phases, no run, no cmd: fingerprints, no hooks. No phase names a runner.';
  return [
    commands,
    '- Paths stay inside the project. Nothing asks a person, and nothing has effects that must not happen twice.',
    '- Leave out name and args: they are made from the task and the input schema.',
    '- Solve the task for any input of that shape. Never write the results of the examples into the flow.',
    '- The phase with the result has "output": "json" unless the result is a text, and its task says what the JSON is.',
    '- As few phases as do it well: often one agent is enough.',
  ].join('\n');
}

function repairText({ flow, answer, diagnostics, examples }: ToRepair): string {
  const failed = examples.filter(({ ok }) => !ok);
  return [
    '## Your last answer is not good yet: correct it, and answer with the whole flow again',
    flow ? planText(flow) : `You said this, which is no flow: ${JSON.stringify(answer ?? '')}`,
    ...(diagnostics.length > 0 ? ['The check says:', ...diagnostics.map((line) => `- ${line}`)] : []),
    ...failed.map(({ name, why }) => `- The example ${name} failed: ${why}`),
  ].join('\n');
}
