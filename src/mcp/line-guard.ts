import { Transform, type TransformCallback } from 'node:stream';

/** A message that is longer is answered with an error and skipped. */
const LONGEST_LINE = 8 * 1024 * 1024;
const NEWLINE = 10;

/**
 * Lets lines through that are JSON-RPC messages. Everything else gets one clear answer: the library behind it would be
 * silent, and a client would wait.
 */
export class LineGuard extends Transform {
  #pieces: Buffer[] = [];
  #length = 0;

  constructor(private readonly answer: (line: string) => void) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, end));
      this.#endLine();
      from = end + 1;
    }
    this.#keep(chunk.subarray(from));
    done();
  }

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
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      this.#refuse(-32700, 'this line is no JSON');
      return;
    }
    const { jsonrpc, id = null } = (message ?? {}) as { jsonrpc?: unknown; id?: unknown };
    if (jsonrpc === '2.0') this.push(`${text}\n`);
    else this.#refuse(-32600, 'this line is no JSON-RPC 2.0 message', id);
  }

  #refuse(code: number, message: string, id: unknown = null): void {
    const known = typeof id === 'string' || typeof id === 'number' ? id : null;
    this.answer(`${JSON.stringify({ jsonrpc: '2.0', id: known, error: { code, message } })}\n`);
  }
}
