import { describe, expect, test } from 'vitest';
import { foldClaude } from '../../src/agent/claude/fold.js';
import { foldCodex } from '../../src/agent/codex/fold.js';
import { foldPi } from '../../src/agent/pi/fold.js';
import type { RunnerEvent } from '../../src/agent/runner.js';
import { type ClientEnding, EMPTY_TRANSCRIPT, report, type Transcript, toResult } from '../../src/agent/transcript.js';

type Fold = (transcript: Transcript, line: string) => Transcript;

function foldAll(fold: Fold, events: readonly (object | string)[]): Transcript {
  return events
    .map((event) => (typeof event === 'string' ? event : JSON.stringify(event)))
    .reduce(fold, EMPTY_TRANSCRIPT);
}

const read = (fold: Fold, events: readonly (object | string)[], ending: Partial<ClientEnding> = {}) =>
  toResult(foldAll(fold, events), { who: 'it', ...ending });
const exit1 = { failure: { code: 'exit' as const, message: 'it exited with status 1' } };

describe('pi', () => {
  const cost = { input: 0.1, output: 0.2, cacheRead: 0.05, cacheWrite: 0, total: 0.35 };
  const usage = { input: 100, output: 20, cacheRead: 40, cacheWrite: 5, totalTokens: 165, cost };
  const assistant = (more: object) => ({
    type: 'message_end',
    message: { role: 'assistant', content: [], model: 'm', usage, stopReason: 'stop', ...more },
  });
  const text = (words: string) => ({ content: [{ type: 'text', text: words }] });
  const tool = (id: string, toolName: string, args: object, isError = false) => [
    { type: 'tool_execution_start', toolCallId: id, toolName, args },
    { type: 'tool_execution_end', toolCallId: id, toolName, isError, result: {} },
  ];
  const start = [{ type: 'session', version: 3 }, { type: 'agent_start' }, { type: 'turn_start' }];
  const end = { type: 'agent_end', messages: [] };

  test('the last assistant message is the answer; usage and cost are summed over all', () => {
    const user = { type: 'message_end', message: { role: 'user', content: [{ type: 'text', text: 'hi' }] } };
    const result = read(foldPi, [...start, user, assistant(text('first')), assistant(text('the answer')), end]);
    expect(result).toMatchObject({ text: 'the answer', model: 'm', turns: 2, stopReason: 'complete' });
    expect(result.usage).toEqual({ inputTokens: 210, cachedInputTokens: 80, outputTokens: 40, usd: 0.7 });
  });

  test('files count when the tool succeeded, once each', () => {
    const result = read(foldPi, [
      ...tool('1', 'read', { path: 'a.txt' }),
      ...tool('2', 'write', { path: 'b.txt', content: '' }),
      ...tool('3', 'edit', { path: 'b.txt' }),
      ...tool('4', 'edit', { path: 'failed.txt' }, true),
      ...tool('5', 'bash', { command: 'ls' }),
      assistant(text('ok')),
      end,
    ]);
    expect(result).toMatchObject({ filesRead: ['a.txt'], filesWritten: ['b.txt'], usedTools: true });
  });

  test('an error is a failure although it exits with 0', () => {
    const result = read(foldPi, [assistant({ stopReason: 'error', errorMessage: '429 slow down' }), end]);
    expect(result).toMatchObject({ stopReason: 'error', failure: { message: 'it: 429 slow down', transient: true } });
    const lasting = read(foldPi, [assistant({ stopReason: 'error', errorMessage: '401 bad key' }), end]);
    expect(lasting.failure?.transient ?? false).toBe(false);
  });

  test('an error that it got over by itself is none, but was paid for', () => {
    const retry = { type: 'auto_retry_start', attempt: 1, errorMessage: 'terminated' };
    const result = read(foldPi, [
      assistant({ stopReason: 'error', errorMessage: 'terminated' }),
      end,
      retry,
      assistant(text('fine')),
      end,
    ]);
    expect(result).toMatchObject({ text: 'fine', stopReason: 'complete' });
    expect(result.usage.outputTokens).toBe(40);
  });

  test('length and a content filter are not errors of other kinds', () => {
    expect(read(foldPi, [assistant({ ...text('half'), stopReason: 'length' }), end]).stopReason).toBe('length');
    const filtered = { stopReason: 'error', errorMessage: 'Provider finish_reason: content_filter' };
    expect(read(foldPi, [assistant(filtered), end]).stopReason).toBe('refusal');
  });

  test('U+2028 in a text is not a line end, unknown events are ignored, and updates are not parsed', () => {
    const odd = [{ type: 'brand_new_event' }, '{"type":"message_update", and then rubbish'];
    const result = read(foldPi, [...odd, assistant(text('a\u2028b')), end]);
    expect(result).toMatchObject({ text: 'a\u2028b', stopReason: 'complete' });
  });
});

