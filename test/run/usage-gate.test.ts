import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Failure } from '../../src/model/failure.js';
import { type Entered, type Pass, UsageGate } from '../../src/run/execute/usage-gate.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

beforeEach(() => {
  vi.useFakeTimers({ now: 1_800_000_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

const clock = { now: () => Date.now(), elapsed: () => Date.now() };
const gateOf = (more: object = {}) =>
  new UsageGate({ runner: 'claude', clock, mostMs: 6 * HOUR, waits: true, ...more });
const limit = (resetsAt?: number): Failure => ({ code: 'usage-limit', message: 'enough', transient: true, resetsAt });

/** Somebody at the gate; `got` is what it was answered. */
function waiter(gate: UsageGate, signal = new AbortController().signal) {
  const state: { got?: Entered } = {};
  void Promise.resolve(gate.enter(() => [signal])).then((entered) => {
    state.got = entered;
  });
  return state;
}
const passOf = ({ got }: { got?: Entered }) => got as Pass;

describe('after the reset', () => {
  it('one goes first; the others follow when it was let through', async () => {
    const gate = gateOf();
    gate.refused(limit(Date.now() + HOUR), undefined);
    const waiting = [1, 2, 3].map(() => waiter(gate));
    await vi.advanceTimersByTimeAsync(HOUR - 1);
    expect(waiting.map(({ got }) => got)).toEqual([undefined, undefined, undefined]);
    await vi.advanceTimersByTimeAsync(MINUTE);
    const through = waiting.filter(({ got }) => got);
    expect(through).toHaveLength(1);
    expect(passOf(through[0]!).trial).toBe(true);
    gate.passed(passOf(through[0]!));
    await vi.advanceTimersByTimeAsync(1);
    expect(waiting.every(({ got }) => got)).toBe(true);
    expect(gate.waitedMs).toBeGreaterThanOrEqual(HOUR);
  });

  it('the limit still holds: all wait again, and only one call was made', async () => {
    const gate = gateOf();
    gate.refused(limit(Date.now() + HOUR), undefined);
    const waiting = [1, 2, 3].map(() => waiter(gate));
    await vi.advanceTimersByTimeAsync(HOUR + 1);
    const answer = gate.refused(limit(Date.now() + 2 * HOUR), undefined);
    expect(answer.closed).toEqual({ until: Date.now() + 2 * HOUR, known: true, waits: true });
    await vi.advanceTimersByTimeAsync(HOUR);
    expect(waiting.filter(({ got }) => got)).toHaveLength(1);
  });

  it('the one that went first gave up: another one goes', async () => {
    const gate = gateOf();
    gate.refused(limit(Date.now() + 1_000), undefined);
    const waiting = [1, 2].map(() => waiter(gate));
    await vi.advanceTimersByTimeAsync(1_001);
    const [first] = waiting.filter(({ got }) => got);
    gate.leave(passOf(first!));
    await vi.advanceTimersByTimeAsync(1);
    expect(waiting.map((one) => passOf(one).trial)).toEqual([true, true]);
  });

  it('whoever waited for a slot while the limit was met has to come again', async () => {
    const gate = gateOf();
    const early = waiter(gate);
    await vi.advanceTimersByTimeAsync(0);
    gate.refused(limit(Date.now() + HOUR), undefined);
    expect(gate.admits(passOf(early))).toBe(false);
    // A call that began before proves nothing about the limit.
    gate.passed(passOf(early));
    const late = waiter(gate);
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(late.got).toBeUndefined();
  });
});

describe('how long', () => {
  it('calls that are refused together close it one time', () => {
    const gate = gateOf();
    const until = Date.now() + HOUR;
    expect(gate.refused(limit(until), undefined).closed).toBeDefined();
    expect(gate.refused(limit(until + 900), undefined).closed).toBeUndefined();
    expect(gate.refused(limit(), undefined).closed).toBeUndefined();
    expect(gate.refused(limit(until + HOUR), undefined).closed?.until).toBe(until + HOUR);
  });

  it('no time is said: later and later, up to the bound, then it fails', async () => {
    const gate = gateOf({ mostMs: HOUR });
    const pauses: number[] = [];
    let failure = limit();
    for (let answer = gate.refused(limit(), undefined); ; answer = gate.refused(limit(), undefined)) {
      failure = answer.failure;
      if (!failure.transient) break;
      expect(answer.closed).toMatchObject({ known: false, waits: true });
      pauses.push(answer.closed!.until - Date.now());
      const next = waiter(gate);
      await vi.advanceTimersByTimeAsync(pauses.at(-1)!);
      expect(passOf(next).trial).toBe(true);
    }
    expect(pauses.map((ms) => ms / MINUTE)).toEqual([1, 2, 4, 8, 16]);
    expect(failure.message).toContain('does not say when it resets, and limits.resetWait is 1h, after 31m of waiting');
    expect(failure.hint).toContain('what is done is kept');
  });

  it.each([
    ['in 2099', () => Date.parse('2099-01-01T00:00:00Z'), 'resets in 26'],
    ['later than the bound', () => Date.now() + 7 * HOUR, 'resets in 7h, and limits.resetWait is 6h'],
  ])('a reset %s fails at once, and so does all that comes', async (_what, resetsAt, message) => {
    const gate = gateOf();
    const { failure, closed } = gate.refused(limit(resetsAt()), undefined);
    expect(failure.transient).toBeUndefined();
    expect(failure.message).toContain(message);
    expect(closed?.waits).toBe(false);
    const next = waiter(gate);
    await vi.advanceTimersByTimeAsync(0);
    expect(next.got).toMatchObject({ how: 'fails', failure: { code: 'usage-limit' } });
  });

  it('later than --timeout leaves fails at once', () => {
    const { failure } = gateOf().refused(limit(Date.now() + HOUR), 5 * MINUTE);
    expect(failure.message).toContain('resets in 1h, and 5m is what --timeout leaves');
  });

  it.each([
    ['the past', -HOUR],
    ['now', 0],
  ])('a reset in %s is asked again after a while', async (_what, ms) => {
    const { closed } = gateOf().refused(limit(Date.now() + ms), undefined);
    expect(closed).toEqual({ until: Date.now() + MINUTE, known: false, waits: true });
  });

  it.each([Number.NaN, Number.NEGATIVE_INFINITY])('a reset at %s', (resetsAt) => {
    expect(gateOf().refused(limit(resetsAt), undefined).closed?.until).toBe(Date.now() + MINUTE);
  });

  it('whoever is interrupted waits no longer', async () => {
    const gate = gateOf();
    gate.refused(limit(Date.now() + HOUR), undefined);
    const controller = new AbortController();
    const one = waiter(gate, controller.signal);
    await vi.advanceTimersByTimeAsync(MINUTE);
    controller.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect(one.got).toBe('aborted');
  });

  it('without waiting, whoever comes is told so until the reset', async () => {
    const gate = gateOf({ waits: false });
    expect(gate.refused(limit(Date.now() + 99 * HOUR), undefined).failure.transient).toBe(true);
    const one = waiter(gate);
    await vi.advanceTimersByTimeAsync(0);
    expect(one.got).toMatchObject({ how: 'pauses' });
  });
});
