import type { IncomingMessage } from 'node:http';
import type { JsonObject } from '../../model/json.js';
import { STREAM_FACTOR } from '../../model/limits.js';
import { overflowFailure } from '../../process/end-failure.js';
import { LineSplitter } from '../../util/lines.js';
import type { Project } from '../../util/project.js';
import type { RequestLimits } from '../limits.js';
import { parseObject } from '../read-event.js';
import type { RunnerRequest } from '../runner.js';
import { EMPTY_TRANSCRIPT, newTranscript, report, type Transcript, withGarbage } from '../transcript.js';
import { foldCompletion, readChunk, saysSomething } from './fold.js';
import { connectionFailure, statusFailure } from './http-failure.js';
import { bodyText, send, streamBody } from './send.js';

interface Completion {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  readonly env: Project['env'];
  readonly limits: RequestLimits;
  readonly keyName: string | undefined;
  /** Limit for the answer's text. */
  readonly maxBytes: number;
  /** Gets the parts of the answer as they come. */
  readonly listener: Pick<RunnerRequest, 'onEvent' | 'onText'>;
}

/** Sends one request. The answer or the failure is in the transcript; never rejects. */
export async function complete(call: Completion): Promise<Transcript> {
  const { limits, url, headers, env } = call;
  const answer = new Answer(call.listener);
  try {
    const response = await send({ method: 'POST', url, env, headers, body: JSON.stringify(call.body), limits });
    limits.activity();
    if ((response.statusCode ?? 0) >= 300) return await readFailure(response, call);
    if (response.headers['content-type']?.startsWith('application/json')) {
      foldWhole(await bodyText(response, call.maxBytes + 1), call, answer);
    } else await readStream(response, call, answer);
    const { ended, error, garbage } = answer.transcript;
    if (!ended && error === undefined && garbage === undefined) {
      answer.update({ error: 'the connection was lost in the middle of the answer', transient: true });
    }
  } catch (error) {
    // Once the answer is complete, how the connection ends does not matter.
    if (!answer.transcript.ended) answer.update(connectionFailure(error, url));
  }
  return answer.transcript;
}

/** The answer so far, changed in place, because it comes in dozens of chunks. Reports to the listener what is new. */
class Answer {
  readonly transcript = newTranscript();

  constructor(private readonly listener: Completion['listener']) {}

  fold(chunk: JsonObject): void {
    const { onEvent, onText } = this.listener;
    const before = onEvent || onText ? { ...this.transcript } : undefined;
    foldCompletion(this.transcript, chunk);
    if (before) report(this.listener, before, this.transcript);
  }

  /** A change that the listener need not see. */
  update(more: Partial<Transcript>): void {
    Object.assign(this.transcript, more);
  }
}

/** Optional fields that some servers refuse: the request is then sent without them. */
const WISHES = ['stream_options', 'response_format'] as const;

async function readFailure(response: IncomingMessage, call: Completion): Promise<Transcript> {
  const text = await bodyText(response);
  const unknown = WISHES.find((wish) => call.body[wish] !== undefined && text.includes(wish));
  if (response.statusCode === 400 && unknown !== undefined) {
    const { [unknown]: _wish, ...plain } = call.body;
    return complete({ ...call, body: plain });
  }
  return { ...EMPTY_TRANSCRIPT, ...statusFailure(response, text, call.keyName) };
}

/** The answer of a server that does not stream, although asked to. */
function foldWhole(text: string, { maxBytes, limits }: Completion, answer: Answer): void {
  const isTooLong = Buffer.byteLength(text) > maxBytes;
  const value = isTooLong ? undefined : parseObject(text);
  if (isTooLong) limits.stop(overflowFailure(maxBytes));
  else if (value) answer.fold(value);
  // Not JSON in spite of its type: the message quotes its start.
  else answer.update(withGarbage(answer.transcript, text));
}

/**
 * Only parts of an answer count as a sign of life: comments and empty pieces may come for ever, from a proxy that keeps
 * the connection open.
 */
async function readStream(response: IncomingMessage, { limits, maxBytes }: Completion, answer: Answer): Promise<void> {
  const lines = new LineSplitter(maxBytes);
  let received = 0;
  let isTooLong = false;
  /** Returns `enough` once the answer is complete: what follows does not belong to it. */
  const take = (line: string): 'enough' | undefined => {
    const event = readChunk(line);
    if (event === undefined) return undefined;
    if (event === 'done') {
      answer.update({ ended: true });
      return 'enough';
    }
    if ('garbage' in event) answer.update(withGarbage(answer.transcript, event.garbage));
    else {
      answer.fold(event.chunk);
      if (saysSomething(event.chunk)) limits.activity();
    }
    isTooLong = answer.transcript.text.length > maxBytes;
    return isTooLong ? 'enough' : undefined;
  };
  await streamBody(response, (chunk) => {
    received += chunk.length;
    for (const line of lines.push(chunk)) if (take(line)) return 'enough';
    isTooLong ||= lines.isTooLong || received > maxBytes * STREAM_FACTOR;
    return isTooLong ? 'enough' : undefined;
  });
  if (isTooLong) {
    response.destroy();
    return limits.stop(overflowFailure(maxBytes));
  }
  const rest = lines.end();
  if (rest !== undefined) take(rest);
}
