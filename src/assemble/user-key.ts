import { randomBytes } from 'node:crypto';
import { readDerivedFile, writeDerivedFile } from '../util/derived-cache.js';
import type { Project } from '../util/project.js';

const KEY_FILE = 'assembled.key';

/**
 * The key by which this user recognises plans of their own. It is in the user's folder for this project, never inside
 * the project: a clone or a restored cache brings plans but no key. Undefined where there is none (yet).
 */
export function userKey(project: Project): string | undefined {
  const text = readDerivedFile(project, KEY_FILE)?.toString('latin1');
  return text !== undefined && /^[0-9a-f]{64}$/.test(text) ? text : undefined;
}

/** The same, made if it is missing. Undefined where the user has no folder of their own. */
export function makeUserKey(project: Project): string | undefined {
  const known = userKey(project);
  if (known !== undefined) return known;
  writeDerivedFile(project, KEY_FILE, randomBytes(32).toString('hex'));
  // Another process may have written one at the same time: the one on disk counts.
  return userKey(project);
}

/** Whether a person has approved this flow. */
export function isApproved(project: Project, flow: ApprovedFlow): boolean {
  return readDerivedFile(project, approvalName(flow)) !== undefined;
}

export function approve(project: Project, flow: ApprovedFlow): void {
  writeDerivedFile(project, approvalName(flow), 'yes');
}

interface ApprovedFlow {
  readonly flowId: string;
  readonly allowScripts: boolean;
}

/** The approval of a flow without commands does not cover the same flow with commands. */
function approvalName({ flowId, allowScripts }: ApprovedFlow): string {
  return `${flowId.replaceAll(/[^0-9a-f]/g, '')}${allowScripts ? '-scripts' : ''}.approved`;
}
