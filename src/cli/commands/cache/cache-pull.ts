import type { ArgSpec } from '../../../model/flow.js';
import { remoteSettings } from '../../../remote/settings.js';
import type { Forecast } from '../../../run/forecast/forecast.js';
import { storeStatus } from '../../../store/store-status.js';
import { plural } from '../../../util/format.js';
import type { Command, Invocation } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { ALLOW_KEY_FLAG, ARG_FLAGS, jsonFlag } from '../../flags/common-flags.js';
import { listedFlows } from '../../load/listed-flows.js';
import { NO_REMOTE, requireStore } from '../../load/store.js';
import { forecastFlow } from '../../run/forecast-flow.js';

export const command: Command = {
  usage: '[FLOW] [K=V …] [--json]',
  description: `Brings what a run would need from the shared cache (cache.remote) into the local one. Nothing is
executed. Without FLOW: for each flow that taskflow list shows and that needs no arguments.`,
  examples: [{ command: 'taskflow cache pull release version=3', does: 'before a journey without a network' }],
  flags: [...ARG_FLAGS, ALLOW_KEY_FLAG, jsonFlag('as JSON: {pulled, flows: [{flow, reused, missing}]}')],
  positionals: [
    { name: 'FLOW', help: 'a path, or the name of a saved flow', required: false },
    { name: 'K=V', help: 'arguments of the flow', required: false, many: true },
  ],
  async run(invocation) {
    const { flags, out, err, project, positionals } = invocation;
    const opened = await requireStore(invocation);
    if ('status' in opened) return opened.status;
    const settings = remoteSettings(opened.config, project);
    if (!settings) return complain(invocation, NO_REMOTE.problem, NO_REMOTE.hint);
    const { url, unread } = settings;
    if (unread) return complain(invocation, `${url} is not read: ${unread.message}`, unread.hint);
    const [typed, ...pairs] = positionals;
    const names = typed === undefined ? await runnable(invocation) : [typed];
    const before = (await storeStatus(opened.store)).entries;
    const flows: Summary[] = [];
    for (const name of names) {
      const forecast = await forecastFlow(invocation, { typed: name, pairs, config: opened.config, remote: 'on' });
      if ('status' in forecast) return forecast.status;
      flows.push(summaryOf(forecast));
      for (const warning of forecast.warnings) err.write(`${warning}\n`);
    }
    const pulled = (await storeStatus(opened.store)).entries - before;
    if (flags.boolean('json')) out.write(`${JSON.stringify({ pulled, flows })}\n`);
    else {
      out.write(`${url}: ${plural(pulled, 'entry', 'entries')} brought here\n`);
      for (const { flow, reused, missing } of flows) out.write(`${flow}: ${reused} reused, ${missing} would run\n`);
    }
    return EXIT.success;
  },
};

async function runnable({ project }: Invocation): Promise<readonly string[]> {
  const needsValue = ({ required, default: standard }: ArgSpec) => required === true && standard === undefined;
  const flows = await listedFlows(project);
  return flows
    .filter(({ problem, args }) => problem === undefined && !Object.values(args).some(needsValue))
    .map(({ flow }) => flow);
}

interface Summary {
  readonly flow: string;
  readonly reused: number;
  readonly missing: number;
}

function summaryOf({ flow, phases }: Forecast): Summary {
  const count = (would: string) => phases.filter((phase) => phase.would === would).length;
  return { flow, reused: count('reuse'), missing: phases.length - count('reuse') - count('skip') };
}
