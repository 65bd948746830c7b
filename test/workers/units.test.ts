import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasRedis } from './redis.js';
import { createTeam, mapFlow, type Team } from './team.js';

describe.skipIf(!hasRedis())('units on workers', () => {
  let team: Team;
  beforeEach(async () => {
    team = await createTeam();
  });
  afterEach(() => team.stop());

  it('each item of a map is executed once, by a worker, and its result is kept here', async () => {
    team.write('flow.json', mapFlow(4));
    team.commit();
    await team.worker(['--name', 'w1', '--concurrency', '2']);
    const run = await team.run(['run', 'flow.json', '--workers', team.redis.url, '--json']);
    expect(run.stderr).toBe('x');
    expect(run.status).toBe(0);
    expect(team.executions().sort()).toEqual(['i0', 'i1', 'i2', 'i3']);
  });
});
