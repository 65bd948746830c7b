import { isJsonObject, type JsonObject, type JsonValue } from '../model/json.js';
import type { Spent } from '../model/outcome.js';
import { hasMac, withMac } from '../store/signed-text.js';
import { parsedJson } from '../util/if-there.js';
import type { AssembleRequest } from './request.js';
import type { Uses } from './uses.js';

/** Raised when the format changes: older records are then shown but not used. */
export const RECORD_FORMAT = 1;

/** One state of one attempt. Never changed once it is written. */
export interface AssembledRecord extends AssembleRequest {
  readonly format: number;
  /** `<inputId>_<flowId>_<time>`, the first two shortened: the name of its file. */
  readonly id: string;
  /** The attempt that it belongs to: an attempt writes a record after each round. */
  readonly attempt: string;
  readonly inputId: string;
  /** `none` where no answer of the planner was a flow. */
  readonly flowId: string;
  readonly at: number;
  readonly status: 'complete' | 'incomplete';
  /** How the attempt ended; `under-way`: another round follows. */
  readonly ended: PlanEnding;
  readonly error?: string;
  /** The last flow. */
  readonly flow?: JsonObject;
  /** The person allowed commands in it (`--allow-scripts`). */
  readonly allowScripts: boolean;
  readonly rounds: readonly Round[];
  /** The record that this attempt goes on from, or repairs. */
  readonly from?: string;
  readonly spent: Spent;
  readonly runner: string;
  readonly model?: string;
  /** What the flow uses, by name, as it was when it was tried. */
  readonly uses: Uses;
  readonly taskflow: string;
}

export type PlanEnding = 'complete' | 'rounds' | 'money' | 'runner' | 'disk' | 'interrupted' | 'limit' | 'under-way';

export interface Round {
  /** `asked`: the planner wrote it; `kept`: the flow of an earlier attempt was tried again. */
  readonly how: 'asked' | 'kept';
  readonly flow?: JsonObject;
  /** The planner's answer, where it was not a flow. */
  readonly answer?: string;
  readonly diagnostics: readonly string[];
  readonly examples: readonly Tried[];
  readonly spent: Spent;
  readonly durationMs: number;
}

export interface Tried {
  readonly name: string;
  readonly ok: boolean;
  readonly why?: string;
  readonly output?: JsonValue;
}

const KIND = 'assembled';

/** The text of a record, with a MAC by the key of the user who made it. */
export function encodeRecord(record: AssembledRecord, key: string | undefined): string {
  return withMac(KIND, JSON.stringify(record), key);
}

export interface ReadRecord {
  readonly record: AssembledRecord;
  /** This user made it, on this machine. */
  readonly own: boolean;
}

/** Undefined for a text that is no record: cut short, or of another format. */
export function decodeRecord(text: string, key: string | undefined): ReadRecord | undefined {
  const value = parsedJson(text) as JsonValue | undefined;
  if (value === undefined || !isRecord(value)) return undefined;
  return { record: value as unknown as AssembledRecord, own: key !== undefined && hasMac(KIND, text, key) };
}

function isRecord(value: JsonValue): boolean {
  if (!isJsonObject(value) || value['format'] !== RECORD_FORMAT) return false;
  const texts = ['id', 'attempt', 'inputId', 'flowId', 'task', 'ended', 'status'];
  const objects = ['input', 'output', 'uses', 'spent'];
  return (
    texts.every((name) => typeof value[name] === 'string') &&
    objects.every((name) => isJsonObject(value[name] ?? null)) &&
    Array.isArray(value['rounds']) &&
    Array.isArray(value['examples']) &&
    typeof value['at'] === 'number'
  );
}
