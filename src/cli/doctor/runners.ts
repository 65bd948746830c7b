import { resolve } from 'node:path';
import { CLIENTS, type ClientName } from '../../agent/clients.js';
import { createRunner } from '../../agent/create-runner.js';
import { detectRunner } from '../../agent/detect.js';
import type { RunnerConfig } from '../../model/config.js';
import { findOnPath } from '../../process/find-program.js';
import { statIfThere } from '../../util/stat.js';
import { oneLine } from '../../util/terminal-text.js';
import type { Check, DoctorContext, Finding } from './check.js';

const BUILT_IN = Object.keys(CLIENTS) as ClientName[];

/**
 * Every runner that could be used: the configured ones, and the built-in clients that are installed. Only the one that
 * flows use unless they name another is needed; of the others it is good to know. Their programs are looked for, not
 * started, and their servers not asked, unless that is asked for: the project may have named them.
 */
export const checkEveryRunner: Check = async (context) => {
  const { config, project, probe } = context;
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
    const untried = probe ? '' : '; doctor --probe tries whether it works';
    findings.push({ name: 'agents', status: 'ok', message: `flows use ${chosen}, ${why}${untried}` });
  }
  return findings;
};

async function checkRunner(name: string, isNeeded: boolean, context: DoctorContext): Promise<Finding> {
  const { config, project, probe } = context;
  const bad = isNeeded ? 'problem' : 'warning';
  const label = `runner ${name}`;
  const settings = settingsOf(name, context);
  if (!settings) return { name: label, status: bad, message: 'is not defined' };
  const program = settings.command?.[0] ?? (isBuiltIn(settings.type) ? settings.type : undefined);
  const path = program === undefined ? undefined : find(program, context);
  if (program !== undefined && path === undefined) {
    const hint = isBuiltIn(program)
      ? CLIENTS[program].install
      : `install ${program}, or change runners.${name}.command`;
    const status = !isNeeded && config.runners[name] === undefined ? 'absent' : bad;
    return { name: label, status, message: `${program} is not installed`, hint };
  }
  const runner = createRunner(name, settings, project);
  // A path in the project's settings is shown as written; a plain name is looked up along the PATH.
  const found = program?.includes('/') ? program : (path ?? settings.baseUrl ?? name);
  if (!probe && runner.probe !== undefined) return { name: label, status: 'ok', message: oneLine(found) };
  const answer = await runner.version();
  if ('version' in answer) return { name: label, status: 'ok', message: oneLine(`${found}: ${answer.version}`) };
  const { message, hint } = answer.failure;
  return { name: label, status: bad, message: `does not answer: ${oneLine(message)}`, ...(hint ? { hint } : {}) };
}

/** Describes what probing the runners will do, before it is done. */
export function plannedProbes(context: DoctorContext): readonly string[] {
  const names = [...new Set([...BUILT_IN, ...Object.keys(context.config.runners)])];
  return names.flatMap((name) => {
    const settings = settingsOf(name, context);
    const program = settings?.command?.[0] ?? (settings && isBuiltIn(settings.type) ? settings.type : undefined);
    if (!settings || (program !== undefined && find(program, context) === undefined)) return [];
    const { probe } = createRunner(name, settings, context.project);
    return probe === undefined ? [] : [`runner ${name}: ${oneLine(probe)}`];
  });
}

function settingsOf(name: string, { config }: DoctorContext): RunnerConfig | undefined {
  return config.runners[name] ?? (isBuiltIn(name) ? { type: name } : undefined);
}

function find(program: string, { project }: DoctorContext): string | undefined {
  if (!program.includes('/')) return findOnPath(program, project.env['PATH']);
  const stat = statIfThere(resolve(project.root, program));
  return stat?.isFile() && (stat.mode & 0o111) !== 0 ? program : undefined;
}

function isBuiltIn(name: string): name is ClientName {
  return (BUILT_IN as readonly string[]).includes(name);
}
