import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { configFile } from '../../config/files.js';
import { loadConfig } from '../../config/load.js';
import { isInRepository } from '../../memo/fingerprint/git-repository.js';
import { askGit, NO_GIT } from '../../process/git.js';
import { STATE_DIR } from '../../util/project.js';
import { oneLine } from '../../util/terminal-text.js';
import { VERSION } from '../../util/version.js';
import { unwritableFolder } from '../../util/why-unwritable.js';
import { WRITABLE_HINT } from '../load/new-file.js';
import type { Check, Finding } from './check.js';

/** The first with `process.getBuiltinModule`. */
const OLDEST_NODE = '20.16';

export const checkVersions: Check = async () => {
  const message = `taskflow ${VERSION}, node ${process.versions.node}, ${process.platform} ${process.arch}`;
  const isOld = process.versions.node.localeCompare(OLDEST_NODE, 'en', { numeric: true }) < 0;
  const findings: Finding[] = [
    isOld
      ? { name: 'versions', status: 'problem', message, hint: `taskflow needs node ${OLDEST_NODE} or later` }
      : { name: 'versions', status: 'ok', message },
  ];
  if (process.platform === 'win32') {
    findings.push({ name: 'platform', status: 'warning', message: 'Windows is not supported yet', hint: 'use WSL' });
  }
  return findings;
};

export const checkProject: Check = async ({ project }) => {
  const isStarted = existsSync(join(project.root, STATE_DIR));
  if (isStarted) return [{ name: 'project', status: 'ok', message: project.root }];
  const unwritable = unwritableFolder(join(project.root, STATE_DIR));
  if (unwritable) {
    const message = `${project.root} has no ${STATE_DIR}, and none can be made: ${unwritable}`;
    return [{ name: 'project', status: 'problem', message, hint: WRITABLE_HINT }];
  }
  const hint = 'taskflow init writes settings and a first flow';
  return [{ name: 'project', status: 'absent', message: `${project.root} has no ${STATE_DIR} yet`, hint }];
};

export const checkSettings: Check = async ({ project }) => {
  const { problems } = await loadConfig(project);
  const files = (['user', 'project'] as const).map((source) => configFile(project, source));
  const there = files.filter((file) => existsSync(file.path)).map((file) => file.name);
  const findings: Finding[] = problems.map(({ file, line, column, severity, message, hint }) => ({
    name: 'settings',
    status: severity === 'error' ? 'problem' : 'warning',
    message: `${file}:${line}:${column} ${message}`,
    ...(hint ? { hint } : {}),
  }));
  if (findings.length > 0) return findings;
  return [
    { name: 'settings', status: 'ok', message: there.length > 0 ? there.join(', ') : 'no settings file: defaults' },
  ];
};

export const checkGit: Check = async ({ project }) => {
  const hint = 'git: fingerprints and worktrees need it';
  const version = await askGit(['version'], { cwd: project.root, env: project.env });
  if ('failed' in version) {
    const isAbsent = version.failed === NO_GIT;
    const message = isAbsent ? version.failed : `git does not work: ${oneLine(version.failed)}`;
    return [{ name: 'git', status: isAbsent ? 'warning' : 'problem', message, hint }];
  }
  const name = oneLine(version.stdout).replace('git version ', '');
  const inside = await askGit(['rev-parse', '--is-inside-work-tree'], { cwd: project.root, env: project.env });
  if ('stdout' in inside) return [{ name: 'git', status: 'ok', message: `${name}, a repository` }];
  if (isInRepository(project)) {
    const message = `${name}; the project's repository cannot be used: ${oneLine(inside.failed)}`;
    return [{ name: 'git', status: 'problem', message, hint }];
  }
  return [{ name: 'git', status: 'ok', message: `${name}; the project is no repository: git: fingerprints are empty` }];
};
