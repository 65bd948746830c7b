import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStore } from '../../src/store/disk-store.js';
import type { Store } from '../../src/store/store.js';
import { textOf } from '../support/output-text.js';
import { memoryStore } from './memory-store.js';
import { key, makeEntry, type Scratch, scratch } from './store-support.js';

let place: Scratch;
beforeEach(() => {
  place = scratch();
});
afterEach(() => place.remove());

describe.each([
  ['disk store', () => openStore(place.options())],
  ['disk store with a signing key', () => openStore(place.options({ signingKey: 'k' }))],
  ['in-memory model', () => memoryStore()],
])('%s', (_name, open: () => Store) => {
  const now = () => Date.now();

  test('gives back what was put, whole', () => {
    const store = open();
    const entry = makeEntry('a', {
      output: { text: 'Grüße\n\0 \ud83d\ude00 "quoted"', json: { list: [1, null, 'x'] }, base64: 'AAE=' },
      model: 'm-1',
      facts: { winner: 2 },
      files: [{ path: 'dist/x', digest: key('x'), mode: 0o644 }],
    });
    expect(store.put(entry)).toEqual({ stored: true });
    expect(store.peek(entry.key, { now: now() })).toMatchObject({ entry });
    // A look-up leaves out what it was made from.
    const { identity: _, ...kept } = entry;
    expect(store.get(entry.key, { now: now() })).toMatchObject({ entry: kept });
  });

  test('what was never put is a miss, and so is a name that is no key', () => {
    expect(open().get(key('a'), { now: now() })).toEqual({ miss: { code: 'absent', reason: 'no entry' } });
    expect(open().get('../../etc/passwd', { now: now() })).toMatchObject({ miss: { code: 'absent' } });
  });

  test('a later put replaces an earlier one', () => {
    const store = open();
    store.put(makeEntry('a'));
    store.put(makeEntry('a', { output: { text: 'second', json: null } }));
    expect(store.get(key('a'), { now: now() })).toMatchObject({ entry: { output: { text: 'second' } } });
  });

  test('ttl and a creation time in the future are misses; a clock that differs by minutes is not', () => {
    const store = open();
    const at = now();
    store.put(makeEntry('a', { createdAt: at }));
    expect(store.get(key('a'), { now: at + 7 * 3_600_000, ttlMs: 6 * 3_600_000 })).toMatchObject({
      miss: { code: 'expired' },
    });
    expect(store.get(key('a'), { now: at + 5 * 3_600_000, ttlMs: 6 * 3_600_000 })).toHaveProperty('entry');
    expect(store.get(key('a'), { now: at - 6 * 60_000 })).toMatchObject({ miss: { code: 'future' } });
    expect(store.get(key('a'), { now: at - 4 * 60_000 })).toHaveProperty('entry');
  });

  test('what was removed is gone', () => {
    const store = open();
    store.put(makeEntry('a'));
    store.remove(key('a'));
    store.remove(key('a'));
    expect(store.get(key('a'), { now: now() })).toHaveProperty('miss');
  });

  test('the second claimant waits for the first and learns that the result is there', async () => {
    const store = open();
    const first = await store.claim(key('a'), {});
    if (!('claim' in first)) throw new Error('no claim');
    const waits: string[] = [];
    const second = store.claim(key('a'), { onWait: (holder) => waits.push(holder) });
    await pause(20);
    expect(first.claim.put(makeEntry('a'))).toEqual({ stored: true });
    expect(await second).toEqual({ ready: true });
    expect(waits).toHaveLength(1);
    expect(store.get(key('a'), { now: now() })).toHaveProperty('entry');
  });

  test('fifty concurrent callers of one key execute once', async () => {
    const store = open();
    let executions = 0;
    const results = await Promise.all(
      Array.from({ length: 50 }, async () => {
        for (;;) {
          const hit = store.get(key('a'), { now: now() });
          if ('entry' in hit) return textOf(hit.entry.output);
          const turn = await store.claim(key('a'), {});
          if (!('claim' in turn)) continue;
          executions += 1;
          await pause(5);
          turn.claim.put(makeEntry('a'));
          return 'executed';
        }
      }),
    );
    expect(executions).toBe(1);
    expect(results.filter((text) => text === 'output of a')).toHaveLength(49);
  });

  test('a failure is not shared: the next one computes', async () => {
    const store = open();
    const first = await store.claim(key('a'), {});
    const second = store.claim(key('a'), {});
    if ('claim' in first) first.claim.release();
    expect(await second).toHaveProperty('claim');
  });

  test('waiting can be given up, and the holder is not disturbed', async () => {
    const store = open();
    const first = await store.claim(key('a'), {});
    const abort = new AbortController();
    const second = store.claim(key('a'), { signal: abort.signal });
    abort.abort();
    expect(await second).toHaveProperty('unavailable');
    if ('claim' in first) expect(first.claim.put(makeEntry('a'))).toEqual({ stored: true });
  });

  test('claims of different keys do not wait for each other', async () => {
    const store = open();
    expect(await store.claim(key('a'), {})).toHaveProperty('claim');
    expect(await store.claim(key('b'), {})).toHaveProperty('claim');
  });

  test('an expired entry can be claimed and computed again', async () => {
    const store = open();
    store.put(makeEntry('a', { createdAt: now() - 1_000 }));
    expect(store.get(key('a'), { now: now(), ttlMs: 10 })).toMatchObject({ miss: { code: 'expired' } });
    const turn = await store.claim(key('a'), {});
    if (!('claim' in turn)) throw new Error('no claim');
    turn.claim.put(makeEntry('a', { output: { text: 'fresh', json: null } }));
    expect(store.get(key('a'), { now: now(), ttlMs: 60_000 })).toMatchObject({ entry: { output: { text: 'fresh' } } });
  });

  test('seals are equal for equal values, differ for others, and do not show the value', () => {
    const store = open();
    expect(store.seal('hunter2')).toBe(store.seal('hunter2'));
    expect(store.seal('hunter2')).not.toBe(store.seal('hunter3'));
    expect(store.seal('hunter2')).not.toContain('hunter2');
  });

  test('files are kept by content and restored byte for byte with their mode', () => {
    const store = open();
    const dir = mkdtempSync(join(tmpdir(), 'blob-'));
    const bytes = Buffer.from([0, 255, 10, 13, 128]);
    writeFileSync(join(dir, 'tool'), bytes, { mode: 0o755 });
    const kept = store.blobs.keep(join(dir, 'tool'));
    if ('failed' in kept) throw new Error(kept.failed);
    expect(store.blobs.has(kept.digest)).toBe(true);
    expect(store.blobs.has(key('other'))).toBe(false);
    rmSync(join(dir, 'tool'));
    expect(store.blobs.restore(kept.digest, join(dir, 'tool'), kept.mode)).toEqual({ restored: true });
    expect(readFileSync(join(dir, 'tool'))).toEqual(bytes);
    expect(statSync(join(dir, 'tool')).mode & 0o777).toBe(0o755);
    expect(store.blobs.restore(key('other'), join(dir, 'x'), 0o600)).toHaveProperty('failed');
    rmSync(dir, { recursive: true });
  });
});
