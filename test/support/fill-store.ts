import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { recomputeKey } from '../../src/memo/identity.js';
import { openStore } from '../../src/store/disk-store.js';
import type { StoreOptions } from '../../src/store/options.js';
import { makeEntry } from '../contracts/store-support.js';

/** Puts valid entries, as a run does; every tenth has a kept file. Returns their keys. */
export function fillStore(options: StoreOptions, count: number): string[] {
  const store = openStore(options);
  const keys: string[] = [];
  for (let i = 0; i < count; i++) {
    const entry = makeEntry(String(i), { flow: `f${i % 2}`, ...(i % 10 === 9 && { files: [keptFile(i)] }) });
    const identity = { version: 1, flow: entry.flow, phase: 'p', fingerprints: [], upstream: [], body: { task: i } };
    const key = recomputeKey(identity)!;
    const put = store.put({ ...entry, key, identity });
    if (!put.stored) throw new Error(put.reason);
    keys.push(key);
  }
  store.log.flush();
  return keys;

  function keptFile(i: number) {
    const path = join(options.project.root, 'kept.txt');
    writeFileSync(path, `file ${i}\n`);
    const kept = store.blobs.keep(path);
    if ('failed' in kept) throw new Error(kept.failed);
    return { path: `out/${i}.txt`, ...kept };
  }
}
