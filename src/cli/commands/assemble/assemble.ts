import { DEFAULT_ROUNDS, DEFAULT_USD } from '../../../assemble/request.js';
import type { Command } from '../../boot/command.js';
import { ALLOW_KEY_FLAG, jsonFlag } from '../../flags/common-flags.js';

export const command: Command = {
  usage: 'TASK --input SCHEMA --output SCHEMA [--example FILE …] [--run K=V …] [flags]',
  description: `Makes a flow for a task: an agent writes it, it is checked and tried on the examples, and repaired until
it is good. What was made is kept and taken the next time the same thing is asked for.
Status: 0 there is a flow (with --run: as for run), 1 none was made, 2 wrong usage or bad input, 4 a usage limit with
--no-wait, or with --run a person has to look at the flow first, 5 out of money, 130 interrupted (the same command goes
on from there).`,
  examples: [
    {
      command: 'taskflow assemble "Summarise a change by risk" --input in.json --output out.json --example case1.json',
      does: 'makes a flow, or takes the one that is there',
    },
    {
      command: 'taskflow assemble "Summarise a change by risk" --input in.json --output out.json --run base=main',
      does: 'the same, then runs it',
    },
    { command: 'taskflow assemble list', does: 'every attempt, and why each ended' },
  ],
  flags: [
    {
      name: 'input',
      type: 'string',
      value: 'SCHEMA',
      help: 'JSON Schema of an object: the arguments of the flow; a file, or JSON',
    },
    { name: 'output', type: 'string', value: 'SCHEMA', help: 'JSON Schema of the result; a file, or JSON' },
    {
      name: 'example',
      alias: 'e',
      type: 'list',
      value: 'FILE',
      help: '{input, output}, with an optional judge (words) and files ({path: text})',
    },
    {
      name: 'runner',
      type: 'string',
      value: 'NAME',
      help: 'runner that writes the flow; its phases have that of the project',
    },
    { name: 'model', type: 'string', value: 'M', help: 'model of the planner' },
    {
      name: 'max-usd',
      type: 'number',
      value: 'N',
      help: `for planning and trying (${DEFAULT_USD}, where the runner reports its cost)`,
    },
    { name: 'max-rounds', type: 'number', value: 'N', help: `flows that the planner may write (${DEFAULT_ROUNDS})` },
    { name: 'replan', type: 'boolean', help: 'ignore earlier attempts; none is removed' },
    { name: 'allow-scripts', type: 'boolean', help: 'the flow may execute commands, in its examples too' },
    { name: 'no-wait', type: 'boolean', help: "end (status 4) at a provider's usage limit; the same command goes on" },
    { name: 'run', type: 'boolean', help: 'then run it, with the arguments K=V' },
    { name: 'arg', alias: 'a', type: 'list', value: 'K=V', help: 'with --run: an argument' },
    {
      name: 'args-file',
      type: 'string',
      value: 'FILE',
      help: 'with --run: arguments from a JSON or YAML file (- is stdin)',
    },
    { name: 'yes', alias: 'y', type: 'boolean', help: 'with --run: run a new flow without showing it first' },
    jsonFlag('one JSON result on stdout; with --run that of the run, with `assembled`'),
    { name: 'events', type: 'boolean', help: 'one JSON event per line on stdout, of planning and of the run' },
    { name: 'quiet', alias: 'q', type: 'boolean', help: 'no progress on stderr' },
    ALLOW_KEY_FLAG,
  ],
  positionals: [
    { name: 'TASK', help: 'what the flow is for, in words', required: true },
    { name: 'K=V', help: 'with --run: arguments of the flow', required: false, many: true },
  ],
  async run(invocation) {
    return (await import('./assemble-flow.js')).assembleFlowCommand(invocation);
  },
};
