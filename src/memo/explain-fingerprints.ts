import { isJsonObject, type JsonObject, type JsonValue } from '../model/json.js';
import { canonicalEncode } from '../util/canonical.js';
import { oneLine } from '../util/terminal-text.js';
import type { Change } from './change.js';

interface Recorded {
  readonly value: JsonValue;
  readonly parts?: JsonObject;
  readonly count?: JsonValue;
}

/** Which entries changed, and what in them: the file of a glob, the commit, the version that a command printed. */
export function explainFingerprints(now: JsonValue | undefined, before: JsonValue | undefined): Change[] {
  const current = byEntry(now);
  const earlier = byEntry(before);
  const changes: Change[] = [];
  for (const [entry, value] of current) {
    const old = earlier.get(entry);
    if (old === undefined) changes.push(say(`input added: ${shortName(entry)}`));
    else if (canonicalEncode(value.value) !== canonicalEncode(old.value)) changes.push(explainOne(entry, value, old));
  }
  for (const entry of earlier.keys()) if (!current.has(entry)) changes.push(say(`input removed: ${shortName(entry)}`));
  return changes;
}

function explainOne(entry: string, now: Recorded, before: Recorded): Change {
  const detail =
    entry === 'git:worktree'
      ? (valueDetail(entry, now.value, before.value) ?? listed(changedFiles(now, before)))
      : (partsDetail(now, before) ?? valueDetail(entry, now.value, before.value));
  return say(`input changed: ${shortName(entry)}${detail === undefined ? '' : ` (${detail})`}`);
}

/** Shortened: a command may be a whole program. */
function shortName(entry: string): string {
  const line = oneLine(entry);
  return line.length > LONGEST_NAME ? `${line.slice(0, LONGEST_NAME - 1)}…` : line;
}

const LONGEST_NAME = 100;

function say(message: string): Change {
  return { field: 'fingerprints', message };
}

const NAMED = 2;

/** `src/a.ts`, `src/a.ts and 3 more`, `src/new.ts added`. */
function partsDetail(now: Recorded, before: Recorded): string | undefined {
  // Folders on one side and files on the other cannot be compared.
  if (!now.parts || !before.parts || (now.count === undefined) !== (before.count === undefined)) {
    if (now.count === undefined && before.count === undefined) return undefined;
    const files = ({ count, parts = {} }: Recorded) => Number(count ?? Object.keys(parts).length);
    return `${files(before)} → ${files(now)} files`;
  }
  const details: string[] = [];
  for (const [path, digest] of Object.entries(now.parts)) {
    if (!(path in before.parts)) details.push(`${path} added`);
    else if (before.parts[path] !== digest) details.push(path);
  }
  for (const path of Object.keys(before.parts)) if (!(path in now.parts)) details.push(`${path} removed`);
  return listed(details);
}

/** For a worktree: the files whose edits are new, different or gone. */
function changedFiles({ parts: now = {} }: Recorded, { parts: before = {} }: Recorded): string[] {
  const paths = new Set([...Object.keys(now), ...Object.keys(before)]);
  return [...paths].filter((path) => now[path] !== before[path]);
}

function listed(details: readonly string[]): string | undefined {
  if (details.length === 0) return undefined;
  const more = details.length - NAMED;
  return more > 0 ? `${details.slice(0, NAMED).join(', ')} and ${more} more` : details.join(', ');
}

function valueDetail(entry: string, now: JsonValue, before: JsonValue): string | undefined {
  if (entry.startsWith('env:')) {
    if (before === null) return 'it was not set';
    return now === null ? 'it is not set any more' : undefined;
  }
  if (entry.startsWith('file:')) {
    if (before === null) return 'the file is new';
    return now === null ? 'the file is gone' : undefined;
  }
  if (isJsonObject(now) && isJsonObject(before)) {
    for (const name of ['head', 'exitCode', 'stdout']) {
      if (now[name] !== before[name]) return `${short(before[name])} → ${short(now[name])}`;
    }
    return undefined;
  }
  return entry.startsWith('git:') ? `${short(before)} → ${short(now)}` : undefined;
}

/** A commit by its first characters, a version as it is. */
function short(value: JsonValue | undefined): string {
  const text = value === undefined || value === '' ? '(none)' : oneLine(String(value));
  if (/^[0-9a-f]{40,64}$/.test(text)) return text.slice(0, 7);
  return text.length > 30 ? `${text.slice(0, 29)}…` : text;
}

function byEntry(value: JsonValue | undefined): Map<string, Recorded> {
  const found = new Map<string, Recorded>();
  for (const part of Array.isArray(value) ? value : []) {
    if (!isJsonObject(part) || typeof part['entry'] !== 'string') continue;
    const parts = isJsonObject(part['parts'] ?? null) ? (part['parts'] as JsonObject) : undefined;
    found.set(part['entry'], { value: part['value'] ?? null, parts, count: part['count'] });
  }
  return found;
}
