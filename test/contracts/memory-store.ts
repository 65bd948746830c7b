import { readFileSync, statSync, writeFileSync } from 'node:fs';
import type { Claim, Entry, Store } from '../../src/store/store.js';
import { sha256Hex } from '../../src/util/digest.js';

/** What a store is, without anything that makes one hard: a map. The disk store has to behave the same. */
export function memoryStore(): Store {
  const entries = new Map<string, Entry>();
  const claims = new Map<string, Promise<void>>();
  const files = new Map<string, Buffer>();

  const store: Store = {
    peek: (key, options) => store.get(key, options) as ReturnType<Store['peek']>,
    get(key, { ttlMs, now }) {
      const entry = entries.get(key);
      if (!entry) return { miss: { code: 'absent', reason: 'no entry' } };
      const age = now - entry.createdAt;
      if (age < -300_000) return { miss: { code: 'future', reason: 'future' } };
      if (ttlMs !== undefined && age > ttlMs) return { miss: { code: 'expired', reason: 'expired' } };
      return { entry };
    },
    async claim(key, { signal, onWait }) {
      const before = entries.get(key);
      for (let held = claims.get(key); held; held = claims.get(key)) {
        onWait?.('holder');
        const aborted = new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
        await Promise.race([held, aborted]);
        if (signal?.aborted) return { unavailable: 'interrupted' };
        if (entries.get(key) !== before) return { ready: true };
      }
      return { claim: hold(key) };
    },
    put(entry) {
      entries.set(entry.key, entry);
      return { stored: true };
    },
    remove: (key) => void entries.delete(key),
    seal: (value) => sha256Hex(`secret ${value}`),
    blobs: {
      keep(path) {
        const bytes = readFileSync(path);
        files.set(sha256Hex(bytes), bytes);
        return { digest: sha256Hex(bytes), mode: statSync(path).mode & 0o7777 };
      },
      adopt(path, { digest }) {
        files.set(digest, readFileSync(path));
        return { kept: true };
      },
      keepText(text) {
        files.set(sha256Hex(text), Buffer.from(text));
        return { digest: sha256Hex(text) };
      },
      readText: (digest) => files.get(digest)?.toString(),
      has: (digest) => files.has(digest),
      restore(digest, path, mode) {
        const bytes = files.get(digest);
        if (!bytes) return { failed: 'missing' };
        writeFileSync(path, bytes, { mode });
        return { restored: true };
      },
    },
  };

  function hold(key: string): Claim {
    let end = () => {};
    claims.set(
      key,
      new Promise<void>((resolve) => {
        end = resolve;
      }),
    );
    const letGo = () => {
      claims.delete(key);
      end();
    };
    return {
      put(entry) {
        store.put(entry);
        letGo();
        return { stored: true };
      },
      release: letGo,
    };
  }
  return store;
}
