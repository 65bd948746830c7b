import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { Breaker } from '../../src/remote/breaker.js';
import { encodeLease, type LeaseText, leaseItem } from '../../src/remote/lease-object.js';
import { openRemote } from '../../src/remote/open-remote.js';
import { ServerLeases } from '../../src/remote/server-leases.js';
import { remoteSettings } from '../../src/remote/settings.js';
import { newKeyPair, openSigner, openTrust } from '../../src/remote/trust.js';
import { mayPut } from '../support/cache-server.js';
import { phaseOf, ticking } from '../support/rig.js';
import { CROSS, type Machine, server, team, useTeam } from './support.js';

/** Single flight across machines: who computes a key holds a lease on the server, and others wait for the result. */

useTeam();

/** A server without tags. */
const ANY = '*';

const slow = (seconds: number, then = 'true') => ({
  phases: [{ id: 'slow', type: 'script', run: `bin/tick slow made; sleep ${seconds}; ${then}`, ...CROSS }],
});
/** A busy machine is no fault of the server. */
const PATIENT = { timeout: '30s', connectTimeout: '10s' };
const signing = (remote: object = {}) =>
  team.machine({ signs: true, cache: { remote: { url: server.url, ...PATIENT, ...remote } } });
const canSee = spawnSync('strace', ['-f', 'true']).status === 0;
const executed = (...machines: Machine[]) => machines.flatMap((machine) => machine.executions()).length;

