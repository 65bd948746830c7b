import { timingSafeEqual } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '../model/json.js';
import { isOutput } from '../model/output.js';
import { hmacSha256Hex, sha256Hex } from '../util/digest.js';
import { parsedJson } from '../util/if-there.js';
import type { Holder } from './holder.js';
import { pathSetsProblem } from './path-sets.js';
import type { Entry, KeptEntry, StoreMiss } from './store.js';

/**
 * One entry is one JSON object on disk:
 *
 *     {"holder":{…}
 *     ,"format":1,"key":"…", …
 *     ,"identity":{…},"mac":"…","checksum":"…"}
 *
 * `holder` is the claim that the file began as. The identity is half of the text and only explaining a miss needs it:
 * hence a line of its own, which can be found since strings hold no line ends. `checksum` is the SHA-256 of all
 * text before its comma, so that a read verifies the bytes without encoding anything again; `mac` is the HMAC of all
 * text before its own comma.
 */
export const FORMAT = 1;
/** An entry of path sets has its own format, so that a version that does not know them sees no result in it. */
const FORMAT_OF_PATHS = 2;

const HEX = 64;
const CHECKSUM = ',"checksum":"';
const MAC = ',"mac":"';
const IDENTITY = '\n,"identity":';
const CHECKSUM_LENGTH = CHECKSUM.length + HEX + 2;
const MAC_LENGTH = MAC.length + HEX + 1;

/** What a claim's file holds until its result is known. The line end is where the entry goes on. */
export function encodeHolder(holder: Holder): string {
  return `{"holder":${JSON.stringify(holder)}\n`;
}

/** What is appended to the holder to make the whole entry. */
export function encodeRest(holderText: string, entry: Entry, signingKey: SigningKey): string {
  const { key, identity, createdAt, creator, runId, flow, phase, output, files, model, usage, durationMs } = entry;
  // Named one by one: an entry that was read has more fields, and copying all costs as much as the rest of a put.
  const body = JSON.stringify({
    format: entry.pathSets ? FORMAT_OF_PATHS : FORMAT,
    key,
    createdAt,
    ttlMs: entry.ttlMs,
    creator,
    runId,
    flow,
    phase,
    output,
    files,
    model,
    usage,
    durationMs,
    facts: entry.facts,
    pathSets: entry.pathSets,
  } satisfies Record<keyof KeptEntry, unknown>);
  let text = `,${body.slice(1, -1)}${IDENTITY}${JSON.stringify(identity)}`;
  if (signingKey !== undefined) text += `${MAC}${hmacSha256Hex(signingKey, holderText + text)}"`;
  return `${text}${CHECKSUM}${sha256Hex(holderText + text)}"}`;
}

export type Decoded<E = Entry> = { readonly entry: E } | { readonly miss: StoreMiss };

type SigningKey = Buffer | string | undefined;

/** Verifies and parses the text of `<key>.json`. */
export function decodeEntry(text: string, key: string, signingKey: SigningKey): Decoded {
  const decoded = decode<Entry>(text, text, { key, signingKey });
  return 'entry' in decoded && !isJsonObject(decoded.entry.identity ?? null) ? damaged('no identity') : decoded;
}

/** The same without the identity: verifies all of the text and parses half of it. */
export function decodeKept(text: string, key: string, signingKey: SigningKey): Decoded<KeptEntry> {
  const [first, last] = [text.indexOf('\n,'), text.lastIndexOf(`${IDENTITY}{`)];
  if (first < 0 || last <= first) return decodeEntry(text, key, signingKey);
  return decode(text, `{${text.slice(first + 2, last)}}`, { key, signingKey });
}

