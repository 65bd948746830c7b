import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject } from '../../model/json.js';
import { LONGEST_PAUSE_MS } from '../../model/limits.js';
import { momentOf } from '../reset-time.js';
import type { Transcript } from '../transcript.js';

/** How long a server asks us to wait. After a 429, a long wait means a usage limit. */
export function askedPause(
  status: number,
  headers: IncomingHttpHeaders,
  body: string,
): Pick<Transcript, 'retryAfterMs' | 'limited' | 'resetsAt'> {
  const asked = retryAfter(headers) ?? (status === 429 ? (inBody(body) ?? rateLimitReset(headers)) : undefined);
  if (asked === undefined) return {};
  if ('at' in asked) return { limited: true, resetsAt: asked.at };
  return { retryAfterMs: asked.ms, ...(status === 429 && asked.ms > LONGEST_PAUSE_MS && { limited: true }) };
}

/** A duration, or a point in time where the server does not send its own time. */
type Asked = { readonly ms: number } | { readonly at: number };

/** In seconds, or as a date by the server's clock. */
function retryAfter({ 'retry-after': asked, date }: IncomingHttpHeaders): Asked | undefined {
  if (asked === undefined || asked.trim() === '') return undefined;
  const seconds = Number(asked);
  return pause(Number.isNaN(seconds) ? Date.parse(asked) - Date.parse(date ?? '') : seconds * 1_000);
}

/** Longer than a hundred years is no different. */
const HUNDRED_YEARS_MS = 100 * 365 * 86_400_000;

function pause(ms: number): Asked | undefined {
  return ms >= 0 ? { ms: Math.min(ms, HUNDRED_YEARS_MS) } : undefined;
}

/** `{"error": {"type": "usage_limit_reached", "resets_at": 1775317531, "resets_in_seconds": 602705}}`. */
function inBody(body: string): Asked | undefined {
  if (!body.includes('resets_')) return undefined;
  try {
    const value: unknown = JSON.parse(body);
    const error = isJsonObject(value) ? value['error'] : undefined;
    if (!isJsonObject(error)) return undefined;
    const at = momentOf(error['resets_at']);
    if (at !== undefined) return { at };
    return typeof error['resets_in_seconds'] === 'number' ? pause(error['resets_in_seconds'] * 1_000) : undefined;
  } catch {
    // Not JSON: other code reads it as text.
    return undefined;
  }
}

const RESET = /^(?:x-|anthropic-)?ratelimit-(?:[\w-]+-)?reset(?:-[\w-]+)?$/;

/**
 * Some servers only report when each of their counters resets. Waits for a counter that has run out; if none has, for
 * the first one: if that was too early, the server refuses again.
 */
function rateLimitReset(headers: IncomingHttpHeaders): Asked | undefined {
  const resets = Object.entries(headers).flatMap(([name, value]) => {
    const asked = RESET.test(name) && typeof value === 'string' ? readReset(value, headers.date) : undefined;
    if (!asked) return [];
    return [{ asked, isUsedUp: headers[name.replace('reset', 'remaining')] === '0' }];
  });
  const usedUp = resets.filter((reset) => reset.isUsedUp);
  const sorted = (usedUp.length > 0 ? usedUp : resets).map(({ asked }) => asked).sort((a, b) => sizeOf(a) - sizeOf(b));
  return usedUp.length > 0 ? sorted.at(-1) : sorted[0];
}

function sizeOf(asked: Asked): number {
  return 'at' in asked ? asked.at : asked.ms;
}

const UNIT_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

/** `30`, `6m0s`, `12ms`, seconds or milliseconds since the epoch, or an ISO date. */
function readReset(value: string, date: string | undefined): Asked | undefined {
  const text = value.trim();
  const at = momentOf(text);
  if (at !== undefined) {
    const serverNow = Date.parse(date ?? '');
    return Number.isNaN(serverNow) ? { at } : pause(at - serverNow);
  }
  if (/^\d+(?:\.\d+)?$/.test(text)) return pause(Number(text) * 1_000);
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[dhms]))+$/.test(text)) return undefined;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ms|[dhms])/g);
  return pause([...parts].reduce((ms, [, count, unit]) => ms + Number(count) * UNIT_MS[unit!]!, 0));
}
