import type { DiskStore } from '../store/disk-store.js';
import { eachEntry } from '../store/list-entries.js';
import { Pace, type Watcher } from '../store/pace.js';
import { Breaker } from './breaker.js';
import { openRemote } from './open-remote.js';
import type { RemoteSettings } from './settings.js';
import { SharedCache } from './shared-cache.js';
import { staysHere } from './stays-here.js';

interface Pushed {
  readonly pushed: number;
  /** The server had them already. */
  readonly known: number;
  /** Not uploaded: their keys are made with this store's own secret, or they cannot be read. */
  readonly left: number;
  readonly failed: number;
  readonly why?: string;
}

interface PushOptions {
  readonly disk: DiskStore;
  readonly settings: RemoteSettings;
  /** Only entries of this flow. */
  readonly flow?: string;
}

const AT_ONCE = 8;

/** Uploads what the local store has and the server has not. */
export async function pushEntries({ disk, settings, flow }: PushOptions, watcher?: Watcher): Promise<Pushed> {
  const { project, signingKey } = disk.options;
  const keys: string[] = [];
  const add = (row: { readonly key: string; readonly flow: string }) => {
    if (flow === undefined || row.flow === flow) keys.push(row.key);
  };
  await eachEntry(disk.options, add, watcher);
  const counts = { pushed: 0, known: 0, left: 0, failed: 0 };
  let why: string | undefined;
  const breaker = new Breaker((_direction, reason) => {
    why = reason;
  });
  const remote = await openRemote(settings, project);
  const cache = new SharedCache({ settings, remote, disk, breaker });
  const one = async (key: string): Promise<keyof typeof counts> => {
    if (breaker.isOff('write')) return 'failed';
    const got = disk.peek(key, { now: project.clock.now() });
    if ('miss' in got || (signingKey === undefined && staysHere(got.entry))) return 'left';
    if (await cache.has(key)) return 'known';
    const problem = await cache.upload(got.entry);
    why ??= problem;
    return problem === undefined ? 'pushed' : 'failed';
  };
  const pace = new Pace(watcher);
  pace.begin('uploading', keys.length);
  let next = 0;
  const work = async () => {
    while (next < keys.length) {
      counts[await one(keys[next++]!)] += 1;
      if (pace.tick()) await pace.rest();
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    breaker.stop();
    remote.close();
  }
  return { ...counts, ...(why !== undefined && { why }) };
}
