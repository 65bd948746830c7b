import type { Readable, Writable } from 'node:stream';
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from '@modelcontextprotocol/server';
import { parsedJson } from '../util/if-there.js';

/** A message that is longer is answered with an error and skipped. */
const LONGEST_LINE = 8 * 1024 * 1024;
const NEWLINE = 10;

/**
 * Messages as lines. A line that is not a message gets one clear error: the library's own transport would be silent,
 * and the client would wait.
 */
export class Wire implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  #pieces: Buffer[] = [];
  #length = 0;
  #closed = false;

  constructor(
    private readonly stdin: Readable,
    private readonly stdout: Writable,
    /** Called when either side closes. */
    private readonly closed: () => void,
  ) {}

  async start(): Promise<void> {
    this.stdin.on('data', this.#read);
    for (const over of ['end', 'close', 'error']) this.stdin.on(over, this.#end);
    // Stays after the end: the last answers may have no reader.
    this.stdout.on('error', this.#end);
  }

  /** Resolves when the kernel has the message, so that a slow client slows us down. */
  send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      this.stdout.write(`${JSON.stringify(message)}\n`, () => resolve());
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.stdin.off('data', this.#read).pause();
    this.onclose?.();
    this.closed();
  }

  readonly #end = () => void this.close();

  readonly #read = (chunk: Buffer) => {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, end));
      this.#endLine();
      from = end + 1;
    }
    this.#keep(chunk.subarray(from));
  };

  #keep(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length <= LONGEST_LINE) this.#pieces.push(piece);
    else this.#pieces = [];
  }

  #endLine(): void {
    const [length, pieces] = [this.#length, this.#pieces];
    [this.#length, this.#pieces] = [0, []];
    if (length > LONGEST_LINE) {
      this.#refuse(-32600, `a message has at most ${LONGEST_LINE} bytes, this one has ${length}`);
      return;
    }
    const text = Buffer.concat(pieces).toString('utf8');
    if (text.trim() === '') return;
    const value = parsedJson(text);
    if (value === undefined) {
      this.#refuse(-32700, 'this line is no JSON');
      return;
    }
    const message = messageOf(value);
    if (message) this.onmessage?.(message);
    else this.#refuse(-32600, 'this line is no JSON-RPC 2.0 message', (value as { id?: unknown } | null)?.id);
  }

  #refuse(code: number, message: string, id?: unknown): void {
    const known = typeof id === 'string' || typeof id === 'number' ? id : null;
    // The library's type has no error without an id, which the protocol requires here.
    void this.send({ jsonrpc: '2.0', id: known, error: { code, message } } as JSONRPCMessage);
  }
}

function messageOf(value: unknown): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(value);
  } catch {
    return undefined;
  }
}
