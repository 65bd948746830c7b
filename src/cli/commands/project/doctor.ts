import { loadConfig } from '../../../config/load.js';
import type { Command, Invocation } from '../../boot/command.js';
import type { Check, Finding } from '../../doctor/check.js';
import { checkGit, checkProject, checkSettings, checkVersions } from '../../doctor/environment.js';
import { checkRunners } from '../../doctor/runners.js';
import { checkRuns, checkStore } from '../../doctor/state.js';
import { EXIT } from '../../errors/exit-status.js';
import { createStyle } from '../../terminal/style.js';

const CHECKS: readonly Check[] = [
  checkVersions,
  checkProject,
  checkSettings,
  checkGit,
  checkRunners,
  checkStore,
  checkRuns,
];

export const command: Command = {
  usage: '[--json]',
  description: `Status 0: everything that is needed works. Status 1: something does not, and the lines say what to do. Of the
runners, only the one that flows use unless they name another is needed.`,
  examples: [
    { command: 'taskflow doctor', does: 'what is installed, which runners answer, what to do about problems' },
  ],
  flags: [{ name: 'json', type: 'boolean', help: 'as JSON: {ok, findings: [{name, status, message, hint}]}' }],
  positionals: [],
  async run(invocation) {
    const { config } = await loadConfig(invocation.project);
    const context = { project: invocation.project, config };
    const findings = (await Promise.all(CHECKS.map((check) => check(context)))).flat();
    const ok = findings.every(({ status }) => status !== 'problem');
    if (invocation.flags.boolean('json')) invocation.out.write(`${JSON.stringify({ ok, findings }, null, 2)}\n`);
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
