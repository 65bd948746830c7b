import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CacheServer, startCacheServer } from '../support/cache-server.js';
import { phaseOf } from '../support/rig.js';
import { CROSS, createTeam, type Team } from './support.js';

let server: CacheServer;
let team: Team;
beforeAll(async () => {
  server = await startCacheServer();
  team = createTeam(server.url);
});
afterAll(async () => {
  team.remove();
  await server.stop();
});

const FLOW = { name: 'look', phases: [{ id: 'look', type: 'script', run: 'bin/tick look; cat data.txt', ...CROSS }] };
const canSee = spawnSync('strace', ['-f', 'true']).status === 0;

// Where a system call cannot be seen, nothing is claimed.
describe.skipIf(!canSee)('what a phase read without declaring it', () => {
  it('decides on every machine, and a state that anybody has seen is a hit', async () => {
    const machine = (signs: boolean, data: string) => {
      const made = team.machine({ signs, cache: { observe: { mode: 'auto', exclude: ['bin/**'] } } });
      made.write('data.txt', data);
      return made;
    };
    const ci = machine(true, 'one\n');
    expect(phaseOf(await ci.run(FLOW), 'look').output).toBe('\none');
    const same = machine(false, 'one\n');
    const hit = phaseOf(await same.run(FLOW), 'look');
    expect([same.counts(), hit.cacheHit, hit.output]).toEqual([{}, 'cross-run', '\none']);
    expect(hit.reason).toContain('shared');

    // Another state: the path set leads nowhere, and both machines learn of both states.
    const other = machine(true, 'two\n');
    const ran = phaseOf(await other.run(FLOW), 'look');
    expect([other.counts(), ran.output]).toEqual([{ look: 1 }, '\ntwo']);
    expect(ran.reason).toContain('data.txt');
    same.write('data.txt', 'two\n');
    const second = phaseOf(await same.run(FLOW), 'look');
    expect([same.counts(), second.output, second.cacheHit]).toEqual([{}, '\ntwo', 'cross-run']);
    // And back, from its own store: nothing is asked.
    server.seen.length = 0;
    same.write('data.txt', 'one\n');
    expect(phaseOf(await same.run(FLOW), 'look').output).toBe('\none');
    expect([same.counts(), server.seen.length]).toEqual([{}, 0]);
  });
});
