import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Status } from '../../src/model/outcome.js';
import { type DependencyState, readiness } from '../../src/run/schedule/readiness.js';
import { effort } from '../support/effort.js';
import { linesOf } from '../support/live-cli.js';
import { createRig, type Rig } from '../support/rig.js';

/** A phase of the model: what it needs, and how it will end if it runs. */
interface Drawn {
  readonly id: string;
  readonly needs: readonly string[];
  readonly join: 'all' | 'any';
  readonly ends: 'well' | 'badly' | 'not wanted';
  readonly optional: boolean;
  readonly slow: boolean;
}

/** Phases in a random order in the file; each may need any that was drawn before it. */
const graphs = fc
  .array(
    fc.record({
      picks: fc.array(fc.nat(100), { maxLength: 3 }),
      join: fc.constantFrom('all' as const, 'all' as const, 'any' as const),
      ends: fc.constantFrom('well' as const, 'well' as const, 'well' as const, 'badly' as const, 'not wanted' as const),
      optional: fc.boolean(),
      slow: fc.boolean(),
      place: fc.nat(1_000),
    }),
    { minLength: 1, maxLength: 9 },
  )
  .map((drawn) => {
    const phases = drawn.map(({ picks, place, ...rest }, index) => ({
      ...rest,
      place,
      id: `p${index}`,
      needs: index === 0 ? [] : [...new Set(picks.map((pick) => `p${pick % index}`))],
    }));
    return phases.sort((a, b) => a.place - b.place).map(({ place: _place, ...phase }): Drawn => phase);
  });

type End = { readonly status: Status; readonly standing: 'done' | 'skipped' | 'bad' };

/** What must come out when everything that can run does (`--keep-going`, or nothing fails): order does not matter. */
function model(phases: readonly Drawn[]): Map<string, End> {
  const ends = new Map<string, End>();
  const end = (id: string): End => {
    const known = ends.get(id);
    if (known) return known;
    const phase = phases.find((candidate) => candidate.id === id)!;
    const below = phase.needs.map((need) => end(need).standing);
    const found = own(phase, below);
    ends.set(id, found);
    return found;
  };
  for (const { id } of phases) end(id);
  return ends;
}

function own(phase: Drawn, below: readonly End['standing'][]): End {
  const may =
    below.length === 0 ||
    (phase.join === 'any' ? below.includes('done') : below.includes('done') && !below.includes('bad'));
  if (!may) return { status: 'skipped', standing: below.includes('bad') ? 'bad' : 'skipped' };
  if (phase.ends === 'not wanted') return { status: 'skipped', standing: 'skipped' };
  if (phase.ends === 'well') return { status: 'done', standing: 'done' };
  return { status: 'failed', standing: phase.optional ? 'done' : 'bad' };
}

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const LOG = '../times';

function flowOf(phases: readonly Drawn[], concurrency: number): object {
  return {
    name: 'drawn',
    concurrency,
    phases: phases.map(({ id, needs, join, ends, optional, slow }) => ({
      id,
      type: 'script',
      dependsOn: needs,
      join,
      optional,
      ...(ends === 'not wanted' && { when: '1 == 2' }),
      run:
        `echo "start ${id}" >> ${LOG}; ${slow ? 'sleep 0.02; ' : ''}echo "end ${id}" >> ${LOG}; ` +
        `exit ${ends === 'badly' ? 1 : 0}`,
    })),
  };
}

/** What the processes themselves have seen. */
function observed(): { most: number; started: string[]; before: (id: string) => Set<string> } {
  const lines = linesOf(`${rig.root}/${LOG}`);
  let now = 0;
  let most = 0;
  for (const line of lines) {
    now += line.startsWith('start') ? 1 : -1;
    most = Math.max(most, now);
  }
  const ended = (until: number) =>
    new Set(lines.slice(0, until).flatMap((line) => (line.startsWith('end') ? [line.slice(4)] : [])));
  return {
    most,
    started: lines.flatMap((line) => (line.startsWith('start') ? [line.slice(6)] : [])),
    before: (id) => ended(lines.indexOf(`start ${id}`)),
  };
}

function holds(phases: readonly Drawn[], concurrency: number, seen: ReturnType<typeof observed>): void {
  expect(seen.most).toBeLessThanOrEqual(concurrency);
  expect(new Set(seen.started).size).toBe(seen.started.length);
  const runs = (id: string) => seen.started.includes(id);
  for (const { id, needs, join } of phases.filter((phase) => runs(phase.id))) {
    const before = seen.before(id);
    const waitedFor = needs.filter(runs);
    if (join === 'all') expect(waitedFor.filter((need) => !before.has(need))).toEqual([]);
    else if (needs.length > 0) expect(waitedFor.some((need) => before.has(need))).toBe(true);
  }
}

