import { RequestLimits } from '../../agent/limits.js';
import { bodyText, send } from '../../agent/openai/send.js';
import { isJsonObject } from '../../model/json.js';
import { journalOf } from '../../run/history/runs-folder.js';
import type { JournalLine } from '../../run/journal/lines.js';
import { readLines } from '../../run/journal/reader.js';
import { parsedJson } from '../../util/if-there.js';
import type { Project } from '../../util/project.js';
import { delay } from '../../util/timer.js';
import { VERSION } from '../../util/version.js';
import { attributesOf, type Span } from './span.js';
import { spansOf } from './span-tree.js';
import { type OtelTarget, shownUrl } from './target.js';

/** Limit for one request. A batch of many rows takes several. */
const MOST_SPANS = 500;
const MOST_BYTES = 1024 * 1024;
const TRIES = 2;
const PAUSE_MS = 250;
const ONE_REQUEST_MS = 5_000;

type Exported = { readonly spans: number } | { readonly problem: string };

/** Sends a run as a trace. Never throws and never takes longer than the target allows; redirects are not followed. */
export async function exportRun(project: Project, runId: string, target: OtelTarget): Promise<Exported> {
  const where = shownUrl(target.url);
  const until = project.clock.elapsed() + target.timeoutMs;
  const left = () => until - project.clock.elapsed();
  let sent = 0;
  try {
    for (const { body, count } of requestsOf(spansOf(linesOf(project, runId), target), target)) {
      const problem = await post(target, body, left);
      if (problem !== undefined) return { problem: `the trace was not sent to ${where}: ${problem}${afterSome(sent)}` };
      sent += count;
    }
  } catch (error) {
    // The journal was cleared meanwhile, or a header is invalid.
    return { problem: `the trace was not sent to ${where}: ${(error as Error).message}` };
  }
  return { spans: sent };
}

function afterSome(sent: number): string {
  return sent === 0 ? '' : ` (after ${sent} spans)`;
}

function* linesOf(project: Project, runId: string): Generator<JournalLine> {
  for (const { line } of readLines(journalOf(project, runId))) yield line;
}

function* requestsOf(spans: Iterable<Span>, { resource }: OtelTarget): Generator<{ body: string; count: number }> {
  const about = JSON.stringify({ attributes: attributesOf({ ...resource, 'service.version': VERSION }) });
  const scope = JSON.stringify({ name: 'taskflow', version: VERSION });
  const [head, tail] = [`{"resourceSpans":[{"resource":${about},"scopeSpans":[{"scope":${scope},"spans":[`, ']}]}]}'];
  let held: string[] = [];
  let bytes = 0;
  const take = () => {
    const request = { body: `${head}${held.join(',')}${tail}`, count: held.length };
    held = [];
    bytes = 0;
    return request;
  };
  for (const span of spans) {
    const text = JSON.stringify(span);
    if (held.length === MOST_SPANS || (held.length > 0 && bytes + text.length > MOST_BYTES)) yield take();
    held.push(text);
    bytes += text.length;
  }
  if (held.length > 0) yield take();
}

/** Statuses that OpenTelemetry allows to retry. */
const PASSING = new Set([429, 502, 503, 504]);

/** Returns what went wrong. */
async function post(target: OtelTarget, body: string, left: () => number): Promise<string | undefined> {
  for (let tried = 1; ; tried += 1) {
    const limits = new RequestLimits({ timeoutMs: Math.max(1, Math.min(ONE_REQUEST_MS, left())) });
    const answer = await postOnce(target, body, limits);
    limits.clear();
    if (!answer.again || tried === TRIES || left() <= PAUSE_MS) return answer.problem;
    await delay(PAUSE_MS);
  }
}

interface Answer {
  readonly problem?: string;
  readonly again?: boolean;
}

async function postOnce({ url, headers }: OtelTarget, body: string, limits: RequestLimits): Promise<Answer> {
  const all = { ...headers, 'content-type': 'application/json', 'user-agent': `taskflow/${VERSION}` };
  try {
    const response = await send({ method: 'POST', url, headers: all, body, limits });
    const { statusCode = 0 } = response;
    const said = await bodyText(response);
    if (statusCode >= 200 && statusCode < 300) return rejectedIn(said);
    return { problem: `the server answered ${statusCode}`, again: PASSING.has(statusCode) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { problem: limits.failure ? 'no answer in time' : (code ?? message), again: true };
  }
}

/** A collector may reject a part of the spans, which is not retried. */
function rejectedIn(said: string): Answer {
  const value = parsedJson(said);
  const partial = isJsonObject(value) ? value['partialSuccess'] : undefined;
  const rejected = isJsonObject(partial) ? Number(partial['rejectedSpans'] ?? 0) : 0;
  return rejected > 0 ? { problem: `the server refused ${rejected} spans` } : {};
}
