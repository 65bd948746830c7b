import type { Config } from '../model/config.js';
import type { DiskStore } from '../store/disk-store.js';
import type { CheckOptions } from '../store/options.js';
import type { Entry, Fetched, GetOptions } from '../store/store.js';
import { plural } from '../util/format.js';
import { onAbort } from '../util/on-abort.js';
import { Breaker } from './breaker.js';
import { openProtocol } from './open-protocol.js';
import { Remote } from './remote.js';
import { type RemoteSettings, remoteSettings } from './settings.js';
import { SharedCache } from './shared-cache.js';
import { staysHere } from './stays-here.js';
import { Uploads } from './uploads.js';

export interface OpenShared extends CheckOptions {
  readonly config: Pick<Config, 'cache'>;
  readonly disk: DiskStore;
  /** Reported to the person one time. */
  readonly warn: (message: string) => void;
  /** Ends everything at once. */
  readonly signal?: AbortSignal;
}

/** What one run does with its shared store. What does not work is a miss or not uploaded, and a warning. */
export interface SharedSession {
  fetch(key: string, options: GetOptions): Promise<Fetched>;
  offer(entry: Entry): void;
  /** Waits for uploads within the bound, and says what was not uploaded. */
  end(): Promise<void>;
}

const NOTHING: Fetched = { miss: undefined };

const OFF: SharedSession = { fetch: async () => NOTHING, offer: () => {}, end: async () => {} };

export async function openShared(options: OpenShared): Promise<SharedSession> {
  const { config, disk, warn } = options;
  const settings = remoteSettings(config, disk.options.project);
  if (!settings) return OFF;
  warnOf(settings, warn);
  if (settings.unread && settings.unwritten) return OFF;
  const breaker = new Breaker((direction, why) => {
    const what = { both: 'used', read: 'read', write: 'written' }[direction];
    warn(`the shared cache ${settings.url} is no longer ${what} in this run: ${why}`);
  });
  if (options.signal?.aborted) breaker.stop();
  const forget = onAbort(options.signal, () => breaker.stop());
  const remote = new Remote(await openProtocol(settings, disk.options.project), settings);
  const cache = new SharedCache({ ...options, settings, remote, breaker });
  const uploads = new Uploads((entry) => cache.upload(entry));
  const underWay = new Map<string, Promise<Fetched>>();
  return {
    fetch(key, request) {
      if (settings.unread || breaker.isOff('read')) return Promise.resolve(NOTHING);
      const known = underWay.get(key);
      if (known) return known;
      const fetching = cache.fetch(key, request).finally(() => underWay.delete(key));
      underWay.set(key, fetching);
      return fetching;
    },
    offer: (entry) => {
      const isOwn = disk.options.signingKey === undefined && staysHere(entry);
      if (!settings.unwritten && !isOwn) uploads.add(entry);
    },
    async end() {
      const { lost, why } = await uploads.end(settings.uploadWaitMs);
      if (lost > 0) warn(`${plural(lost, 'result was', 'results were')} not uploaded to the shared cache: ${why}`);
      forget();
      breaker.stop();
      remote.close();
    },
  };
}

/** One line for what a person has to put right; what was asked for is no news. */
function warnOf({ url, unread, unwritten }: RemoteSettings, warn: (message: string) => void): void {
  if (unread?.hint && unread === unwritten)
    warn(`the shared cache ${url} is not used: ${unread.message}; ${unread.hint}`);
  else {
    if (unread?.hint) warn(`the shared cache ${url} is not read: ${unread.message}; ${unread.hint}`);
    if (unwritten?.hint) warn(`the shared cache ${url} is not written: ${unwritten.message}; ${unwritten.hint}`);
  }
}
