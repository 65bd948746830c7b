import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newKeyPair } from '../../src/remote/trust.js';
import type { Entry } from '../../src/store/store.js';
import { sha256Hex } from '../../src/util/digest.js';
import { phaseOf, ticking } from '../support/rig.js';
import { CROSS, forge, server, team, useTeam } from './support.js';

useTeam();

const FLOW = { phases: [ticking('only', CROSS)] };

/** One entry on the server, put there by a trusted machine. */
async function uploaded(flow: object = FLOW): Promise<string> {
  await team.machine({ signs: true }).run(flow);
  return server.entries()[0]!;
}

/** What a reader does with it: how often it executed, and why. */
async function readerOf(flow: object = FLOW, cache?: object) {
  const laptop = team.machine({ cache });
  const result = await laptop.run(flow);
  expect(result.status).toBe('success');
  const phase = result.phases[0]!;
  return { executed: laptop.executions().length, reason: phase.reason, output: phase.output, result, laptop };
}

const said = (text: string) => (entry: Entry) => ({ ...entry, output: { text, json: null } });

describe('who is believed', () => {
  it('an entry with another output under the old signature', async () => {
    const path = await uploaded();
    const body = server.kept.get(path)!;
    const text = body.toString('latin1').replace('said only', 'said evil');
    server.kept.set(path, Buffer.from(text, 'latin1'));
    const { executed, reason, output } = await readerOf();
    expect([executed, output]).toEqual([1, 'said only']);
    expect(reason).toBe('shared entry has a wrong signature (key ci)');
  });

  it('an entry without a signature', async () => {
    const path = await uploaded();
    server.kept.set(path, forge(server.kept.get(path)!, said('evil')));
    expect(await readerOf()).toMatchObject({ executed: 1, reason: 'shared entry is not signed', output: 'said only' });
  });

  it('a valid signature by a key that nobody named', async () => {
    const path = await uploaded();
    const stranger = newKeyPair();
    server.kept.set(path, forge(server.kept.get(path)!, said('evil'), stranger.privateKey));
    const reason = `shared entry signed by an untrusted key ${stranger.keyId.slice(0, 4)}…`;
    expect(await readerOf()).toMatchObject({ executed: 1, reason, output: 'said only' });
    // The same entry is used by one who does name it.
    const cache = { trust: { keys: { other: stranger.publicKey } } };
    expect(await readerOf(FLOW, cache)).toMatchObject({ executed: 0, output: 'evil' });
  });

  it('without keys a shared store is not read, and the run says so once', async () => {
    await uploaded();
    server.seen.length = 0;
    const { executed, result } = await readerOf(
      { phases: [ticking('only', CROSS), ticking('more', CROSS)] },
      { trust: null },
    );
    expect([executed, server.seen]).toEqual([2, []]);
    expect(result.warnings).toEqual([expect.stringMatching(/is not read: no key is trusted; .*cache\.trust: none/)]);
  });

  it('trust: none is written out: then anybody is believed', async () => {
    const path = await uploaded();
    server.kept.set(path, forge(server.kept.get(path)!, said('whatever')));
    expect(await readerOf(FLOW, { trust: 'none' })).toMatchObject({ executed: 0, output: 'whatever' });
  });
});

describe('what a trusted key has signed is still checked', () => {
  it('an old entry replayed under another key', async () => {
    const path = await uploaded();
    const other = { phases: [ticking('only', CROSS, 'something else')] };
    const wanted = await team.machine({ signs: true }).run(other);
    server.kept.set(path.replace(/[0-9a-f]{64}$/, phaseOf(wanted, 'only').key!), server.kept.get(path)!);
    const { executed, reason, output } = await readerOf(other);
    expect([executed, output]).toEqual([1, 'something else']);
    expect(reason).toBe('shared entry is damaged (it belongs to another key)');
  });

  it('an entry whose identity is not that of its key', async () => {
    const path = await uploaded();
    const change = (entry: Entry) => ({ ...entry, identity: { ...entry.identity, phase: 'another' } });
    server.kept.set(path, forge(server.kept.get(path)!, change, team.keys.privateKey));
    expect(await readerOf()).toMatchObject({ executed: 1, reason: 'shared entry belongs to another key' });
  });

  it('an entry of another format, one from the future, and one past its ttl', async () => {
    const ttl = { phases: [ticking('only', { cache: { scope: 'cross-run', ttl: '1h' } })] };
    const path = await uploaded(ttl);
    const body = server.kept.get(path)!;
    const at = (ms: number) => (entry: Entry) => ({ ...entry, createdAt: entry.createdAt + ms });
    server.kept.set(path, forge(body, at(-2 * 3_600_000), team.keys.privateKey));
    expect(await readerOf(ttl)).toMatchObject({ executed: 1, reason: 'shared entry: expired: 2h > 1h' });
    server.kept.set(path, forge(body, at(2 * 3_600_000), team.keys.privateKey));
    expect((await readerOf(ttl)).reason).toMatch(/^shared entry: entry is from the future/);
    server.kept.set(path, forge(body, at(-1_800_000), team.keys.privateKey));
    expect(await readerOf(ttl)).toMatchObject({ executed: 0, reason: 'shared, age 30m' });
  });

  it('files that the phase does not declare, or that lead out of the project, are not written', async () => {
    const made = {
      id: 'only',
      type: 'script',
      run: 'bin/tick only; mkdir -p out; echo made > out/a',
      outputs: ['out/*'],
    };
    const flow = { phases: [{ ...made, ...CROSS }] };
    const path = await uploaded(flow);
    const body = server.kept.get(path)!;
    const evil = Buffer.from('#!/bin/sh\necho evil\n');
    server.kept.set(`/team/cas/${sha256Hex(evil)}`, evil);
    for (const target of ['bin/agent2', '../outside', '.pi/taskflows/evil', '.git/hooks/x']) {
      const files = [{ path: target, digest: sha256Hex(evil), mode: 0o100755 }];
      server.kept.set(
        path,
        forge(body, (entry) => ({ ...entry, files }), team.keys.privateKey),
      );
      const { executed, laptop, reason } = await readerOf(flow);
      expect([target, executed, existsSync(join(laptop.root, target))]).toEqual([target, 1, false]);
      expect(reason).toMatch(/not among the outputs|no place for a file/);
    }
  });
});

it('a result that depends on a variable stays here, and the run says so; a key of the team shares it', async () => {
  const flow = { phases: [ticking('only', { cache: { scope: 'cross-run', fingerprint: ['env:HOME'] } })] };
  const first = await team.machine({ signs: true }).run(flow);
  expect(first.warnings).toEqual([expect.stringContaining('stay on this machine')]);
  expect(server.count('GET')).toBe(0);
  const shared = 'k'.repeat(40);
  const cache = { signingKey: { file: 'team.key' } };
  const flow2 = { phases: [ticking('only', { cache: { scope: 'cross-run', fingerprint: ['env:LANG'] } })] };
  const ci = team.machine({ signs: true, cache });
  ci.write('team.key', shared);
  expect((await ci.run(flow2)).warnings).toBeUndefined();
  const laptop = team.machine({ cache });
  laptop.write('team.key', shared);
  await laptop.run(flow2);
  expect(laptop.executions()).toEqual([]);
});
