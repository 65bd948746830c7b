import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/model/event.js';
import type { PhaseResult } from '../../src/run/core/result.js';
import { readRun } from '../../src/ui/view/read-run.js';
import { phaseOf, ticking } from '../support/rig.js';
import { CROSS, server, team, useTeam } from './support.js';

useTeam();

const FLOW = {
  name: 'build',
  phases: [
    ticking('first', CROSS),
    ticking('second', { ...CROSS, dependsOn: ['first'] }, 'after {steps.first.output}'),
    {
      id: 'files',
      type: 'script',
      run: 'bin/tick files; mkdir -p out/deep; echo made > out/a.txt; echo made > out/deep/b.txt; chmod +x out/a.txt',
      outputs: ['out/**'],
      ...CROSS,
    },
    { id: 'large', type: 'script', run: 'bin/tick large; seq 1 400000', ...CROSS },
    {
      id: 'items',
      type: 'map',
      over: ['a', 'b', 'c'],
      run: ['bin/tick', 'item-{item}', 'item {item}'],
      ...CROSS,
    },
  ],
};

describe('two checkouts with stores of their own', () => {
  it('the second executes nothing, and has the same outputs and files', async () => {
    const ci = team.machine({ signs: true });
    const built = await ci.run(FLOW);
    expect([built.status, built.warnings]).toEqual(['success', undefined]);
    expect(ci.executions().length).toBe(7);
    const laptop = team.machine();
    const events: RunEvent[] = [];
    const again = await laptop.run(FLOW, { onEvent: (event) => events.push(event) });
    expect(laptop.executions()).toEqual([]);
    expect([again.status, again.warnings]).toEqual(['success', undefined]);
    const said = ({ output, outputFile }: PhaseResult) => outputFile?.digest ?? output;
    for (const phase of built.phases)
      expect([phase.id, said(phaseOf(again, phase.id))]).toEqual([phase.id, said(phase)]);
    expect(phaseOf(again, 'large').outputFile?.bytes).toBeGreaterThan(1_000_000);
    expect([laptop.read('out/a.txt'), laptop.read('out/deep/b.txt')]).toEqual(['made\n', 'made\n']);
    expect(phaseOf(again, 'first')).toMatchObject({ cacheHit: 'cross-run', shared: true });
    const ended = events.flatMap((event) => (event.type === 'phase-end' ? [[event.phase, event.outcome.shared]] : []));
    expect(ended).toContainEqual(['first', true]);
    // The page marks it: it reads the journal alone.
    const view = readRun(laptop.project, again.runId)!.view;
    const marks = view.phases.map(({ id, shared, units }) => [
      id,
      shared ?? units.filter((unit) => unit.shared).length,
    ]);
    expect(Object.fromEntries(marks)).toMatchObject({ first: true, large: true, items: 3 });
  });

  it('what was fetched is in the local store: the next run asks the network nothing', async () => {
    await team.machine({ signs: true }).run(FLOW);
    const laptop = team.machine();
    await laptop.run(FLOW);
    const asked = server.seen.length;
    const warm = await laptop.run(FLOW);
    expect(laptop.executions()).toEqual([]);
    expect(server.seen.length).toBe(asked);
    expect(phaseOf(warm, 'first').shared).toBeUndefined();
    // The server may be gone by now.
    server.misbehave = (request) => {
      request.socket.destroy();
      return true;
    };
    expect((await laptop.run(FLOW)).warnings).toBeUndefined();
    expect(laptop.executions()).toEqual([]);
  });

  it('a machine without a signing key uploads nothing, unless it is told to', async () => {
    const laptop = team.machine();
    await laptop.run({ phases: [ticking('only', CROSS)] });
    expect([laptop.executions().length, server.count('PUT')]).toEqual([1, 0]);
    const open = team.machine({ cache: { trust: 'none', remote: { url: server.url, write: true } } });
    await open.run({ phases: [ticking('only', CROSS)] });
    expect(server.entries().length).toBe(1);
    const reader = team.machine({ cache: { trust: 'none' } });
    await reader.run({ phases: [ticking('only', CROSS)] });
    expect(reader.executions()).toEqual([]);
  });

  it('look-ups of phases that are ready go out together', async () => {
    let [open, most] = [0, 0];
    server.misbehave = (_request, response) => {
      open += 1;
      most = Math.max(most, open);
      setTimeout(() => {
        open -= 1;
        response.writeHead(404).end();
      }, 500);
      return true;
    };
    const phases = Array.from({ length: 40 }, (_, index) => ticking(`p${index}`, CROSS));
    const laptop = team.machine();
    await laptop.run({ concurrency: 2, phases });
    expect(most).toBe(16);
    expect(laptop.executions().length).toBe(40);
  });

  it('with the shared cache off, nobody is asked', async () => {
    const laptop = team.machine({ signs: true });
    await laptop.run({ phases: [ticking('only', CROSS)] }, { remote: 'off' });
    expect([laptop.executions().length, server.seen.length]).toEqual([1, 0]);
  });
});
