import type { Config } from '../../model/config.js';
import { type RemoteSettings, remoteSettings, type Why } from '../../remote/settings.js';
import type { Project } from '../../util/project.js';

/** The shared store as the settings describe it, for people and for JSON. */
interface SharedStatus {
  readonly url: string;
  readonly read: boolean;
  readonly write: boolean;
  readonly unread?: Why;
  readonly unwritten?: Why;
  /** Ids of keys by name; null: signatures are not checked. */
  readonly trusts: Readonly<Record<string, string>> | null;
  readonly signsAs?: string;
  /** True, or why not; absent where it was not probed. */
  readonly answers?: true | string;
}

/** Sends no request. */
export function sharedStatus(config: Config, project: Project): SharedStatus | undefined {
  const settings = remoteSettings(config, project);
  return settings && statusOf(settings);
}

/** Also asks the server; writes nothing there. */
export async function probedStatus(config: Config, project: Project): Promise<SharedStatus | undefined> {
  const settings = remoteSettings(config, project);
  if (!settings || (settings.unread && settings.unwritten)) return settings && statusOf(settings);
  const { probeRemote } = await import('../../remote/probe-remote.js');
  const tried = await probeRemote(settings, project, { onlyAsk: true });
  return { ...statusOf(settings), answers: 'answers' in tried ? true : tried.problem };
}

function statusOf({ url, unread, unwritten, trust, signer }: RemoteSettings): SharedStatus {
  const keys = [...trust.keys].map(([id, { name }]) => [name, id]);
  return {
    url,
    read: unread === undefined,
    write: unwritten === undefined,
    unread,
    unwritten,
    trusts: trust.isOff ? null : Object.fromEntries(keys),
    signsAs: signer?.keyId,
  };
}

/** `https://…: read; not written (there is no signing key in X); trusts ci (3f9c…)`. */
export function sharedText({ url, unread, unwritten, trusts, signsAs, answers }: SharedStatus): string {
  const names = Object.entries(trusts ?? {}).map(([name, id]) => `${name} (${id.slice(0, 4)}…)`);
  const written = signsAs === undefined ? 'written, unsigned' : `written, signed by ${signsAs.slice(0, 4)}…`;
  const use = [
    unread ? `not read (${unread.message})` : 'read',
    unwritten ? `not written (${unwritten.message})` : written,
  ];
  const parts = [
    ...(unread && unread === unwritten ? [`not used (${unread.message})`] : use),
    trusts === null ? 'trusts anybody' : names.length > 0 ? `trusts ${names.join(', ')}` : 'trusts nobody',
    ...(answers === undefined ? [] : [answers === true ? 'answers' : `cannot be used now (${answers})`]),
  ];
  return `${url}: ${parts.join('; ')}`;
}
