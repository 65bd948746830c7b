import type { IncomingMessage } from 'node:http';
import { isJsonObject, type JsonObject } from '../../model/json.js';
import { STREAM_FACTOR } from '../../model/limits.js';
import { overflowFailure } from '../../process/end-failure.js';
import { LineSplitter } from '../../util/lines.js';
import type { RequestLimits } from '../limits.js';
import { EMPTY_TRANSCRIPT, type Transcript, withGarbage } from '../transcript.js';
import { foldCompletion, foldOpenai, isLastLine, saysSomething } from './fold.js';
import { connectionFailure, statusFailure } from './http-failure.js';
import { letGo, readText, send } from './send.js';

export interface Completion {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  readonly limits: RequestLimits;
  readonly keyName: string | undefined;
  /** Of the answer's text. */
  readonly maxBytes: number;
  /** Called with each new state. */
  readonly update: (transcript: Transcript) => void;
}

/** Asks once and reports the answer, or how it failed, through `update`. Never rejects. */
export async function complete(call: Completion): Promise<void> {
  let transcript = EMPTY_TRANSCRIPT;
  const update = (next: Transcript) => {
    transcript = next;
    call.update(next);
  };
  try {
    const response = await send({
      method: 'POST',
      url: call.url,
      headers: call.headers,
      body: JSON.stringify(call.body),
      signal: call.limits.signal,
    });
    call.limits.activity();
    if ((response.statusCode ?? 0) >= 300) await readFailure(response, call, update);
    else if (/^application\/json/.test(response.headers['content-type'] ?? '')) await readWhole(response, call, update);
    else
      await readStream(response, call, (line) => {
        update(foldOpenai(transcript, line));
        return transcript;
      });
    if (!transcript.ended && transcript.error === undefined && transcript.garbage === undefined) {
      update({ ...transcript, error: 'the connection was lost in the middle of the answer', transient: true });
    }
  } catch (error) {
    // After the last word of the answer, how the connection ends does not matter.
    if (!transcript.ended) update({ ...transcript, ...connectionFailure(error, call.url) });
  }
}

/** Some servers do not know how to count tokens, or to keep to JSON: better an answer without that. */
const WISHES = ['stream_options', 'response_format'] as const;

async function readFailure(response: IncomingMessage, call: Completion, update: (next: Transcript) => void) {
  const text = await readText(response);
  const unknown = WISHES.find((wish) => call.body[wish] !== undefined && text.includes(wish));
  if (response.statusCode === 400 && unknown !== undefined) {
    const { [unknown]: _wish, ...plain } = call.body;
    await complete({ ...call, body: plain, update });
  } else {
    update({ ...EMPTY_TRANSCRIPT, ...statusFailure(response, text, call.keyName) });
  }
}

/** A server that does not stream, though it was asked to. */
async function readWhole(
  response: IncomingMessage,
  { maxBytes, limits }: Completion,
  update: (next: Transcript) => void,
): Promise<void> {
  const text = await readText(response, maxBytes + 1);
  if (Buffer.byteLength(text) > maxBytes) return limits.stop(overflowFailure(maxBytes));
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return update(foldCompletion(EMPTY_TRANSCRIPT, value));
  } catch {
    // Not JSON in spite of its type: a sample of it goes into the message.
  }
  update(withGarbage(EMPTY_TRANSCRIPT, text));
}

/**
 * Only what belongs to an answer counts as a sign of life: comments and empty pieces come from a proxy that keeps the
 * line open, for ever if need be.
 */
async function readStream(
  response: IncomingMessage,
  { limits, maxBytes }: Completion,
  take: (line: string) => Transcript,
): Promise<void> {
  const lines = new LineSplitter(maxBytes);
  let received = 0;
  const chunks = response.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  for await (const chunk of chunks) {
    received += chunk.length;
    for (const line of lines.push(chunk)) {
      const { text } = take(line);
      if (saysSomething(line)) limits.activity();
      if (text.length > maxBytes) return tooLong(response, limits, maxBytes);
      // Whatever follows, nothing of it is the answer's.
      if (isLastLine(line)) return letGo(response);
    }
    if (lines.isTooLong || received > maxBytes * STREAM_FACTOR) return tooLong(response, limits, maxBytes);
  }
  const rest = lines.end();
  if (rest !== undefined) take(rest);
}

function tooLong(response: IncomingMessage, limits: RequestLimits, maxBytes: number): void {
  response.destroy();
  limits.stop(overflowFailure(maxBytes));
}
