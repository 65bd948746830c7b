import type { Command } from '../../boot/command.js';
import { FLOW_FLAGS } from '../../flags/run-flags.js';

export const command: Command = {
  usage: 'FLOW [K=V …] [flags]',
  description:
    'Status: 0 success, 1 a phase failed, 2 wrong usage or a flow with problems, ' +
    '3 a gate blocked or a person said no,\n' +
    '4 waiting for a person (an approval, or a side effect that is in doubt), 5 over budget, ' +
    '6 --frozen and a miss, 130 interrupted.',
  examples: [
    { command: 'taskflow run overview', does: 'a saved flow' },
    { command: 'taskflow run ./flow.yaml topic="sea level" --json', does: 'a file with an argument; one JSON result' },
    { command: 'taskflow run ./flow.yaml --dry-run', does: 'what would run, what would be reused, and why' },
    { command: 'taskflow run ./flow.yaml --frozen', does: 'prove in CI that nothing changed' },
    { command: 'taskflow run ./flow.yaml --watch', does: 'again after each edit of what it looks at' },
    { command: 'taskflow run ./flow.yaml --from report', does: 'from one phase on; earlier outputs are restored' },
  ],
  flags: FLOW_FLAGS,
  positionals: [
    { name: 'FLOW', help: 'a path, or the name of a saved flow', required: true },
    { name: 'K=V', help: 'arguments of the flow', required: false, many: true },
  ],
  async help(invocation) {
    return (await import('../../load/flow-help.js')).showFlowHelp(invocation);
  },
  async run(invocation) {
    if (invocation.flags.has('watch')) return (await import('../../run/watch-flow.js')).watchFlow(invocation);
    if (invocation.flags.boolean('detach')) return (await import('../../run/detach.js')).detach(invocation);
    return (await import('../../run/run-flow.js')).runFlowCommand(invocation);
  },
};