describe('claude', () => {
  const init = { type: 'system', subtype: 'init', model: 'claude-x[1m]', claude_code_version: '2.1.0', tools: [] };
  const says = (content: object[], more: object = {}) => ({
    type: 'assistant',
    parent_tool_use_id: null,
    message: { role: 'assistant', model: 'claude-x', content, usage: { input_tokens: 9, output_tokens: 1 } },
    ...more,
  });
  const text = (words: string) => ({ type: 'text', text: words });
  const use = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input });
  const back = (id: string, isError = false) => ({
    type: 'user',
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, is_error: isError, content: '' }] },
  });
  const result = (more: object = {}) => ({
    type: 'result',
    subtype: 'success',
    is_error: false,
    api_error_status: null,
    num_turns: 3,
    result: 'the answer',
    stop_reason: 'end_turn',
    total_cost_usd: 0.25,
    usage: { input_tokens: 100, cache_creation_input_tokens: 7, cache_read_input_tokens: 40, output_tokens: 20 },
    permission_denials: [],
    ...more,
  });

  test('the result event is the answer; its usage counts, not the sum of messages', () => {
    const read1 = read(foldClaude, [init, says([text('thinking aloud')]), says([text('the answer')]), result()]);
    expect(read1).toMatchObject({
      text: 'the answer',
      model: 'claude-x',
      turns: 3,
      stopReason: 'complete',
      clientVersion: '2.1.0',
      usage: { inputTokens: 107, cachedInputTokens: 40, outputTokens: 20, usd: 0.25 },
    });
  });

  test('without a result, what the messages used is what is known to be spent; parts of one count once', () => {
    const part = (id: string, content: object) => {
      const event = says([content]);
      return { ...event, message: { ...event.message, id } };
    };
    const timeout = { failure: { code: 'timeout' as const, message: 'did not end within 1s' } };
    const stopped = [init, part('a', text('let me see')), part('a', use('1', 'Bash', {})), part('b', text('so'))];
    const { usage, turns } = read(foldClaude, stopped, timeout);
    expect({ usage, turns }).toEqual({ usage: { inputTokens: 18, cachedInputTokens: 0, outputTokens: 2 }, turns: 2 });
  });

  test('pieces of messages are a sign of life and nothing else', () => {
    const piece = '{"type":"stream_event","event":{"type":"content_block_delta"},"parent_tool_use_id":null}';
    expect(foldClaude(EMPTY_TRANSCRIPT, piece)).toBe(EMPTY_TRANSCRIPT);
  });

  test('usage per model includes sub-agents, and answers that did not stream', () => {
    const one = { inputTokens: 10, outputTokens: 2, cacheReadInputTokens: 3, cacheCreationInputTokens: 4, costUSD: 1 };
    const { usage } = read(foldClaude, [result({ usage: {}, modelUsage: { a: one, b: one } })]);
    expect(usage).toEqual({ inputTokens: 28, cachedInputTokens: 6, outputTokens: 4, usd: 0.25 });
  });

  test('files count when the tool succeeded; those of sub-agents too, but not their words', () => {
    const child = { parent_tool_use_id: 'toolu_0' };
    const folded = read(foldClaude, [
      says([use('1', 'Read', { file_path: '/p/a.txt' })]),
      back('1'),
      says([use('2', 'Write', { file_path: '/p/b.txt' }), use('3', 'Edit', { file_path: '/p/no.txt' })]),
      back('2'),
      back('3', true),
      says([use('4', 'NotebookEdit', { notebook_path: '/p/n.ipynb' }), text('sub-agent speaking')], child),
      back('4'),
    ]);
    expect(folded).toMatchObject({
      filesRead: ['/p/a.txt'],
      filesWritten: ['/p/b.txt', '/p/n.ipynb'],
      usedTools: true,
    });
    expect(folded.text).not.toContain('sub-agent');
  });

  test('an error may call itself a success', () => {
    const failed = result({ is_error: true, api_error_status: 529, result: 'API Error: 529 Overloaded' });
    expect(read(foldClaude, [init, failed], exit1)).toMatchObject({
      stopReason: 'error',
      failure: { code: 'runner', message: 'it: API Error: 529 Overloaded', transient: true },
    });
    const key = result({ is_error: true, api_error_status: 401, result: 'Failed to authenticate' });
    expect(read(foldClaude, [init, key], exit1).failure?.transient ?? false).toBe(false);
    const limit = result({ subtype: 'error_max_turns', result: undefined, errors: ['too many turns'] });
    expect(read(foldClaude, [limit]).failure?.message).toBe('it: too many turns');
  });

  test('a refusal and a cut answer are not errors of other kinds', () => {
    const synthetic = says([text('API Error: exceeded')], { error: 'max_output_tokens' });
    synthetic.message.model = '<synthetic>';
    const cut = [init, says([text('half')]), synthetic, result({ is_error: true, stop_reason: 'stop_sequence' })];
    expect(read(foldClaude, cut, exit1)).toMatchObject({ stopReason: 'length', text: 'half', model: 'claude-x' });
    const refused = result({ is_error: true, stop_reason: 'refusal', result: 'API Error: unable to respond' });
    expect(read(foldClaude, [init, refused], exit1).stopReason).toBe('refusal');
  });

  test('denied permissions are reported, though the answer is fine', () => {
    const denied = result({ permission_denials: [{ tool_name: 'Write' }] });
    expect(read(foldClaude, [init, denied])).toMatchObject({ stopReason: 'complete', permissionDenied: true });
  });
});

