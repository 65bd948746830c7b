import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createRunner } from '../../src/agent/create-runner.js';
import type { RunnerEvent, RunnerRequest } from '../../src/agent/runner.js';
import type { RunnerConfig } from '../../src/model/config.js';
import { type ModelServer, startModelServer } from '../support/model-server.js';
import { projectIn, requestIn } from '../support/runner-request.js';

const KEY = 'sk-very-secret-0123456789';
let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
afterEach(() => server.reset());

const project = projectIn(tmpdir(), { THE_KEY: KEY });

function ask(task: string, more: Partial<RunnerRequest> = {}, config: Partial<RunnerConfig> = {}) {
  const settings: RunnerConfig = { type: 'openai', baseUrl: `${server.url}/v1`, model: 'small', ...config };
  return createRunner('local', settings, project).run(requestIn(project, { task, ...more }));
}

describe('an answer', () => {
  test('comes with its model, usage and one turn; what it cost stays unknown', async () => {
    const result = await ask('[[usage: 70 30 5]] [[model: small-2025]] [[reply: the answer ä 😀]]');
    expect(result).toEqual({
      text: 'the answer ä 😀',
      model: 'small-2025',
      usage: { inputTokens: 70, cachedInputTokens: 30, outputTokens: 5 },
      stopReason: 'complete',
      filesRead: [],
      filesWritten: [],
      turns: 1,
      usedTools: false,
      permissionDenied: false,
    });
  });

  test('is asked for with the system prompt, the model and the effort of the request', async () => {
    await ask('hi', { systemPrompt: 'be brief', model: 'large', thinking: 'low' });
    const [call] = server.calls;
    expect(call).toMatchObject({ model: 'large', system: 'be brief', prompt: 'hi', stream: true });
    expect(call?.body['reasoning_effort']).toBe('low');
  });

  test('is streamed: its pieces are events, in order', async () => {
    const events: RunnerEvent[] = [];
    const pieces: string[] = [];
    await ask('[[reply: one two]]', { onEvent: (event) => events.push(event), onText: (piece) => pieces.push(piece) });
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join('')).toBe('one two');
    expect(events.map((event) => event.type)).toContain('usage');
  });

  test('is parsed once for each event, and not cut into pieces that nobody asked for', async () => {
    const parse = vi.spyOn(JSON, 'parse');
    const startsWith = vi.spyOn(String.prototype, 'startsWith');
    const events = Array.from({ length: 50 }, (_, i) => `data: {"choices":[{"delta":{"content":"piece-${i} "}}]}\n\n`);
    const end = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
    const streaming = createServer((_request, response) => {
      response.setHeader('content-type', 'text/event-stream');
      response.end(events.join('') + end);
    });
    try {
      const { text } = await withServer(streaming, (baseUrl) => ask('hi', {}, { baseUrl }));
      expect(text).toContain('piece-49');
      expect(parse.mock.calls.filter(([given]) => given.includes('piece-'))).toHaveLength(50);
      expect(startsWith.mock.calls.filter(([given]) => given.includes('piece-'))).toHaveLength(0);
    } finally {
      vi.restoreAllMocks();
    }
  });

  test('of a server that does not stream is read as well', async () => {
    const whole = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json; charset=utf-8');
      const choices = [{ message: { role: 'assistant', content: 'at once' }, finish_reason: 'stop' }];
      response.end(JSON.stringify({ model: 'm', choices, usage: { prompt_tokens: 3, completion_tokens: 2 } }));
    });
    const result = await withServer(whole, (baseUrl) => ask('hi', {}, { baseUrl }));
    expect(result).toMatchObject({
      text: 'at once',
      stopReason: 'complete',
      usage: { inputTokens: 3, outputTokens: 2 },
    });
  });

  /** Refuses each wish by name, as servers do that do not know it; answers what is left. */
  const refusing = (bodies: string[]) =>
    createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        bodies.push(body);
        const wish = ['stream_options', 'response_format'].find((name) => body.includes(name));
        if (wish !== undefined) {
          response.statusCode = 400;
          response.end(`{"error":{"message":"unknown field ${wish}"}}`);
        } else {
          response.setHeader('content-type', 'text/event-stream');
          response.end(
            'data: {"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}\r\n\r\ndata: [DONE]\r\n\r\n',
          );
        }
      });
    });

  test('of a server that does not know stream_options is asked for without them', async () => {
    const bodies: string[] = [];
    const result = await withServer(refusing(bodies), (baseUrl) => ask('hi', {}, { baseUrl }));
    expect(result).toMatchObject({ text: 'ok', stopReason: 'complete' });
    expect(bodies.length).toBe(2);
  });

  test('is held to JSON where that is asked for, and given without where the server cannot', async () => {
    const bodies: string[] = [];
    const result = await withServer(refusing(bodies), (baseUrl) => ask('hi', { answer: 'json' }, { baseUrl }));
    expect(result).toMatchObject({ text: 'ok', stopReason: 'complete' });
    expect(bodies.map((body) => JSON.parse(body).response_format)).toEqual([
      { type: 'json_object' },
      { type: 'json_object' },
      undefined,
    ]);
  });
});

