import { loadConfig } from '../../../config/load.js';
import type { Command, Invocation } from '../../boot/command.js';
import type { Check, Finding } from '../../doctor/check.js';
import { checkGit, checkProject, checkSettings, checkVersions } from '../../doctor/environment.js';
import { checkObserving } from '../../doctor/observing.js';
import { checkEveryRunner, plannedProbes } from '../../doctor/runners.js';
import { checkRuns, checkShared, checkStore, plannedShared } from '../../doctor/state.js';
import { checkWorkers, plannedWorkers } from '../../doctor/workers.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { ALLOW_KEY_FLAG, jsonFlag } from '../../flags/common-flags.js';
import { withAllowedKeys } from '../../load/allowed-keys.js';
import { createStyle } from '../../terminal/style.js';

const CHECKS: readonly Check[] = [
  checkVersions,
  checkProject,
  checkSettings,
  checkGit,
  checkObserving,
  checkEveryRunner,
  checkStore,
  checkShared,
  checkWorkers,
  checkRuns,
];

export const command: Command = {
  usage: '[--probe] [--json]',
  description: `Status 0: everything that is needed works. Status 1: something does not, and the lines say what to do.
Of the runners, only the one that flows use unless they name another is needed. Nothing that the project names is
started or asked, unless --probe is given: then each runner is, after it was said what that does.`,
  examples: [
    { command: 'taskflow doctor', does: 'what is installed, what to do about problems' },
    { command: 'taskflow doctor --probe', does: 'also which runners answer' },
  ],
  flags: [
    {
      name: 'probe',
      type: 'boolean',
      help: 'start runners, ask their servers, try the shared cache and the queue, also where the project names them',
    },
    ALLOW_KEY_FLAG,
    jsonFlag('as JSON: {ok, findings: [{name, status, message, hint}]}'),
  ],
  positionals: [],
  async run(invocation) {
    const loaded = await loadConfig(invocation.project);
    const config = withAllowedKeys(invocation, loaded.config);
    if ('problem' in config) return complain(invocation, config.problem);
    const context = { project: invocation.project, config, probe: invocation.flags.boolean('probe') };
    if (context.probe)
      for (const line of [...plannedProbes(context), ...plannedShared(context), ...plannedWorkers(context)])
        invocation.err.write(`${line}\n`);
    const findings = (await Promise.all(CHECKS.map((check) => check(context)))).flat();
    const ok = findings.every(({ status }) => status !== 'problem');
    if (invocation.flags.boolean('json')) invocation.out.json({ ok, findings });
    else writeFindings(invocation, findings);
    return ok ? EXIT.success : EXIT.failed;
  },
};

function writeFindings({ out }: Invocation, findings: readonly Finding[]): void {
  const style = createStyle(out.color);
  const marks = { ok: style.green('✔'), warning: style.yellow('!'), problem: style.red('✖'), absent: style.dim('–') };
  const width = Math.max(...findings.map(({ name }) => name.length));
  for (const { name, status, message, hint } of findings) {
    out.write(`${marks[status]} ${name.padEnd(width)}  ${message}\n`);
    if (hint) out.write(`  ${' '.repeat(width)}  ${style.dim('→')} ${hint}\n`);
  }
}