describe('codex', () => {
  const item = (type: string, more: object) => ({ type: 'item.completed', item: { id: '1', type, ...more } });
  const usage = { input_tokens: 140, cached_input_tokens: 40, output_tokens: 20 };
  const done = { type: 'turn.completed', usage };
  const failed = (message: string) => ({ type: 'turn.failed', error: { message } });

  test('the last agent message is the answer; cached input is not counted twice; cost and model are unknown', () => {
    const result = read(foldCodex, [
      { type: 'thread.started' },
      item('error', { message: 'Model metadata not found' }),
      { type: 'turn.started' },
      item('agent_message', { text: 'first' }),
      item('agent_message', { text: 'the answer' }),
      done,
    ]);
    expect(result).toMatchObject({ text: 'the answer', turns: 1, stopReason: 'complete', usedTools: false });
    expect(result.usage).toEqual({ inputTokens: 100, cachedInputTokens: 40, outputTokens: 20 });
    expect(result.model).toBeUndefined();
  });

  test('changed files and commands', () => {
    const changes = [
      { path: '/p/a.txt', kind: 'add' },
      { path: '/p/b.txt', kind: 'update' },
    ];
    const result = read(foldCodex, [
      { type: 'item.started', item: { id: '1', type: 'file_change', changes, status: 'in_progress' } },
      item('file_change', { changes, status: 'completed' }),
      item('file_change', { changes: [{ path: '/p/no.txt', kind: 'add' }], status: 'failed' }),
      item('command_execution', { command: 'ls', exit_code: 0 }),
      done,
    ]);
    expect(result).toMatchObject({ filesWritten: ['/p/a.txt', '/p/b.txt'], usedTools: true });
  });

  test('its own retries are news, a failed turn is final', () => {
    const news = { type: 'error', message: 'Reconnecting... 1/5 (stream disconnected before completion)' };
    expect(read(foldCodex, [news, item('agent_message', { text: 'ok' }), done]).stopReason).toBe('complete');
    const lost = read(foldCodex, [news, failed('stream disconnected before completion: network error')], exit1);
    expect(lost).toMatchObject({ stopReason: 'error', failure: { code: 'runner', transient: true } });
    expect(read(foldCodex, [failed('We are experiencing high demand')], exit1).failure?.transient).toBe(true);
    const bad = read(foldCodex, [failed('unexpected status 401 Unauthorized')], exit1);
    expect(bad.failure?.transient ?? false).toBe(false);
  });

  test('length and a content filter are not errors of other kinds', () => {
    const why = (reason: string) => read(foldCodex, [failed(`Incomplete response returned, reason: ${reason}`)], exit1);
    expect(why('max_output_tokens').stopReason).toBe('length');
    expect(why('content_filter').stopReason).toBe('refusal');
  });
});