function decode<E extends KeptEntry>(
  text: string,
  json: string,
  { key, signingKey }: { readonly key: string; readonly signingKey: SigningKey },
): Decoded<E> {
  const end = text.length - CHECKSUM_LENGTH;
  if (end <= 0 || !text.startsWith(CHECKSUM, end)) return damaged('cut short');
  // Reading replaced bytes that are not UTF-8 by other characters, so they do not match either.
  const checksum = `${sha256Hex(text.slice(0, end))}"}`;
  if (!text.startsWith(checksum, end + CHECKSUM.length)) return damaged('checksum does not match');
  const value = parsedJson(json);
  // The checksum is right but the text is not JSON: it was made by hand.
  if (value === undefined) return damaged('no JSON');
  return inspect(value, key) ?? checkMac(text, end, signingKey) ?? { entry: value as E };
}

/** Format and key first: another version may have written every other field differently. */
function inspect(value: unknown, key: string): Missed | undefined {
  if (!isJsonObject(value)) return damaged('no object');
  const isOfPaths = value['format'] === FORMAT_OF_PATHS;
  if (value['format'] !== FORMAT && !isOfPaths) {
    return { miss: { code: 'version', reason: `entry of another format (${String(value['format'])})` } };
  }
  if (value['key'] !== key) return damaged('it belongs to another key');
  const problem = shapeProblem(value) ?? (isOfPaths ? pathSetsProblem(value['pathSets']) : undefined);
  if (!isOfPaths && value['pathSets'] !== undefined) return damaged('path sets in a result');
  return problem === undefined ? undefined : damaged(problem);
}

/** Names the first field that is not what it must be. */
function shapeProblem(entry: JsonObject): string | undefined {
  const { output, files, usage } = entry;
  if (!isOutput(output)) return 'no output';
  if (!Array.isArray(files) || !files.every(isOutputFile)) return 'bad list of files';
  if (!isJsonObject(usage)) return 'no usage';
  if (typeof usage['inputTokens'] !== 'number') return 'usage without inputTokens';
  if (typeof usage['cachedInputTokens'] !== 'number') return 'usage without cachedInputTokens';
  if (typeof usage['outputTokens'] !== 'number') return 'usage without outputTokens';
  if (!Number.isFinite(entry['createdAt'])) return 'no createdAt';
  if (!Number.isFinite(entry['durationMs'])) return 'no durationMs';
  if (!Number.isFinite(entry['ttlMs'] ?? 0)) return 'bad ttlMs';
  if (typeof entry['runId'] !== 'string') return 'no runId';
  if (typeof entry['flow'] !== 'string') return 'no flow';
  if (typeof (entry['model'] ?? '') !== 'string') return 'bad model';
  if (!isCreator(entry['creator'])) return 'no creator';
  return typeof entry['phase'] === 'string' ? undefined : 'no phase';
}

function isCreator(value: JsonValue | undefined): boolean {
  if (!isJsonObject(value ?? null)) return false;
  const creator = value as JsonObject;
  return (
    typeof creator['taskflow'] === 'string' && Object.values(creator).every((member) => typeof member === 'string')
  );
}

function isOutputFile(value: unknown): boolean {
  const file = value as { path?: unknown; digest?: unknown; mode?: unknown } | null;
  return typeof file?.path === 'string' && typeof file.mode === 'number' && /^[0-9a-f]{64}$/.test(String(file.digest));
}

function checkMac(text: string, end: number, signingKey: SigningKey): Missed | undefined {
  if (signingKey === undefined) return undefined;
  const start = end - MAC_LENGTH;
  if (start <= 0 || !text.startsWith(MAC, start)) return unsigned('entry is not signed');
  const expected = Buffer.from(hmacSha256Hex(signingKey, text.slice(0, start)));
  const found = Buffer.from(text.slice(start + MAC.length, end - 1), 'latin1');
  return expected.length === found.length && timingSafeEqual(expected, found)
    ? undefined
    : unsigned('signature does not match');
}

type Missed = { readonly miss: StoreMiss };

function damaged(why: string): Missed {
  return { miss: { code: 'damaged', reason: `damaged entry set aside (${why})` } };
}

function unsigned(reason: string): Missed {
  return { miss: { code: 'unsigned', reason } };
}
