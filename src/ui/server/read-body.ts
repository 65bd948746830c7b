import type { IncomingMessage } from 'node:http';
import { type Refused, refused } from './answer.js';

const MOST_BYTES = 64 * 1024;

/** Reads the JSON object in a request. */
export async function readBody(request: IncomingMessage): Promise<{ readonly body: Body } | Refused> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MOST_BYTES) return refused(413, `more than ${MOST_BYTES} bytes`);
      chunks.push(chunk);
    }
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { body: new Body(body) };
  } catch {
    // Not JSON, or the browser disconnected.
  }
  return refused(400, 'not a JSON object');
}

/** Fields of a body, which may hold anything: a value that is not a text for a command line counts as absent. */
export class Body {
  readonly #fields: object;

  constructor(fields: object) {
    this.#fields = fields;
  }

  text(name: string): string | undefined {
    const value: unknown = Object.hasOwn(this.#fields, name) ? this.#fields[name as never] : undefined;
    return typeof value === 'string' && value !== '' && !value.includes('\0') ? value : undefined;
  }

  is(name: string): boolean {
    return Object.hasOwn(this.#fields, name) && this.#fields[name as never] === true;
  }
}