describe.each([
  ['pi', foldPi],
  ['claude', foldClaude],
  ['codex', foldCodex],
] as const)('%s: what is not an answer', (_name, fold) => {
  test('garbage with status 0 is a failure with a sample of it', () => {
    const result = read(fold, ['', 'Welcome! Please log in at the web page', '{"type": 3}']);
    expect(result.stopReason).toBe('error');
    expect(result.failure?.message).toContain('Please log in');
  });

  test('nothing at all with status 0 is a failure', () => {
    expect(read(fold, []).failure?.message).toContain('without an answer');
  });

  test('a stream that was cut off is a failure, though its beginning was fine', () => {
    expect(read(fold, ['{"type":"thread.started"}', '{"type":"assist']).stopReason).toBe('error');
  });

  test('a status other than 0 without a reason is a failure with the tail of stderr', () => {
    expect(read(fold, [], { ...exit1, detail: 'cannot find module\n' })).toMatchObject({
      stopReason: 'error',
      failure: { code: 'exit', detail: 'cannot find module' },
    });
  });

  test('names like __proto__ in events do no harm', () => {
    const folded = foldAll(fold, ['{"type":"x","__proto__":{"ended":true}}', '{"__proto__":{"type":"result"}}']);
    expect(folded.ended).toBe(false);
  });
});

test('our own limit outweighs what a client managed to say before it', () => {
  const timeout = { failure: { code: 'timeout' as const, message: 'did not end within 1s' } };
  const transcript: Transcript = { ...EMPTY_TRANSCRIPT, error: 'terminated', ended: true };
  expect(toResult(transcript, { who: 'it', ...timeout }).failure?.code).toBe('timeout');
  const interrupted = { failure: { code: 'interrupted' as const, message: 'interrupted' } };
  expect(toResult({ ...EMPTY_TRANSCRIPT, ended: true }, { who: 'it', ...interrupted }).stopReason).toBe('cancelled');
});

test('progress reports what is new, once', () => {
  const after: Transcript = { ...EMPTY_TRANSCRIPT, text: 'abc', turns: 1, model: 'm', lastTool: { name: 'read' } };
  const heard: string[] = [];
  const listener = {
    onEvent: ({ type }: RunnerEvent) => heard.push(type),
    onText: (piece: string) => heard.push(piece),
  };
  report(listener, EMPTY_TRANSCRIPT, after);
  expect(heard.splice(0)).toEqual(['model', 'turn', 'tool', 'abc']);
  report(listener, after, { ...after, text: 'abcdef' });
  expect(heard.splice(0)).toEqual(['def']);
  report(listener, after, after);
  expect(heard).toEqual([]);
});