describe('not a success:', () => {
  test('cut by a token limit', async () => {
    const result = await ask('[[length]] [[reply: half]]');
    expect(result).toMatchObject({ stopReason: 'length', text: 'half', failure: { code: 'length' } });
  });

  test('refused', async () => {
    const result = await ask('[[refusal]] [[reply: I cannot do that]]');
    expect(result).toMatchObject({ stopReason: 'refusal', failure: { code: 'refusal' } });
    expect(result.failure?.message).toContain('I cannot do that');
  });

  test.each([
    ['[[status: 429]] [[retry-after: 7]]', true],
    ['[[status: 500]]', true],
    ['[[status: 503]]', true],
    ['[[status: 529]]', true],
    ['[[status: 400]]', false],
    ['[[status: 401]]', false],
    ['[[status: 404]]', false],
    ['[[status: 501]]', false],
  ])('%s: transient is %s', async (prompt, transient) => {
    const { failure, stopReason } = await ask(prompt);
    expect(stopReason).toBe('error');
    expect(failure?.transient ?? false).toBe(transient);
    expect(failure?.message).toMatch(/HTTP \d+: scripted status/);
  });

  test('how long the provider asks to wait is passed on', async () => {
    expect((await ask('[[status: 429]] [[retry-after: 7]]')).failure?.retryAfterMs).toBe(7_000);
    const in90s = new Date(Date.now() + 90_000).toUTCString();
    const { failure } = await ask(`[[status: 429]] [[retry-after: ${in90s}]]`);
    expect(failure?.retryAfterMs).toBeGreaterThan(80_000);
    expect(failure?.retryAfterMs).toBeLessThan(100_000);
  });

  test('a quota that is used up is not transient, though its status is 429', async () => {
    const empty = createServer((_request, response) => {
      response.statusCode = 429;
      response.end('{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}');
    });
    const { failure } = await withServer(empty, (baseUrl) => ask('hi', {}, { baseUrl }));
    expect(failure?.transient ?? false).toBe(false);
    expect(failure?.message).toContain('insufficient_quota');
  });

  test('429 once, then fine: the caller may simply call again', async () => {
    const prompt = '[[status: 429 times 1]] [[reply: fine]]';
    expect((await ask(prompt)).failure?.transient).toBe(true);
    expect(await ask(prompt)).toMatchObject({ text: 'fine', stopReason: 'complete' });
  });

  test('a connection lost in the middle of the answer', async () => {
    const result = await ask('[[cut]] [[reply: this gets lost]]');
    expect(result).toMatchObject({ stopReason: 'error', failure: { code: 'runner', transient: true } });
  });

  test('a stream that ends without a word about how', async () => {
    const silent = createServer((_request, response) => {
      response.setHeader('content-type', 'text/event-stream');
      response.end('data: {"choices":[{"delta":{"content":"half an ans"}}]}\n\n');
    });
    const result = await withServer(silent, (baseUrl) => ask('hi', {}, { baseUrl }));
    expect(result).toMatchObject({ stopReason: 'error', failure: { transient: true } });
  });

  test('an error in the middle of a stream', async () => {
    const { failure } = await ask('[[stream-error]]');
    expect(failure).toMatchObject({ code: 'runner', transient: true });
    expect(failure?.message).toContain('had an error');
  });

  test('garbage, with a sample of it', async () => {
    const { failure } = await ask('[[garbage]]');
    expect(failure?.transient ?? false).toBe(false);
    expect(failure?.message).toContain('captive portal');
  });

  test('nobody there', async () => {
    const { failure } = await ask('hi', {}, { baseUrl: 'http://127.0.0.1:9/v1' });
    expect(failure).toMatchObject({ code: 'runner', transient: true });
    expect(failure?.hint).toContain('127.0.0.1:9');
  });

  test('an address that is none, and no model', async () => {
    expect((await ask('hi', {}, { baseUrl: 'nonsense' })).failure?.hint).toContain('baseUrl');
    expect((await ask('hi', {}, { model: '' })).failure?.message).toContain('no model');
    expect(server.calls.length).toBe(0);
  });
});

