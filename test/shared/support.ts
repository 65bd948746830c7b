import { afterAll, beforeAll, beforeEach } from 'vitest';
import { decodeActionResult } from '../../src/remote/action-result.js';
import { newKeyPair, openSigner } from '../../src/remote/trust.js';
import { encodeShared } from '../../src/remote/wire-entry.js';
import type { Entry } from '../../src/store/store.js';
import { type CacheServer, startCacheServer } from '../support/cache-server.js';
import { createRig, type Rig } from '../support/rig.js';

export const CROSS = { cache: { scope: 'cross-run' } };

export interface Machine extends Rig {
  /** Replaces the settings; `cache` is laid over those that name the server and the key. */
  configure(cache?: object): void;
}

export interface Team {
  readonly keys: ReturnType<typeof newKeyPair>;
  /** A checkout with a store and a home of its own; `signs`: it has the private key. */
  machine(options?: {
    readonly signs?: boolean;
    readonly cache?: object;
    readonly env?: Readonly<Record<string, string>>;
  }): Machine;
  remove(): void;
}

/** Of the test file that runs. */
export let server: CacheServer;
export let team: Team;

/** Gives a test file a team and its server, which is empty before each test. */
export function useTeam(): void {
  beforeAll(async () => {
    server = await startCacheServer();
    team = createTeam(server.url);
  });
  beforeEach(() => {
    server.kept.clear();
    server.seen.length = 0;
    server.misbehave = undefined;
    server.isConditional = true;
  });
  afterAll(async () => {
    team.remove();
    await server.stop();
  });
}

/** Machines that share nothing but a server. */
export function createTeam(url: string): Team {
  const keys = newKeyPair();
  const rigs: Rig[] = [];
  return {
    keys,
    machine: ({ signs = false, cache: more = {}, env } = {}) => {
      const rig = createRig(env);
      rigs.push(rig);
      if (signs) rig.write('../signing.pem', keys.privateKey, 0o600);
      const configure = (cache: object = {}) => {
        const runners = { rig: { command: ['bin/agent'], format: 'text', model: 'rig-1' } };
        const trust = { keys: { ci: keys.publicKey }, ...(signs && { sign: { file: '../signing.pem' } }) };
        // `bin/tick` is another program on each machine: seen, it would be a reason to run.
        const settings = {
          runner: 'rig',
          runners,
          cache: { remote: { url }, trust, observe: 'off', ...more, ...cache },
        };
        rig.write('.pi/taskflows/config.yaml', JSON.stringify(settings));
      };
      configure();
      return { ...rig, configure };
    },
    remove: () => {
      for (const rig of rigs) rig.remove();
    },
  };
}

/** Changes an entry that the server keeps, as someone could who can write there and has this key, or none. */
export function forge(body: Buffer, change: (entry: Entry) => Entry, privateKey?: string): Buffer {
  const { stdout, files } = decodeActionResult(body)!;
  const sizes = new Map(files.map(({ digest, bytes }) => [digest, bytes]));
  const signer = privateKey === undefined ? undefined : openSigner(privateKey);
  return encodeShared(change(JSON.parse(String(stdout)) as Entry), signer, (digest) => sizes.get(digest) ?? 0);
}
