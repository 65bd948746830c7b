import { shortDiff } from '../../memo/text-diff.js';
import type { UnrecordedCall } from '../suite/report.js';
import { CALL_FIELDS, type Call, callKey, titleOf } from './call.js';
import type { KeptRecording } from './read-recordings.js';

/** Describes a call without a recording: the nearest recording, and what differs. */
export function unrecordedCall(call: Call, ordinal: number, recordings: readonly KeptRecording[]): UnrecordedCall {
  const nearest = nearestTo(call, ordinal, recordings);
  return { title: titleOf(call), task: call.task, ordinal, ...(nearest && { nearest }) };
}

function nearestTo(call: Call, ordinal: number, recordings: readonly KeptRecording[]): UnrecordedCall['nearest'] {
  const key = callKey(call);
  const same = recordings.filter((recording) => recording.key === key);
  if (same.length > 0) {
    const times = same.length === 1 ? 'once' : `${same.length} times`;
    return { file: same[0]!.file, differs: [`recorded ${times}; this is call ${ordinal}`] };
  }
  let best: KeptRecording | undefined;
  let bestScore = 0;
  for (const recording of recordings) {
    const score = likeness(call, recording.call);
    if (score > bestScore) [best, bestScore] = [recording, score];
  }
  if (!best) return undefined;
  const known = best.call;
  return { file: best.file, differs: CALL_FIELDS.flatMap((field) => difference(field, known[field], call[field])) };
}

/** From 0, nothing in common, to 3. */
function likeness(a: Call, b: Call): number {
  const others = (['tools', 'thinking', 'answer'] as const).filter((field) => `${a[field]}` === `${b[field]}`).length;
  return 2 * sharedLines(a.task, b.task) + 0.7 * sharedLines(a.systemPrompt ?? '', b.systemPrompt ?? '') + 0.1 * others;
}

/** How much of two texts is the same, by lines and by words: a share from 0 to 1. */
function sharedLines(a: string, b: string): number {
  if (a === b) return 1;
  return (shared(a.split('\n'), b.split('\n')) + shared(a.split(/\s+/), b.split(/\s+/))) / 2;
}

function shared(a: readonly string[], b: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const part of a) counts.set(part, (counts.get(part) ?? 0) + 1);
  let same = 0;
  for (const part of b) {
    const left = counts.get(part) ?? 0;
    if (left > 0) same += 1;
    counts.set(part, left - 1);
  }
  return same / Math.max(a.length, b.length, 1);
}

function difference(field: string, known: Call[keyof Call], now: Call[keyof Call]): readonly string[] {
  if (`${known}` === `${now}`) return [];
  if (field !== 'task' && field !== 'systemPrompt') return [`${field}: ${shown(known)} → ${shown(now)}`];
  return [`${field}: ${shortDiff(String(known ?? ''), String(now ?? ''))}`];
}

function shown(value: Call[keyof Call]): string {
  if (value === undefined) return 'none';
  return typeof value === 'string' ? value : value.join(', ') || 'an empty list';
}
