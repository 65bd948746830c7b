import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { waitsFor } from '../../model/failure.js';
import { remoteSettings } from '../../remote/settings.js';
import { waitingApprovals } from '../../run/history/decide-approval.js';
import { listRuns, sizeOfRuns } from '../../run/history/list-runs.js';
import { KEPT_BYTES } from '../../run/history/prune-runs.js';
import type { RunHead } from '../../run/history/run-head.js';
import { wentOn } from '../../run/history/succession.js';
import { storeStatus } from '../../store/store-status.js';
import { formatBytes, plural } from '../../util/format.js';
import { type Project, STATE_DIR } from '../../util/project.js';
import { oneLine } from '../../util/terminal-text.js';
import { unwritableFolder } from '../../util/why-unwritable.js';
import { sharedStatus, sharedText } from '../load/shared.js';
import { storeOptions } from '../load/store.js';
import type { Check, DoctorContext, Finding } from './check.js';

/** Is the store there, writable, within its bounds and without damage? */
export const checkStore: Check = async ({ project, config }) => {
  const options = storeOptions(project, config);
  if ('problem' in options) {
    return [
      { name: 'store', status: 'problem', message: options.problem, hint: 'see cache.signingKey in the settings' },
    ];
  }
  const { dir, limits } = options;
  const unwritable = unwritableFolder(dir);
  if (unwritable) {
    const hint = 'runs work, but nothing is kept; make the folder writable, or set cache.dir';
    return [{ name: 'store', status: 'problem', message: `${dir} cannot be written: ${unwritable}`, hint }];
  }
  if (!existsSync(dir)) return [{ name: 'store', status: 'ok', message: 'nothing is kept yet' }];
  const { entries, bytes, damaged } = await storeStatus(options);
  const size = `${plural(entries, 'entry', 'entries')}, ${formatBytes(bytes)} of ${formatBytes(limits.maxBytes)}`;
  const findings: Finding[] = [{ name: 'store', status: 'ok', message: `writable, ${size}` }];
  if (damaged > 0) {
    const message = `${plural(damaged, 'damaged entry was', 'damaged entries were')} found; they are not served`;
    findings.push({ name: 'store', status: 'warning', message, hint: 'taskflow cache verify checks the rest' });
  }
  return findings;
};

/** Describes the shared store; with --probe, whether it answers. */
export const checkShared: Check = async ({ project, config, probe }) => {
  const status = sharedStatus(config, project);
  const settings = status && remoteSettings(config, project);
  if (!settings) return [];
  const name = 'shared';
  const wrong = settings.unread?.hint ?? settings.unwritten?.hint;
  const known: Finding = { name, status: wrong ? 'warning' : 'ok', message: sharedText(status), hint: wrong };
  if (!probe || (settings.unread && settings.unwritten)) return [known];
  const { probeRemote } = await import('../../remote/probe-remote.js');
  const tried = await probeRemote(settings, project);
  if ('answers' in tried) return [known, { name, status: 'ok', message: `${settings.url} ${tried.answers}` }];
  const hint = 'runs go on without it; see cache.remote in the settings';
  return [known, { name, status: 'problem', message: `${settings.url}: ${oneLine(tried.problem)}`, hint }];
};

/** Describes what probing it will do. */
export function plannedShared({ project, config }: DoctorContext): readonly string[] {
  const settings = remoteSettings(config, project);
  if (!settings || (settings.unread && settings.unwritten)) return [];
  return [`shared cache: ${settings.unwritten ? 'asks' : 'puts a probe and gets it back at'} ${settings.url}`];
}

/** Finds runs that may be forgotten. */
export const checkRuns: Check = async ({ project }) => {
  const unwritable = existsSync(join(project.root, STATE_DIR))
    ? unwritableFolder(join(project.root, STATE_DIR, 'runs'))
    : undefined;
  if (unwritable) {
    const hint = 'runs work, but cannot be continued';
    return [{ name: 'runs', status: 'problem', message: `${STATE_DIR}/runs cannot be written: ${unwritable}`, hint }];
  }
  const heads = listRuns(project);
  const findings: Finding[] = [];
  const waiting = heads.filter(({ state, runId }) => state === 'paused' && !wentOn(project, runId));
  // Only the newest run of a flow can have been forgotten: a later one replaces it.
  const newest = heads.filter((head, index) => heads.findIndex(({ run }) => run.flow === head.run.flow) === index);
  const crashed = newest.filter(({ state }) => state === 'crashed');
  for (const head of waiting.slice(0, 3)) findings.push(waitingFinding(project, head));
  for (const { runId, run } of crashed.slice(0, 3)) {
    const hint = `taskflow resume ${runId} goes on, taskflow runs clear --all forgets it`;
    findings.push({ name: 'runs', status: 'warning', message: `${run.flow} ended without an end (${runId})`, hint });
  }
  // Findings that need a person first.
  return [...findings, sizeFinding(project)];
};

function waitingFinding(project: Project, { runId, run, end }: RunHead): Finding {
  const isLimited = end?.failure?.code === 'usage-limit';
  const isDecided = !isLimited && waitingApprovals(project, runId).every(({ decided }) => decided);
  const what = isDecided ? 'was decided about and has not gone on' : `waits for ${waitsFor(end?.failure)}`;
  const hint =
    isDecided || isLimited
      ? `taskflow resume ${runId} goes on with it`
      : `taskflow runs show ${runId} shows the question`;
  return { name: 'runs', status: 'warning', message: `${run.flow} ${what} (${runId})`, hint };
}

function sizeFinding(project: Project): Finding {
  const { runs, bytes } = sizeOfRuns(project);
  const message = `${plural(runs, 'run')}, ${formatBytes(bytes)} of ${formatBytes(KEPT_BYTES)}`;
  if (bytes <= KEPT_BYTES) return { name: 'runs', status: 'ok', message };
  const hint = 'unfinished and waiting runs stay until you clear them: taskflow runs clear --all --older-than 30d';
  return { name: 'runs', status: 'warning', message, hint };
}
