import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RemoteConfig } from '../../src/model/config.js';
import { decodeActionResult, encodeActionResult } from '../../src/remote/action-result.js';
import { openRemote } from '../../src/remote/open-remote.js';
import { probeRemote } from '../../src/remote/probe-remote.js';
import type { Item } from '../../src/remote/protocol.js';
import type { Remote } from '../../src/remote/remote.js';
import { remoteSettings } from '../../src/remote/settings.js';
import { newKeyPair } from '../../src/remote/trust.js';
import { sha256Hex } from '../../src/util/digest.js';
import { createRig, phaseOf, type Rig, ticking } from '../support/rig.js';

/** A server under test: how it is configured, and with which variables. */
export interface ServerUnderTest {
  readonly remote: RemoteConfig;
  readonly env: Readonly<Record<string, string>>;
  /** It lets only the first of two create an object. */
  readonly canLease?: true;
  /** It gives no entry whose files are gone. */
  readonly looksForFiles?: true;
  /** The same without the right to do so. */
  readonly strangers?: { readonly remote: RemoteConfig; readonly env: Readonly<Record<string, string>> };
  stop(): Promise<void>;
}

const KEYS = newKeyPair();
const CROSS = { cache: { scope: 'cross-run' } };
const SIGNS = { sign: { file: '../signing.pem' } };