describe('limits', () => {
  test('time', async () => {
    const { failure } = await ask('[[hang]]', { timeoutMs: 150 });
    expect(failure?.code).toBe('timeout');
  });

  test('silence; and words keep it going', async () => {
    const { failure } = await ask('[[hang]] [[reply: some words]]', { idleTimeoutMs: 150 });
    expect(failure?.code).toBe('idle-timeout');
    const slow = createServer((_request, response) => {
      response.setHeader('content-type', 'text/event-stream');
      let words = 0;
      const timer = setInterval(() => {
        words += 1;
        const finish = words === 16 ? '"stop"' : 'null';
        response.write(`data: {"choices":[{"delta":{"content":"w"},"finish_reason":${finish}}]}\n\n`);
        if (words < 16) return;
        clearInterval(timer);
        response.end();
      }, 40);
    });
    const result = await withServer(slow, (baseUrl) => ask('hi', { idleTimeoutMs: 500 }, { baseUrl }));
    expect(result).toMatchObject({ stopReason: 'complete', text: 'w'.repeat(16) });
  });

  test.each([
    ['comments', ': keep-alive\n\n'],
    ['empty pieces', 'data: {"choices":[{"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n'],
    ['no choices', 'data: {"choices":[]}\n\n'],
    ['line ends', '\n\n'],
  ])('silence behind %s that keep the connection open', async (_what, line) => {
    const chatty = endless(line, 30);
    const result = await withServer(chatty, (baseUrl) =>
      ask('hi', { idleTimeoutMs: 300, timeoutMs: 20_000 }, { baseUrl }),
    );
    expect(result.failure?.code).toBe('idle-timeout');
  });

  test('thoughts that come instead of words are no silence', async () => {
    let thoughts = 0;
    const thinking = createServer((_request, response) => {
      response.setHeader('content-type', 'text/event-stream');
      const timer = setInterval(() => {
        thoughts += 1;
        if (thoughts < 8) response.write('data: {"choices":[{"delta":{"reasoning_content":"hm"}}]}\n\n');
        else
          response.write('data: {"choices":[{"delta":{"content":"yes"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
        if (thoughts === 8) clearInterval(timer);
      }, 80);
    });
    // It never closes the connection: its last line is the end.
    const result = await withServer(thinking, (baseUrl) => ask('hi', { idleTimeoutMs: 400 }, { baseUrl }));
    expect(result).toMatchObject({ stopReason: 'complete', text: 'yes' });
  });

  test.each([
    ['a stream of words', 'text/event-stream', `data: {"choices":[{"delta":{"content":"${'w'.repeat(2_000)}"}}]}\n\n`],
    [
      'a stream of thoughts',
      'text/event-stream',
      `data: {"choices":[{"delta":{"thoughts":"${'w'.repeat(2_000)}"}}]}\n\n`,
    ],
    ['a line', 'text/event-stream', 'w'.repeat(2_000)],
    ['a body', 'application/json', ' '.repeat(2_000)],
  ])('the size of %s without an end', async (_what, type, piece) => {
    const limits = { maxOutputBytes: 50_000, timeoutMs: 20_000 };
    const result = await withServer(endless(piece, 0, type), (baseUrl) => ask('hi', limits, { baseUrl }));
    expect(result.failure).toMatchObject({ code: 'limit', message: 'the output is larger than 48.8 KB' });
  });

  test('an abort', async () => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 100);
    const result = await ask('[[hang]]', { signal: abort.signal });
    expect(result).toMatchObject({ stopReason: 'cancelled', failure: { code: 'interrupted' } });
    expect((await ask('[[reply: x]]', { signal: abort.signal })).stopReason).toBe('cancelled');
  });
});

