import type { Project } from '../util/project.js';
import { readRecords } from './folder.js';
import type { ReadRecord } from './record.js';

/** Every attempt by its last record, the newest first. */
export function attempts(project: Project): readonly ReadRecord[] {
  const seen = new Set<string>();
  return readRecords(project).filter(({ record: { attempt } }) => {
    if (seen.has(attempt)) return false;
    seen.add(attempt);
    return true;
  });
}

type FoundRecord = ReadRecord | { readonly problem: string; readonly hint: string };

/** ID as a person types it: the whole of it, a part that only one attempt has, or `last`. */
export function findRecord(project: Project, typed: string): FoundRecord {
  const all = readRecords(project);
  if (all.length === 0)
    return { problem: 'nothing was assembled in this project yet', hint: 'taskflow assemble --help' };
  const exact = all.find(({ record }) => record.id === typed);
  if (exact) return exact;
  const listed = attempts(project);
  if (typed === 'last') return listed[0]!;
  const matching = typed.length < 3 ? [] : listed.filter(({ record }) => record.id.includes(typed));
  if (matching.length === 1) return matching[0]!;
  const hint = '`taskflow assemble list` lists them';
  if (matching.length === 0) return { problem: `there is no attempt ${typed.slice(0, 100)}`, hint };
  return { problem: `${typed} matches ${matching.length} attempts`, hint: `such as ${matching[0]!.record.id}` };
}

/** The attempt before this one, at the same thing. */
export function attemptBefore(project: Project, { record }: ReadRecord): ReadRecord | undefined {
  return attempts(project).find(
    ({ record: other }) =>
      other.inputId === record.inputId && other.attempt !== record.attempt && other.at <= record.at && other.flow,
  );
}