describe('random graphs', () => {
  it('with --keep-going: everything that can run does, once, in order, never more than allowed', async () => {
    await fc.assert(
      fc.asyncProperty(graphs, fc.integer({ min: 1, max: 4 }), async (phases, concurrency) => {
        rig.write(LOG, '');
        const result = await rig.run(flowOf(phases, concurrency), { keepGoing: true, continuation: { how: 'fresh' } });
        const wanted = model(phases);
        expect(Object.fromEntries(result.phases.map(({ id, status }) => [id, status]))).toEqual(
          Object.fromEntries([...wanted].map(([id, { status }]) => [id, status])),
        );
        const seen = observed();
        const ran = [...wanted].flatMap(([id, { status }]) => (status === 'skipped' ? [] : [id]));
        expect([...seen.started].sort()).toEqual(ran.sort());
        const failed = phases.some(({ id, optional }) => !optional && wanted.get(id)!.status === 'failed');
        expect(result.status).toBe(failed ? 'failed' : 'success');
        holds(phases, concurrency, seen);
      }),
      // A counterexample of nine phases is small enough; looking for a smaller one would take minutes of processes.
      { numRuns: effort(14, 100), endOnFailure: true },
    );
  });

  it('without it: a failure starts nothing more, keeps what is under way, and every phase settles once', async () => {
    await fc.assert(
      fc.asyncProperty(graphs, fc.integer({ min: 1, max: 4 }), async (phases, concurrency) => {
        rig.write(LOG, '');
        const settled: string[] = [];
        const handle = await rig.start(flowOf(phases, concurrency), { continuation: { how: 'fresh' } });
        for await (const event of handle.events) if (event.type === 'phase-end') settled.push(event.phase);
        const result = await handle.result;
        const wanted = model(phases);
        const seen = observed();
        holds(phases, concurrency, seen);
        expect(result.phases.map(({ id }) => id)).toEqual(phases.map(({ id }) => id));
        expect([...settled].sort()).toEqual(phases.map(({ id }) => id).sort());
        for (const { id, status } of result.phases) {
          // Whatever has begun has ended as it had to; whatever has not is cancelled or skipped.
          if (seen.started.includes(id)) expect(status).toBe(wanted.get(id)!.status);
          else expect(['cancelled', 'skipped']).toContain(status);
        }
        const broke = phases.some(
          ({ id, optional, ends }) => !optional && ends === 'badly' && seen.started.includes(id),
        );
        expect(result.status).toBe(broke ? 'failed' : 'success');
        if (!broke) expect(result.phases.every(({ status }) => status !== 'cancelled')).toBe(true);
      }),
      // A counterexample of nine phases is small enough; looking for a smaller one would take minutes of processes.
      { numRuns: effort(14, 100), endOnFailure: true },
    );
  });
});

describe('readiness', () => {
  const standings = fc.array(
    fc.constantFrom<DependencyState>('open', 'done', 'skipped', 'bad', 'waiting', 'cancelled'),
    {
      maxLength: 8,
    },
  );
  const joins = fc.constantFrom('all' as const, 'any' as const);

  it('does not depend on the order of the dependencies', () => {
    fc.assert(
      fc.property(joins, standings, (join, list) => {
        expect(readiness(join, [...list].reverse()).now).toBe(readiness(join, list).now);
        expect(readiness(join, [...list].sort()).now).toBe(readiness(join, list).now);
      }),
    );
  });

  it('waits exactly as long as it may still turn out otherwise', () => {
    fc.assert(
      fc.property(joins, standings, (join, list) => {
        const now = readiness(join, list).now;
        const early = join === 'any' && list.includes('done');
        expect(now === 'wait').toBe(list.includes('open') && !early);
      }),
    );
  });

  it('what is decided stays decided, however the rest settles', () => {
    const settledOnly = fc.constantFrom<DependencyState>('done', 'skipped', 'bad', 'waiting', 'cancelled');
    fc.assert(
      fc.property(joins, standings, fc.array(settledOnly, { minLength: 8, maxLength: 8 }), (join, list, rest) => {
        const now = readiness(join, list).now;
        if (now === 'wait') return;
        const later = list.map((standing, index) => (standing === 'open' ? rest[index]! : standing));
        expect(readiness(join, later).now).toBe(now);
      }),
    );
  });

  it('never starts after something bad with `all`, nor without anything done', () => {
    fc.assert(
      fc.property(joins, standings, (join, list) => {
        const ready = readiness(join, list);
        if (ready.now === 'start' && list.length > 0) {
          expect(list).toContain('done');
          if (join === 'all')
            for (const bad of ['open', 'bad', 'waiting', 'cancelled']) expect(list).not.toContain(bad);
        }
        if (ready.now === 'never' && ready.why !== 'all-skipped') expect(list[ready.because]).toBe(ready.why);
        if (ready.now === 'never' && ready.why === 'all-skipped') expect(new Set(list)).toEqual(new Set(['skipped']));
      }),
    );
  });
});

describe('size', () => {
  /** Gates with a condition are decided without a process: only the schedule is at work. */
  const gate = (id: string, more: object = {}) => ({ id, type: 'gate', eval: ['1 == 1'], ...more });

  it('a chain of 3,000 phases runs to its end', async () => {
    const phases = Array.from({ length: 3_000 }, (_, n) => gate(`p${n}`, n > 0 ? { dependsOn: [`p${n - 1}`] } : {}));
    const result = await rig.run({ name: 'chain', phases: phases.reverse() });
    expect(result.status).toBe('success');
    expect(result.phases.every(({ status }) => status === 'done')).toBe(true);
  });

  it('a fan of 3,000 phases and the one that needs them all', async () => {
    const fan = Array.from({ length: 3_000 }, (_, n) => gate(`p${n}`, { dependsOn: ['first'] }));
    const all = fan.map(({ id }) => id);
    const result = await rig.run({
      name: 'fan',
      phases: [gate('first'), ...fan, gate('all', { dependsOn: all }), gate('any', { dependsOn: all, join: 'any' })],
    });
    expect(result.status).toBe('success');
    expect(result.phases.every(({ status }) => status === 'done')).toBe(true);
  });

  it.each([
    ['cancelled', {}],
    ['skipped', { keepGoing: true }],
  ])('5,000 phases in a row that never start are %s, without filling the stack', async (status, options) => {
    const rest = Array.from({ length: 5_000 }, (_, n) => gate(`p${n}`, { dependsOn: [n === 0 ? 'no' : `p${n - 1}`] }));
    const result = await rig.run({ name: 'never', phases: [gate('no', { eval: ['1 == 2'] }), ...rest] }, options);
    expect(result.status).toBe('blocked');
    expect(result.phases.filter((phase) => phase.status === status)).toHaveLength(5_000);
  });
});