/** Starts the flow, and resolves when the phase executes. */
async function startedOn(machine: Machine, flow: object, signal?: AbortSignal) {
  const { result } = await machine.start(flow, { signal });
  while (machine.executions().length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  return { result };
}

/** The leases of one machine, with times that a test can wait for. */
async function directly(times: { readonly silentMs: number; readonly mostWaitMs: number }) {
  const { project } = team.machine();
  const settings = remoteSettings({ cache: { remote: { url: server.url } } as never }, project)!;
  const remote = await openRemote(settings, project);
  const trust = openTrust({ keys: { ci: team.keys.publicKey } });
  const signer = openSigner(team.keys.privateKey)!;
  const leases = new ServerLeases({ remote, breaker: new Breaker(() => {}), signer, trust, by: 'here', ...times });
  return { remote, leases };
}

/** Runs the flow and says whom it waited for. */
async function waitingOn(machine: Machine, flow: object) {
  const waited: string[] = [];
  const began = performance.now();
  const result = await machine.run(flow, {
    onEvent: (event) => event.type === 'phase-waiting' && waited.push(event.for),
  });
  return { result, waited, ms: performance.now() - began };
}

/** The key of the flow's phase, and the place of its lease. */
async function leasePath(flow: object): Promise<{ key: string; path: string }> {
  const result = await team.machine().run(flow, { remote: 'off' });
  const key = phaseOf(result, 'slow').key!;
  return { key, path: `/team/ac/${leaseItem(key).name}` };
}

const leaseOf = (key: string, more: Partial<LeaseText> = {}, privateKey = team.keys.privateKey) =>
  encodeLease({ key, id: 'x', by: 'elsewhere', beat: 0, isReleased: false, ...more }, openSigner(privateKey)!).data;

describe('two machines want the same result', () => {
  it('at the same moment: one executes, the other waits, says so and has the result', async () => {
    const machines = [signing(), signing()];
    const runs = await Promise.all(machines.map((machine) => waitingOn(machine, slow(1))));
    expect(executed(...machines)).toBe(1);
    expect(runs.map(({ result }) => [result.status, phaseOf(result, 'slow').output])).toEqual(
      machines.map(() => ['success', 'made']),
    );
    expect(runs.map(({ result }) => phaseOf(result, 'slow').shared).filter(Boolean)).toEqual([true]);
    expect(runs.flatMap(({ waited }) => waited)).toEqual([expect.stringMatching(/^another machine \(.+\)$/)]);
  });

  it('many keys, many machines: each once', async () => {
    const phases = Array.from({ length: 12 }, (_, index) => ticking(`p${index}`, CROSS));
    const machines = Array.from({ length: 4 }, () => signing());
    const results = await Promise.all(machines.map((machine) => machine.run({ concurrency: 3, phases })));
    expect(results.map(({ status, warnings }) => [status, warnings])).toEqual(
      machines.map(() => ['success', undefined]),
    );
    expect(executed(...machines)).toBe(12);
  });

  it.skipIf(!canSee)('what they read without declaring it counts: the result is found by it', async () => {
    const machines = [signing(), signing()];
    for (const machine of machines) {
      machine.configure({ observe: { mode: 'auto', exclude: ['bin/**'] } });
      machine.write('data.txt', 'same\n');
    }
    const runs = await Promise.all(machines.map((machine) => waitingOn(machine, slow(1, 'cat data.txt'))));
    expect(executed(...machines)).toBe(1);
    expect(runs.map(({ result }) => phaseOf(result, 'slow').output)).toEqual(machines.map(() => 'made\nsame'));
  });

  it('the lease ends when the result is there, however slow the upload is', async () => {
    server.misbehave = (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      if (request.method !== 'PUT') return false;
      request.on('end', () => {
        const body = Buffer.concat(chunks);
        const isEntry = body.includes('{"shared":1');
        const isFree = isEntry || mayPut(request, server.kept.has(request.url!) ? ANY : undefined);
        const keep = () => {
          if (isFree) server.kept.set(request.url!, body);
          response.writeHead(isFree ? 201 : 412).end();
        };
        if (isEntry) setTimeout(keep, 2_000);
        else keep();
      });
      return true;
    };
    const machines = [signing(), signing()];
    await Promise.all(machines.map((machine) => machine.run(slow(1))));
    expect(executed(...machines)).toBe(1);
  });

  it('the first fails: the second executes at once', async () => {
    const flow = slow(1, '[ -e ok ]');
    const [first, second] = [signing(), signing()];
    second.write('ok', '');
    const failing = await startedOn(first, flow);
    const { result, waited, ms } = await waitingOn(second, flow);
    expect([(await failing.result).status, result.status, waited.length]).toEqual(['failed', 'success', 1]);
    expect([executed(first), executed(second)]).toEqual([1, 1]);
    expect(ms).toBeLessThan(10_000);
  });

  it('the first is interrupted: it gives up its lease, and the second executes', async () => {
    const [first, second] = [signing(), signing()];
    const stop = new AbortController();
    const stopped = await startedOn(first, slow(20), stop.signal);
    setTimeout(() => stop.abort(), 500);
    const done = new AbortController();
    const next = await startedOn(second, slow(20), done.signal);
    expect([(await stopped.result).status, executed(first), executed(second)]).toEqual(['interrupted', 1, 1]);
    done.abort();
    await next.result;
  });
});

describe('the holder of a lease is gone', () => {
  it('long ago, by the server’s own clock: its lease is taken over at once', async () => {
    const { key, path } = await leasePath(slow(0));
    server.kept.set(path, leaseOf(key));
    const year = 365 * 86_400_000;
    const [now, then] = [Date.now() + year, Date.now() + year - 60_000].map((ms) => new Date(ms).toUTCString());
    server.misbehave = (request, response) => {
      if (request.url === path) response.setHeader('date', now!).setHeader('last-modified', then!);
      return false;
    };
    const machine = signing();
    const { result, waited, ms } = await waitingOn(machine, slow(0));
    expect([result.status, executed(machine), waited]).toEqual(['success', 1, []]);
    expect(ms).toBeLessThan(10_000);
  });

  it('now: what it kept just before is found, and nobody executes', async () => {
    const { key, path } = await leasePath(slow(0));
    const before = signing({ claimWait: '0s' });
    await before.run(slow(0));
    const [entry] = server.entries().map((each) => [each, server.kept.get(each)!] as const);
    server.kept.clear();
    server.kept.set(path, leaseOf(key));
    // Uploaded between the look-up and the lease.
    server.misbehave = ({ method, url }) => {
      if (method === 'GET' && url === path) {
        server.kept.set(...entry!);
        server.kept.set(path, leaseOf(key, { beat: 7, isReleased: true }));
      }
      return false;
    };
    const machine = signing();
    const { result } = await waitingOn(machine, slow(0));
    expect([executed(machine), phaseOf(result, 'slow').shared]).toEqual([0, true]);
  });

  it.each([
    ['has not moved while we watched: one of two takes it over', 400, 2],
    ['shows signs of life: it is waited for, up to the bound', 100_000, 0],
  ])('or %s', async (_what, silentMs, most) => {
    const { key, path } = await leasePath(slow(0));
    server.kept.set(path, leaseOf(key));
    const both = await Promise.all([1, 2].map(() => directly({ silentMs, mostWaitMs: 2_000 })));
    const began = performance.now();
    const first = await Promise.all(both.map(({ leases }) => leases.acquire(key, {})));
    if (most === 0) expect(first).toEqual([{ unavailable: true }, { unavailable: true }]);
    else {
      expect(first).toEqual([{ lookAgain: true }, { lookAgain: true }]);
      const second = await Promise.all(both.map(({ leases }) => leases.acquire(key, {})));
      // The other one waits for the first now, which shows signs of life.
      expect(second.filter((each) => 'lease' in each).length).toBe(1);
    }
    expect(performance.now() - began).toBeLessThan(6_000);
    for (const { leases, remote } of both) {
      await leases.end();
      remote.close();
    }
  });
});

describe('nobody is stopped for good', () => {
  const strangers = newKeyPair();

  it.each([
    ['is signed by a stranger', (key: string) => leaseOf(key, {}, strangers.privateKey)],
    ['belongs to another key', () => leaseOf('0'.repeat(64))],
    ['is no lease at all', () => Buffer.from('<html>')],
  ])('a lease that %s is not waited for', async (_what, body) => {
    const { key, path } = await leasePath(slow(0));
    server.kept.set(path, body(key));
    const machine = signing();
    const { result, waited } = await waitingOn(machine, slow(0));
    expect([result.status, executed(machine), waited]).toEqual(['success', 1, []]);
  });

  it('a lease that is renewed for ever is waited for up to the bound', async () => {
    const { key, path } = await leasePath(slow(0));
    let beat = 0;
    server.misbehave = ({ url }) => {
      if (url === path) server.kept.set(path, leaseOf(key, { beat: beat++ }));
      return false;
    };
    const machine = signing({ claimWait: '1s' });
    const { result, waited, ms } = await waitingOn(machine, slow(0));
    expect([result.status, executed(machine), waited]).toEqual(['success', 1, ['another machine (elsewhere)']]);
    expect(ms).toBeLessThan(10_000);
  });

  it.each(['PUT', 'GET'])('a server that hangs at the %s of a lease costs its time limit', async (method) => {
    const { key, path } = await leasePath(slow(0));
    server.kept.set(path, leaseOf(key));
    server.misbehave = (request) => request.method === method && request.url === path;
    const machine = signing({ timeout: '200ms' });
    const { result, ms } = await waitingOn(machine, slow(0));
    expect([result.status, executed(machine)]).toEqual(['success', 1]);
    expect(ms).toBeLessThan(10_000);
  });

  it('a server whose tags never fit lets nobody take over, and the phase executes', async () => {
    const { key, path } = await leasePath(slow(0));
    server.kept.set(path, leaseOf(key, { isReleased: true }));
    server.misbehave = (request, response) => {
      if (request.method !== 'PUT' || request.url !== path) return false;
      request.resume();
      response.writeHead(412).end();
      return true;
    };
    const machine = signing();
    expect((await machine.run(slow(0))).status).toBe('success');
    expect([executed(machine), server.count('PUT', path)]).toEqual([1, 4]);
  });
});

describe('who takes part', () => {
  it('a server that overwrites is asked once in a run; both machines pay, and an entry is there', async () => {
    server.isConditional = false;
    const machines = [signing(), signing()];
    const flow = { phases: [...slow(1).phases, ticking('more', CROSS), ticking('most', CROSS)] };
    await Promise.all(machines.map((machine) => machine.run(flow)));
    expect(machines.map((machine) => machine.executions().length)).toEqual([3, 3]);
    // Each machine puts the probe twice.
    expect([server.count('PUT', leaseItem('probe').name), server.count('PUT'), server.entries().length]).toEqual([
      4, 10, 3,
    ]);
  });

  it('a machine without a signing key, one that may not wait, and a key that stays here ask for no lease', async () => {
    await team.machine().run(slow(0));
    await signing({ claimWait: '0s' }).run(slow(0, 'echo'));
    expect(server.count('PUT')).toBe(1);
    const own = { cache: { scope: 'cross-run', fingerprint: ['env:HOME'] } };
    await signing().run({ phases: [ticking('ours', CROSS), ticking('own', { ...own, dependsOn: ['ours'] })] });
    // The probe twice, one lease, its end and one entry.
    expect(server.count('PUT')).toBe(1 + 5);
  });
});
