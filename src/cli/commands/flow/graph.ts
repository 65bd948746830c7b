import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { flowGraph } from '../../graph/graph.js';
import { requireFlow } from '../../load/flow-file.js';
import { createStyle } from '../../terminal/style.js';

export const command: Command = {
  usage: 'FLOW [--format terminal|mermaid|dot|svg|json]',
  examples: [
    { command: 'taskflow graph release', does: 'in the terminal' },
    { command: 'taskflow graph release --format svg > release.svg', does: 'a picture that needs nothing else' },
    { command: 'taskflow graph ./flow.yaml --format mermaid', does: 'for Markdown' },
  ],
  flags: [
    {
      name: 'format',
      alias: 'f',
      type: 'string',
      value: 'F',
      choices: ['terminal', 'mermaid', 'dot', 'svg', 'json'],
      help: 'terminal, mermaid, dot, svg or json',
    },
    jsonFlag('the same as --format json: {nodes: [{id, kind}], edges: [{from, to}]}'),
  ],
  positionals: [{ name: 'FLOW', help: 'a path, or the name of a saved flow', required: true }],
  async run(invocation) {
    const { flags, out, positionals } = invocation;
    const loaded = await requireFlow(invocation, positionals[0]!);
    if ('status' in loaded) return loaded.status;
    const graph = flowGraph(loaded.flow);
    const format = flags.string('format') ?? (flags.boolean('json') ? 'json' : 'terminal');
    if (format === 'terminal') {
      const { drawGraph } = await import('../../graph/terminal.js');
      out.write(`${drawGraph(graph, { style: createStyle(out.color), columns: out.columns }).join('\n')}\n`);
    } else if (format === 'svg') {
      out.write((await import('../../graph/svg.js')).toSvg(graph));
    } else {
      const { toDot, toJson, toMermaid } = await import('../../graph/formats.js');
      out.write(format === 'dot' ? toDot(graph) : format === 'mermaid' ? toMermaid(graph) : toJson(graph));
    }
    return EXIT.success;
  },
};
