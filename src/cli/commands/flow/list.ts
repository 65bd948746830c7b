import { relativePath } from '../../../util/inside.js';
import { STATE_DIR } from '../../../util/project.js';
import { shellWord } from '../../../util/shell-word.js';
import { oneLine, truncate } from '../../../util/terminal-text.js';
import type { Command, Invocation } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { type ListedFlow, listedFlows } from '../../load/listed-flows.js';
import { createStyle, type Style } from '../../terminal/style.js';
import { argumentJson, argumentsLine } from '../../text/argument-text.js';

export const command: Command = {
  usage: '[--json]',
  description: `Saved flows of the project and of yours, and the files in flows/: what each does and which arguments
it takes. taskflow run FLOW --help has all about one of them.`,
  examples: [
    { command: 'taskflow list', does: 'what can be run here' },
    { command: 'taskflow list --json', does: 'with arguments and phases, for programs' },
  ],
  flags: [jsonFlag('as JSON: [{flow, from, file, description, args, phases, problem}]')],
  positionals: [],
  async run(invocation) {
    const { project, flags, out, err } = invocation;
    const flows = await listedFlows(project);
    if (flags.boolean('json')) out.json(flows.map((flow) => flowJson(invocation, flow)));
    else if (flows.length === 0)
      err.write('there are no flows yet: taskflow init writes a first one, taskflow new NAME another\n');
    else out.write(listText(invocation, flows));
    return EXIT.success;
  },
};

function flowJson({ project }: Invocation, { file, args, ...flow }: ListedFlow) {
  const described = Object.entries(args).map(([name, spec]) => [name, argumentJson(spec)]);
  return { ...flow, file: relativePath(project.root, file), args: Object.fromEntries(described) };
}

const TITLES = {
  project: `Saved in this project (${STATE_DIR})`,
  user: 'Saved for all your projects (~/.pi/agent/taskflows)',
  flows: 'In flows/',
} as const;

function listText({ out }: Invocation, flows: readonly ListedFlow[]): string {
  const style = createStyle(out.color);
  const width = out.isTerminal ? out.columns : Number.POSITIVE_INFINITY;
  const sections = (Object.keys(TITLES) as ListedFlow['from'][]).flatMap((from) => {
    const some = flows.filter((flow) => flow.from === from);
    if (some.length === 0) return [];
    return [[style.bold(TITLES[from]), ...some.flatMap((flow) => flowLines(flow, style))]];
  });
  const text = sections.map((lines) => lines.map((line) => truncate(line, width)).join('\n')).join('\n\n');
  const first = flows.find(({ args }) => Object.keys(args).length > 0) ?? flows[0]!;
  return `${text}\n\n${style.dim(`taskflow run ${shellWord(first.flow)} --help has more`)}\n`;
}

/** The name, then what it does and takes, each on a line of its own, for narrow screens. */
function flowLines({ flow, description, args, problem }: ListedFlow, style: Style): string[] {
  const line = argumentsLine(args);
  return [
    `  ${style.cyan(oneLine(flow))}${line === '' ? '' : ` ${line}`}`,
    ...(description === undefined ? [] : [`      ${oneLine(description)}`]),
    ...(problem === undefined ? [] : [`      ${style.red(`has problems: ${oneLine(problem)}`)}`]),
  ];
}