/** What every server has to do, whatever it speaks. */
export function contractOf(name: string, start: () => Promise<ServerUnderTest>): void {
  describe(name, () => {
    let server: ServerUnderTest;
    let remote: Remote;
    let folder: string;
    const rigs: Rig[] = [];

    const open = async ({ remote: config, env }: Pick<ServerUnderTest, 'remote' | 'env'>) => {
      const rig = createRig(env);
      rigs.push(rig);
      const settings = remoteSettings({ cache: { remote: config } as never }, rig.project)!;
      return openRemote(settings, rig.project);
    };
    beforeAll(async () => {
      server = await start();
      remote = await open(server);
      folder = mkdtempSync(join(tmpdir(), 'contract-'));
    });
    afterAll(async () => {
      remote?.close();
      for (const rig of rigs) rig.remove();
      rmSync(folder, { recursive: true, force: true });
      await server?.stop();
    });

    const read = async (item: Item) => {
      const chunks: Buffer[] = [];
      const answer = await remote.get(item, { bytes: 64 * 1024 ** 2, take: (chunk) => void chunks.push(chunk) });
      return 'found' in answer ? Buffer.concat(chunks) : answer;
    };
    /** What an entry says: servers of Bazel's kind look into what they are given under `ac`, and add to it. */
    const says = async (item: Item) => {
      const body = await read(item);
      return Buffer.isBuffer(body) ? String(decodeActionResult(body)?.stdout) : body;
    };
    const message = (text: string) =>
      encodeActionResult({ stdout: Buffer.from(text), stderr: Buffer.alloc(0), files: [] });
    const put = (item: Item, data: Buffer) => remote.put(item, { data, digest: sha256Hex(data) });
    const randomKey = () => sha256Hex(randomBytes(16));

    const machine = (sign: object) => {
      const rig = createRig(server.env);
      rigs.push(rig);
      rig.write('../signing.pem', KEYS.privateKey);
      const cache = { observe: 'off', remote: server.remote, trust: { keys: { ci: KEYS.publicKey }, ...sign } };
      // In the user's own settings: variables go to a server that only the user chose.
      rig.write('../home/.pi/agent/taskflows/config.yaml', JSON.stringify({ cache }));
      return rig;
    };

    it('what is not there is absent', async () => {
      for (const kind of ['ac', 'cas'] as const) {
        const item = { kind, name: randomKey() };
        expect([await remote.head(item), await read(item)]).toEqual([{ absent: true }, { absent: true }]);
      }
    });

    it('an entry is there once it was put, can be put anew, and is another than a blob of that name', async () => {
      const name = randomKey();
      for (const text of ['first', 'second']) {
        expect(await put({ kind: 'ac', name }, message(text))).toEqual({ found: true });
        expect(await remote.head({ kind: 'ac', name })).toEqual({ found: true });
        expect(await says({ kind: 'ac', name })).toBe(text);
      }
      expect(await remote.head({ kind: 'cas', name })).toEqual({ absent: true });
    });

    it('an entry is absent until its files are there, where the server looks', async () => {
      if (!server.looksForFiles) return;
      const blob = randomBytes(100);
      const file = { path: 'out/a', digest: sha256Hex(blob), bytes: blob.length };
      const [entry, name] = [
        encodeActionResult({ stdout: Buffer.from('made'), stderr: blob, files: [file] }),
        randomKey(),
      ];
      expect(await put({ kind: 'ac', name }, entry)).toEqual({ found: true });
      expect(await remote.head({ kind: 'ac', name })).toEqual({ absent: true });
      expect(await put({ kind: 'cas', name: file.digest }, blob)).toEqual({ found: true });
      expect(await says({ kind: 'ac', name })).toBe('made');
    });

    it.each([1, 70_000, 5_000_000])('a blob of %i bytes comes back byte by byte', async (size) => {
      const bytes = randomBytes(size);
      const item = { kind: 'cas', name: sha256Hex(bytes) } as const;
      const file = join(folder, item.name);
      writeFileSync(file, bytes);
      expect(await remote.put(item, { digest: item.name, file, bytes: size })).toEqual({ found: true });
      expect(sha256Hex((await read(item)) as Buffer)).toBe(item.name);
    });

    it('sixty at once', async () => {
      const names = Array.from({ length: 60 }, randomKey);
      const answers = await Promise.all(names.map((name) => put({ kind: 'ac', name }, message(name))));
      expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(new Set(['{"found":true}']));
      expect(await Promise.all(names.map((name) => says({ kind: 'ac', name })))).toEqual(names);
    });

    it('doctor is content with it, and knows whether it can hold leases', async () => {
      const rig = createRig(server.env);
      rigs.push(rig);
      const { project } = rig;
      const settings = remoteSettings({ cache: { remote: { ...server.remote, write: true } } as never }, project)!;
      const probed = await probeRemote(settings, project);
      const single = server.canLease ? 'one machine computes a result' : 'two machines may compute one result';
      expect(probed).toEqual({ answers: expect.stringContaining(single) });
    });

    it('of two machines at the same moment one executes, where it can hold leases', async () => {
      if (!server.canLease) return;
      const run = 'bin/tick slow; sleep 1; echo made';
      const flow = { name: `flow-${randomKey()}`, phases: [{ id: 'slow', type: 'script', run, ...CROSS }] };
      const both = [machine(SIGNS), machine(SIGNS)];
      const results = await Promise.all(both.map((each) => each.run(flow)));
      expect(results.map(({ status, warnings }) => [status, warnings])).toEqual(both.map(() => ['success', undefined]));
      expect(both.flatMap((each) => each.executions())).toEqual(['slow']);
    });

    it('a stranger is refused, or not let in', async () => {
      if (!server.strangers) return;
      const stranger = await open(server.strangers);
      const data = message('evil');
      const name = randomKey();
      const answer = await stranger.put({ kind: 'ac', name }, { data, digest: sha256Hex(data) });
      expect(answer).toEqual({ refused: expect.stringMatching(/40[13]/) });
      expect(await read({ kind: 'ac', name })).toEqual({ absent: true });
      stranger.close();
    });

    it('a second checkout with a store of its own executes nothing', async () => {
      const made = 'bin/tick files; mkdir -p out; seq 1 1000 > out/a.txt; : > out/empty.txt';
      const flow = {
        name: `flow-${randomKey()}`,
        phases: [
          ticking('text', CROSS),
          { id: 'files', type: 'script', run: made, outputs: ['out/*'], ...CROSS },
          { id: 'large', type: 'script', run: 'bin/tick large; seq 1 400000', ...CROSS },
        ],
      };
      const ci = machine(SIGNS);
      const first = await ci.run(flow);
      expect([first.status, first.warnings, ci.executions().length]).toEqual(['success', undefined, 3]);
      const laptop = machine({});
      const second = await laptop.run(flow);
      expect([second.status, second.warnings, laptop.executions()]).toEqual(['success', undefined, []]);
      expect(phaseOf(second, 'large').outputFile?.digest).toBe(phaseOf(first, 'large').outputFile?.digest);
      expect([laptop.read('out/a.txt'), laptop.read('out/empty.txt')]).toEqual([ci.read('out/a.txt'), '']);
    });
  });
}
