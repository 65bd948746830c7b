import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config, SecretSource } from '../model/config.js';
import type { Project } from '../util/project.js';
import { keyOfRemote, remoteAddress } from './address.js';
import { openSigner, openTrust, type Signer, type Trust } from './trust.js';

/** `hint`: only where something is wrong, and what to do about it. */
export interface Why {
  readonly message: string;
  readonly hint?: string;
}

/** The shared store of a project, as the settings describe it. */
export interface RemoteSettings {
  readonly url: string;
  readonly address: string;
  readonly token?: string;
  readonly trust: Trust;
  readonly signer?: Signer;
  /** Why it is not read; undefined when it is. */
  readonly unread?: Why;
  readonly unwritten?: Why;
  readonly connectMs: number;
  readonly silentMs: number;
  readonly uploadWaitMs: number;
  readonly claimWaitMs: number;
}

/** Undefined where no shared store is configured. Sends nothing. */
export function remoteSettings({ cache }: Pick<Config, 'cache'>, project: Project): RemoteSettings | undefined {
  const { remote, trust: trusted } = cache;
  if (!remote) return undefined;
  const trust = openTrust(trusted);
  const signing = trusted?.sign && signerOf(trusted.sign, project);
  const off = refusal(cache);
  const reading = off ?? whyUnread(cache, trust);
  const writing = off ?? whyUnwritten(cache, signing);
  return {
    url: remote.url,
    address: remoteAddress(remote.url, remote.endpoint) ?? remote.url,
    token: remote.token && !remote.keyNeedsLeave ? secretOf(remote.token, project) : undefined,
    trust,
    signer: signing && 'signer' in signing ? signing.signer : undefined,
    unread: reading,
    unwritten: writing,
    connectMs: remote.connectTimeoutMs ?? 500,
    silentMs: remote.timeoutMs ?? 3_000,
    uploadWaitMs: remote.uploadWaitMs ?? 10_000,
    claimWaitMs: remote.claimWaitMs ?? 600_000,
  };
}

/** A user's key goes to an address that a project chose only if the user has allowed it. */
function refusal({ remote }: Config['cache']): Why | undefined {
  if (!remote?.keyNeedsLeave) return undefined;
  const { apiKeyEnv, baseUrl = remote.url } = keyOfRemote(remote);
  if (apiKeyEnv === undefined) {
    const message = `the project's settings would send the token in a file to ${baseUrl}`;
    return { message, hint: 'a token in a file goes only where your own settings say: set cache.remote there' };
  }
  const address = baseUrl.replace(/\?.*$/, '');
  const once = `--allow-key ${apiKeyEnv}=${address}`;
  return {
    message: `the project's settings would send the key in ${apiKeyEnv} to ${address}`,
    hint: `if you want that: taskflow config set --user allow.keys.${apiKeyEnv} ${address}, or once ${once}`,
  };
}

function whyUnread({ remote }: Config['cache'], { keys, isOff }: Trust): Why | undefined {
  if (remote?.read === false) return { message: 'cache.remote.read is false' };
  if (isOff || keys.size > 0) return undefined;
  const hint = 'name the public keys under cache.trust.keys (taskflow cache keygen), or write cache.trust: none';
  return { message: 'no key is trusted', hint };
}

function whyUnwritten({ remote }: Config['cache'], signing: Signing | undefined): Why | undefined {
  if (remote?.write === false) return { message: 'cache.remote.write is false' };
  if (signing && 'problem' in signing) return { message: signing.problem, hint: 'see cache.trust.sign' };
  if (signing && 'signer' in signing) return undefined;
  if (remote?.write === true && !signing) return undefined;
  const message = signing?.missing ?? 'there is no signing key (cache.trust.sign)';
  return remote?.write === true ? { message, hint: 'set it, or take cache.trust.sign out' } : { message };
}

type Signing = { readonly signer: Signer } | { readonly missing: string } | { readonly problem: string };

function signerOf(source: SecretSource, project: Project): Signing {
  const name = 'env' in source ? source.env : source.file;
  const pem = secretOf(source, project);
  if (pem === undefined) return { missing: `there is no signing key in ${name}` };
  // In a variable, line ends are often written as \n.
  const signer = openSigner(pem.replaceAll('\\n', '\n'));
  return signer ? { signer } : { problem: `${name} holds no Ed25519 private key (PEM)` };
}

function secretOf(source: SecretSource, { env, home, root }: Project): string | undefined {
  if ('env' in source) return env[source.env] || undefined;
  const path = source.file.startsWith('~/') ? join(home, source.file.slice(2)) : resolve(root, source.file);
  try {
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch {
    // Not there on this machine, as with a variable that is not set.
    return undefined;
  }
}
