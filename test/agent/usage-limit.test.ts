import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { foldClaude } from '../../src/agent/claude/fold.js';
import { readJsonAnswer } from '../../src/agent/command/read-answer.js';
import { askedPause } from '../../src/agent/openai/asked-pause.js';
import { resetTime } from '../../src/agent/reset-time.js';
import { EMPTY_TRANSCRIPT, toResult } from '../../src/agent/transcript.js';
import { usageLimit } from '../../src/agent/usage-limit.js';

const HOUR = 3_600_000;
/** A Wednesday, 12:00 in Berlin. */
const NOW = Date.parse('2026-11-18T11:00:00Z');
const at = (iso: string) => Date.parse(iso);
const failed = (message: string) => ({ code: 'runner', message, hint: 'look at the key' }) as const;

let zone: string | undefined;
beforeAll(() => {
  zone = process.env['TZ'];
  process.env['TZ'] = 'Europe/Berlin';
});
afterAll(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

describe('the words of clients and providers', () => {
  it.each([
    // claude, of three years.
    ['Claude AI usage limit reached|1762952400', 1_762_952_400_000],
    ['5-hour limit reached ∙ resets 3pm', at('2026-11-18T14:00:00Z')],
    ['5-hour limit reached ∙ resets 9am', at('2026-11-19T08:00:00Z')],
    ["You've hit your limit · resets 11pm (Europe/Warsaw)", at('2026-11-18T22:00:00Z')],
    ["You've hit your session limit · resets 12:50am (America/Los_Angeles)", at('2026-11-19T08:50:00Z')],
    ["You've hit your session limit · resets 2:50am (Asia/Muscat)\n/login to switch", at('2026-11-18T22:50:00Z')],
    ["You've hit your Opus limit · resets Nov 21, 6pm (UTC)", at('2026-11-21T18:00:00Z')],
    ["You've hit your weekly limit · resets Jan 2, 2027, 4:30pm (Europe/Rome)", at('2027-01-02T15:30:00Z')],
    ['Claude usage limit reached. Your limit will reset at 3pm (America/Santiago).', at('2026-11-18T18:00:00Z')],
    ['Claude usage limit reached. Your limit will reset at Nov 20, 6pm.', at('2026-11-20T17:00:00Z')],
    // codex.
    [
      "You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again " +
        'in 5 days 22 hours 11 minutes.',
      NOW + 142 * HOUR + 11 * 60_000,
    ],
    ["You've hit your usage limit. Try again in 4 days 20 hours 9 minutes.", NOW + 116 * HOUR + 9 * 60_000],
    ["You've hit your usage limit. Try again in less than a minute.", NOW + 60_000],
    [
      'You’ve hit your usage limit. Upgrade to Plus to continue using Codex ' +
        '(https://chatgpt.com/explore/plus), or try again at Jul 5th, 2027 8:19 PM.',
      at('2027-07-05T18:19:00Z'),
    ],
    [
      'You’ve hit your usage limit. Visit https://chatgpt.com/settings/usage to purchase more credits ' +
        'or try again at 3:05 PM.',
      at('2026-11-18T14:05:00Z'),
    ],
    [
      "You've hit your usage limit for GPT-5.3-Codex-Spark. Switch to another model now, or try again at 3:05 PM.",
      at('2026-11-18T14:05:00Z'),
    ],
    [
      'You’ve hit your usage limit. To get more access now, send a request to your admin or try again later.',
      undefined,
    ],
    // pi.
    ['You have hit your ChatGPT usage limit (plus plan). Try again in ~43 min.', NOW + 43 * 60_000],
    ['You have hit your ChatGPT usage limit.', undefined],
    [
      '429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed ' +
        'your account\'s rate limit. Please try again later."}}',
      undefined,
    ],
    // A server behind a proxy.
    ['HTTP 429: The usage limit has been reached (usage_limit_reached) {"resets_at":1775317531}', 1_775_317_531_000],
    ['usage limit reached, resets at 2026-11-18T15:30:00Z', at('2026-11-18T15:30:00Z')],
  ])('%s', (words, resetsAt) => {
    const failure = usageLimit(failed(words), NOW);
    expect(failure).toMatchObject({ code: 'usage-limit', transient: true, message: words });
    expect(failure.resetsAt).toBe(resetsAt);
    expect(failure.hint).toBeUndefined();
  });

  it.each([
    'Rate limit reached for gpt-5 in organization org-x on tokens per min. Please try again in 1.5s.',
    'HTTP 429: Too Many Requests',
    "You've hit your org's monthly spend limit · run /usage-credits to ask your admin for a higher limit",
    "You're out of usage credits",
    'Your credit balance is too low to access the API',
    'You exceeded your current quota, please check your plan and billing details. (insufficient_quota)',
    'context length limit reached',
    'HTTP 500: it resets 3pm',
  ])('is no usage limit: %s', (words) => {
    expect(usageLimit(failed(words), NOW)).toEqual(failed(words));
  });

  it('on the error stream of a program that failed without another word', () => {
    const failure = usageLimit({ code: 'exit', message: 'exit status 1', detail: 'Claude usage limit reached.' }, NOW);
    expect(failure).toMatchObject({ code: 'usage-limit', detail: 'Claude usage limit reached.' });
  });

  it('a time of day that has just passed is not tomorrow', () => {
    expect(resetTime('resets 11:58am', NOW)).toBe(NOW - 120_000);
    expect(resetTime('resets 11:30am', NOW)).toBe(NOW + 23.5 * HOUR);
  });

  it.each([
    'resets 25:99',
    'resets in -3 hours',
    'resets at NaN',
    'resets 3',
    'resets Foo 99, 3',
    '|99999999999999999',
  ])('no time: %s', (words) => {
    expect(resetTime(words, NOW)).toBeUndefined();
  });

  it('a change of the clocks lies between now and then', () => {
    const before = at('2026-10-24T20:00:00Z');
    expect(resetTime('resets Oct 25, 3:30am (Europe/Berlin)', before)).toBe(at('2026-10-25T02:30:00Z'));
    expect(resetTime('resets Oct 25, 9am (Europe/Berlin)', before)).toBe(at('2026-10-25T08:00:00Z'));
  });
});

describe('what a client says in its stream', () => {
  const events = (...lines: object[]) =>
    toResult(lines.map((line) => JSON.stringify(line)).reduce(foldClaude, EMPTY_TRANSCRIPT), { who: 'claude' });
  const limit = (info: object) => ({ type: 'rate_limit_event', rate_limit_info: info });
  const result = (more: object) => ({ type: 'result', subtype: 'success', result: 'fine', ...more });
  const refused = result({ is_error: true, api_error_status: 429, result: "You've hit your session limit" });

  it('claude: the event has the second, its words only the minute', () => {
    const { failure } = events(limit({ status: 'rejected', resetsAt: 1_775_317_531 }), refused);
    expect(failure).toMatchObject({ code: 'usage-limit', resetsAt: 1_775_317_531_000 });
  });

  it('claude: a warning, or a limit that something else is paid for, is no failure', () => {
    expect(events(limit({ status: 'allowed_warning', resetsAt: 1_775_317_531 }), result({})).failure).toBeUndefined();
    expect(events(limit({ status: 'rejected', resetsAt: 1_775_317_531 }), result({})).failure).toBeUndefined();
    const broken = result({ is_error: true, api_error_status: 500, result: 'API Error: 500' });
    expect(events(limit({ status: 'rejected', resetsAt: 1_775_317_531 }), broken).failure?.code).toBe('runner');
  });

  it.each([
    ['seconds', 1_775_317_531, 1_775_317_531_000],
    ['milliseconds', 1_775_317_531_123, 1_775_317_531_123],
    ['a date', '2026-11-18T15:30:00+01:00', at('2026-11-18T14:30:00Z')],
    ['null: it does not know', null, undefined],
    ['less than nothing', -5, undefined],
    ['nonsense', 'soon', undefined],
    ['beyond all dates', 1e300, undefined],
  ])('a command: error.resetsAt in %s', (_what, resetsAt, expected) => {
    const answer = readJsonAnswer(JSON.stringify({ error: { message: 'enough for today', resetsAt } }));
    const { failure } = toResult(answer, { who: 'mine' });
    expect(failure).toMatchObject({ code: 'usage-limit', message: 'mine: enough for today' });
    expect(failure?.resetsAt).toBe(expected);
  });
});

describe('what an HTTP answer asks for', () => {
  const date = new Date(NOW).toUTCString();
  const asked = (status: number, headers: object, body = '') => askedPause(status, { date, ...headers }, body);

  it.each<[string, object, object]>([
    ['seconds', { 'retry-after': '7' }, { retryAfterMs: 7_000 }],
    ['hours', { 'retry-after': '7200' }, { retryAfterMs: 2 * HOUR, limited: true }],
    ['openai: the counter that ran out', reset('6m0s', '0', '1s', '5'), { retryAfterMs: 360_000, limited: true }],
    ['openai: none ran out, the first', reset('6m0s', '3', '120ms', '5'), { retryAfterMs: 120 }],
    ['an epoch in ms', { 'x-ratelimit-reset': `${NOW + HOUR}` }, { retryAfterMs: HOUR, limited: true }],
    ['an epoch in s', { 'x-ratelimit-reset': `${NOW / 1_000 + 30}` }, { retryAfterMs: 30_000 }],
    ['seconds in the header of the standard', { 'ratelimit-reset': '30' }, { retryAfterMs: 30_000 }],
    ['anthropic', { 'anthropic-ratelimit-tokens-reset': '2026-11-18T11:00:20Z' }, { retryAfterMs: 20_000 }],
    ['both: retry-after', { 'retry-after': '3', 'x-ratelimit-reset': '9000' }, { retryAfterMs: 3_000 }],
    ['the past', { 'x-ratelimit-reset': `${NOW - HOUR}` }, {}],
    ['nonsense', { 'x-ratelimit-reset': 'NaN', 'retry-after': '-4' }, {}],
    ['an epoch, and no clock', { 'x-ratelimit-reset': `${NOW}`, date: undefined }, { limited: true, resetsAt: NOW }],
  ])('429 with %s', (_what, headers, expected) => {
    expect(asked(429, headers)).toEqual(expected);
  });

  it('in the body', () => {
    const body = {
      error: { type: 'usage_limit_reached', message: 'x', resets_at: 1_775_317_531, resets_in_seconds: 9 },
    };
    expect(asked(429, {}, JSON.stringify(body))).toEqual({ limited: true, resetsAt: 1_775_317_531_000 });
    expect(asked(429, {}, '{"error":{"resets_in_seconds":900}}')).toEqual({ retryAfterMs: 900_000, limited: true });
    expect(asked(429, {}, '{"resets_in_seconds"')).toEqual({});
  });

  it('503 is no usage limit, however long it takes', () => {
    expect(asked(503, { 'retry-after': '7200' })).toEqual({ retryAfterMs: 2 * HOUR });
    expect(asked(503, { 'x-ratelimit-reset': '7200' })).toEqual({});
  });
});

function reset(requests: string, requestsLeft: string, tokens: string, tokensLeft: string) {
  return {
    'x-ratelimit-reset-requests': requests,
    'x-ratelimit-remaining-requests': requestsLeft,
    'x-ratelimit-reset-tokens': tokens,
    'x-ratelimit-remaining-tokens': tokensLeft,
  };
}
