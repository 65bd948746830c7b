import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { afterEach, describe, expect, test } from 'vitest';
import { createRunner } from '../../src/agent/create-runner.js';
import { projectIn, requestIn } from '../support/runner-request.js';

const project = projectIn(tmpdir());
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server that counts its connections and calls. */
async function serve(answer: (response: ServerResponse, socket: Socket) => void) {
  const counts = { connections: 0, calls: 0 };
  const server = createServer((request, response) => {
    counts.calls += 1;
    request.resume();
    request.once('end', () => answer(response, request.socket));
  });
  server.on('connection', () => {
    counts.connections += 1;
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const runner = createRunner('local', { type: 'openai', baseUrl, model: 'small' }, project);
  return { counts, ask: () => runner.run(requestIn(project, { task: 'hi' })) };
}

const PIECE = `data: ${JSON.stringify({ choices: [{ delta: { content: 'yes' }, finish_reason: 'stop' }] })}\n\n`;

function stream(response: ServerResponse): void {
  response.setHeader('content-type', 'text/event-stream');
  response.write(PIECE);
  response.end('data: [DONE]\n\n');
}

describe('connections to a server', () => {
  test('are kept: ten calls one after the other need one or two, streamed or not', async () => {
    const streamed = await serve(stream);
    for (let i = 0; i < 10; i++) expect((await streamed.ask()).text).toBe('yes');
    // The end of an answer may still be on its way when the next call is made.
    expect(streamed.counts.connections).toBeLessThanOrEqual(2);
    const whole = await serve((response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ choices: [{ message: { content: 'yes' }, finish_reason: 'stop' }] }));
    });
    for (let i = 0; i < 10; i++) expect((await whole.ask()).text).toBe('yes');
    expect(whole.counts).toEqual({ connections: 1, calls: 10 });
  });

  test('that the server has closed meanwhile are replaced, and no call is made twice', async () => {
    const { counts, ask } = await serve((response, socket) => {
      stream(response);
      // Without a word: the client only finds out when it asks again.
      response.once('finish', () => setTimeout(() => socket.resetAndDestroy(), 30));
    });
    for (let i = 0; i < 5; i++) {
      expect((await ask()).text).toBe('yes');
      await new Promise((resolve) => setTimeout(resolve, i % 2 === 0 ? 60 : 30));
    }
    expect(counts.calls).toBe(5);
  });

  test('that are lost in the middle of an answer are not asked again', async () => {
    let isWhole = true;
    const { counts, ask } = await serve((response, socket) => {
      if (isWhole) return stream(response);
      response.setHeader('content-type', 'text/event-stream');
      response.write('data: {"choices":[{"delta":{"content":"y"}}]}\n\n', () => socket.resetAndDestroy());
    });
    expect((await ask()).text).toBe('yes');
    isWhole = false;
    expect((await ask()).failure).toMatchObject({ code: 'runner', transient: true });
    expect(counts).toEqual({ connections: 1, calls: 2 });
  });

  test('are not held up by a server that never ends its answer', async () => {
    const { ask } = await serve((response) => {
      response.setHeader('content-type', 'text/event-stream');
      response.write(`${PIECE}data: [DONE]\n\n`);
    });
    const startedAt = Date.now();
    expect((await ask()).text).toBe('yes');
    expect(Date.now() - startedAt).toBeLessThan(900);
  });
});
