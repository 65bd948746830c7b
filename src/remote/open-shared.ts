import type { Config } from '../model/config.js';
import { creatorOf } from '../store/creator.js';
import type { DiskStore } from '../store/disk-store.js';
import type { CheckOptions } from '../store/options.js';
import type { ClaimRequest, Entry, Fetched, GetOptions } from '../store/store.js';
import { plural } from '../util/format.js';
import { onAbort } from '../util/on-abort.js';
import { Breaker } from './breaker.js';
import type { AcquiredLease, Leases } from './leases.js';
import { openRemote } from './open-remote.js';
import type { Remote } from './remote.js';
import { ServerLeases } from './server-leases.js';
import { type RemoteSettings, remoteSettings } from './settings.js';
import { SharedCache } from './shared-cache.js';
import { staysHere } from './stays-here.js';
import { Uploads } from './uploads.js';

export interface OpenShared extends CheckOptions {
  readonly config: Pick<Config, 'cache'>;
  readonly disk: DiskStore;
  /** Shows a warning to the person, each one once. */
  readonly warn: (message: string) => void;
  /** Ends everything at once. */
  readonly signal?: AbortSignal;
}

/** What one run does with its shared store. A failure is a miss or a result that is not uploaded, and a warning. */
export interface SharedSession {
  fetch(key: string, options: GetOptions): Promise<Fetched>;
  offer(entry: Entry): void;
  /** The right to compute a key that this run has looked up, where the server supports leases. */
  lease(key: string, request: ClaimRequest): Promise<AcquiredLease>;
  /** Waits for uploads within the bound, and says what was not uploaded. */
  end(): Promise<void>;
}

const NOTHING: Fetched = { miss: undefined };

const UNAVAILABLE: AcquiredLease = { unavailable: true };

const OFF: SharedSession = {
  fetch: async () => NOTHING,
  offer: () => {},
  lease: async () => UNAVAILABLE,
  end: async () => {},
};

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
  const remote = await openRemote(settings, disk.options.project);
  const cache = new SharedCache({ ...options, settings, remote, breaker });
  const uploads = new Uploads((entry) => cache.upload(entry));
  const underWay = new Map<string, Promise<Fetched>>();
  const leases = leasesOf(options, { settings, remote, breaker });
  /** A key that stays on this machine is never asked for. */
  const asked = new Set<string>();
  return {
    fetch(key, request) {
      if (settings.unread || breaker.isOff('read')) return Promise.resolve(NOTHING);
      asked.add(key);
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
    async lease(key, request) {
      if (!leases || !asked.has(key)) return UNAVAILABLE;
      const acquired = await leases.acquire(key, request);
      if (!('lease' in acquired)) return acquired;
      const { lease } = acquired;
      // Released after the upload: then other machines look for the result.
      return { lease: { release: () => void uploads.soFar().then(() => lease.release()) } };
    },
    async end() {
      const { lost, why } = await uploads.end(settings.uploadWaitMs);
      await leases?.end();
      if (lost > 0) warn(`${plural(lost, 'result was', 'results were')} not uploaded to the shared cache: ${why}`);
      forget();
      breaker.stop();
      remote.close();
    },
  };
}

/** Undefined for a machine that cannot both read and sign: it has no result to give, or none to get. */
function leasesOf(
  { disk, signal }: OpenShared,
  parts: { readonly settings: RemoteSettings; readonly remote: Remote; readonly breaker: Breaker },
): Leases | undefined {
  const { signer, trust, unread, unwritten, claimWaitMs: mostWaitMs } = parts.settings;
  if (!signer || unread || unwritten || mostWaitMs === 0) return undefined;
  const { ci, host = 'unknown' } = creatorOf(disk.options.project.env);
  return new ServerLeases({ ...parts, signer, trust, by: ci ?? host, mostWaitMs, signal });
}

/** One line for each problem that a person has to solve. What the settings ask for is no problem. */
function warnOf({ url, unread, unwritten }: RemoteSettings, warn: (message: string) => void): void {
  if (unread?.hint && unread === unwritten)
    warn(`the shared cache ${url} is not used: ${unread.message}; ${unread.hint}`);
  else {
    if (unread?.hint) warn(`the shared cache ${url} is not read: ${unread.message}; ${unread.hint}`);
    if (unwritten?.hint) warn(`the shared cache ${url} is not written: ${unwritten.message}; ${unwritten.hint}`);
  }
}
