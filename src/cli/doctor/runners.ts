import { CLIENTS, type ClientName } from '../../agent/clients.js';
import { createRunner } from '../../agent/create-runner.js';
import { detectRunner } from '../../agent/detect.js';
import type { RunnerConfig } from '../../model/config.js';
import { findOnPath } from '../../process/find-program.js';
import { oneLine } from '../../util/terminal-text.js';
import type { Check, DoctorContext, Finding } from './check.js';

const BUILT_IN = Object.keys(CLIENTS) as ClientName[];

/**
 * Every runner that could be used: the configured ones, and the built-in clients that are installed. Only the one that
 * flows use unless they name another is needed; of the others it is good to know.
 */
export const checkRunners: Check = async (context) => {
  const { config, project } = context;
  const names = [...new Set([...BUILT_IN, ...Object.keys(config.runners)])];
  const detected = detectRunner(project);
  const chosen = config.runner ?? ('name' in detected ? detected.name : undefined);
  const findings = await Promise.all(names.map((name) => checkRunner(name, name === chosen, context)));
  const usable = names.filter((_, index) => findings[index]!.status === 'ok');
  if (usable.length === 0) {
    findings.push({
      name: 'agents',
      status: 'warning',
      message: 'no runner works, so only flows without agents can run',
      hint: `${CLIENTS.pi.install}, or define one under runners: in the settings`,
    });
  } else if (chosen !== undefined && !usable.includes(chosen)) {
    findings.push({
      name: 'agents',
      status: 'problem',
      message: `flows use ${chosen}, which does not work`,
      hint: `taskflow config set runner ${usable[0]}`,
    });
  } else if (chosen !== undefined) {
    const why = config.runner === undefined ? 'the first that is installed' : 'as the settings say';
    findings.push({ name: 'agents', status: 'ok', message: `flows use ${chosen}, ${why}` });
  }
  return findings;
};

async function checkRunner(name: string, isNeeded: boolean, { config, project }: DoctorContext): Promise<Finding> {
  const bad = isNeeded ? 'problem' : 'warning';
  const label = `runner ${name}`;
  const settings: RunnerConfig | undefined = config.runners[name] ?? (isBuiltIn(name) ? { type: name } : undefined);
  if (!settings) return { name: label, status: bad, message: 'is not defined' };
  const program = settings.command?.[0] ?? (isBuiltIn(settings.type) ? settings.type : undefined);
  if (program !== undefined && !program.includes('/') && !findOnPath(program, project.env['PATH'])) {
    const hint = isBuiltIn(program)
      ? CLIENTS[program].install
      : `install ${program}, or change runners.${name}.command`;
    const status = !isNeeded && config.runners[name] === undefined ? 'absent' : bad;
    return { name: label, status, message: `${program} is not installed`, hint };
  }
  const answer = await createRunner(name, settings, project).version();
  if ('version' in answer) return { name: label, status: 'ok', message: oneLine(answer.version) };
  const { message, hint } = answer.failure;
  return { name: label, status: bad, message: `does not answer: ${oneLine(message)}`, ...(hint ? { hint } : {}) };
}

function isBuiltIn(name: string): name is ClientName {
  return (BUILT_IN as readonly string[]).includes(name);
}
