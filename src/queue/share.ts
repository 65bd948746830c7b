import { recomputeKey } from '../memo/identity.js';
import type { Config } from '../model/config.js';
import { Breaker } from '../remote/breaker.js';
import { openRemote } from '../remote/open-remote.js';
import { type RemoteSettings, remoteSettings } from '../remote/settings.js';
import { SharedCache } from '../remote/shared-cache.js';
import type { Signer, Trust } from '../remote/trust.js';
import { type DiskStore, openStore } from '../store/disk-store.js';
import { resolveSigningKey } from '../store/signing-key.js';
import { storeFolder } from '../store/store-folder.js';
import type { Project } from '../util/project.js';

/** The shared store, as coordinators and workers need it: read, written and signed. */
export interface Share {
  readonly disk: DiskStore;
  readonly signer: Signer;
  readonly trust: Trust;
  /** A cache for one unit: a failing server is given up for that unit only. */
  cache(): SharedCache;
  close(): void;
}

interface Problem {
  readonly problem: string;
  readonly hint: string;
}

const SEE = 'see docs/workers.md';

/** Opens the shared store of the settings, or says what is missing. Sends no request. */
export async function openShare(config: Config, project: Project): Promise<Share | Problem> {
  const settings = remoteSettings(config, project);
  if (!settings)
    return { problem: 'workers need a shared cache, and there is none', hint: `set cache.remote.url; ${SEE}` };
  const unfit = whyUnfit(settings);
  if (unfit) return unfit;
  const key = resolveSigningKey(config, project);
  const folder = storeFolder(project, config);
  if ('problem' in key) return { problem: key.problem, hint: 'see cache.signingKey' };
  if ('problem' in folder) return folder;
  const { maxBytes, maxEntries, maxAgeMs } = config.cache;
  const disk = openStore({
    dir: folder.dir,
    project,
    limits: { maxBytes, maxEntries, maxAgeMs },
    signingKey: key.key,
    onWarning: () => {},
  });
  const remote = await openRemote(settings, project);
  return {
    disk,
    signer: settings.signer!,
    trust: settings.trust,
    cache: () => new SharedCache({ settings, remote, disk, breaker: new Breaker(() => {}), recomputeKey }),
    close: () => {
      disk.log.flush();
      remote.close();
    },
  };
}

function whyUnfit({ url, unread, unwritten, trust, signer }: RemoteSettings): Problem | undefined {
  const why = unread ?? unwritten;
  if (why) return { problem: `workers need the shared cache ${url}: ${why.message}`, hint: why.hint ?? SEE };
  if (!signer) return { problem: 'workers need a key that signs (cache.trust.sign)', hint: 'taskflow cache keygen' };
  if (trust.keys.size > 0) return undefined;
  return { problem: 'workers need to know whom they trust (cache.trust.keys)', hint: 'trust: none is not enough here' };
}