describe('the key', () => {
  test('goes into the header, and only there', async () => {
    const result = await ask('[[reply: ok]]', {}, { apiKeyEnv: 'THE_KEY' });
    expect(server.calls[0]?.headers['authorization']).toBe(`Bearer ${KEY}`);
    expect(JSON.stringify(result)).not.toContain(KEY);
    const runner = createRunner('local', { type: 'openai', apiKeyEnv: 'THE_KEY', model: 'm' }, project);
    expect(JSON.stringify(runner.settings)).not.toContain(KEY);
  });

  test('is not sent to a server that it was not meant for', async () => {
    const withKey = projectIn(tmpdir(), { OPENAI_API_KEY: KEY });
    const runner = createRunner('local', { type: 'openai', baseUrl: `${server.url}/v1`, model: 'm' }, withKey);
    await runner.run(requestIn(withKey, { task: '[[reply: ok]]' }));
    expect(server.calls[0]?.headers['authorization']).toBeUndefined();
  });

  test('is blotted out where the server quotes it', async () => {
    const gossip = createServer((_request, response) => {
      response.statusCode = 401;
      response.end(JSON.stringify({ error: { message: `Incorrect API key provided: ${KEY}.` } }));
    });
    const result = await withServer(gossip, (baseUrl) => ask('hi', {}, { baseUrl, apiKeyEnv: 'THE_KEY' }));
    expect(result.failure?.message).toContain('***');
    expect(JSON.stringify(result)).not.toContain(KEY);
    expect(result.failure?.hint).toContain('THE_KEY');
  });
});

test('version says whether the server answers', async () => {
  const config: RunnerConfig = { type: 'openai', baseUrl: `${server.url}/v1`, model: 'm' };
  expect(await createRunner('local', config, project).version()).toEqual({ version: 'chat-completions' });
  const gone = await createRunner('local', { ...config, baseUrl: 'http://127.0.0.1:9' }, project).version();
  expect(gone).toMatchObject({ failure: { code: 'runner' } });
});

/** Says the same for as long as somebody listens. */
function endless(piece: string, everyMs: number, type = 'text/event-stream'): Server {
  return createServer((_request, response) => {
    response.setHeader('content-type', type);
    const timer = setInterval(() => response.write(piece), everyMs);
    response.on('close', () => clearInterval(timer));
  });
}

async function withServer<T>(http: Server, use: (baseUrl: string) => Promise<T>): Promise<T> {
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  try {
    return await use(`http://127.0.0.1:${(http.address() as AddressInfo).port}`);
  } finally {
    http.closeAllConnections();
    http.close();
  }
}
