import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Detail, InputsView, ReportData } from '../../src/ui/view/types.js';
import { createTestProject, type TestProject } from '../support/cli.js';

const KEPT = (...fingerprint: string[]) => ({ scope: 'cross-run', fingerprint });
const FLOW = {
  name: 'made',
  args: { token: { secret: true, default: 'ARGUMENT-SECRET' }, pin: { secret: true, default: 'zq-4711' } },
  phases: [
    {
      id: 'list',
      type: 'script',
      run: ['ls', 'src'],
      env: { MODE: 'VARIABLE-SECRET' },
      cache: KEPT('glob:src/*', 'env:SECRET_ONE', 'file:none.txt'),
    },
    { id: 'send', type: 'script', run: ['echo', '{args.token}', '{args.pin}', '{steps.list.output}'], cache: KEPT() },
    { id: 'still', type: 'script', run: ['echo', 'STILL-WORD'], cache: KEPT() },
    { id: 'once', type: 'script', run: ['echo', 'ONCE-WORD'] },
    { id: 'end', type: 'script', run: ['sh', '-c', 'test -e src/b.ts'], dependsOn: ['once'] },
  ],
};
const SECRETS = ['ARGUMENT-SECRET', 'zq-4711', 'VARIABLE-SECRET', 'OUTSIDE-SECRET'];
const ENV = { env: { SECRET_ONE: 'OUTSIDE-SECRET' } };

let project: TestProject;
beforeEach(() => {
  project = createTestProject({ 'made.json': JSON.stringify(FLOW), 'src/a.ts': '1', 'src/b.ts': '1' });
});
afterEach(() => project.remove());

async function report(...flags: string[]): Promise<ReportData & { readonly html: string }> {
  expect(await project.run(['report', ...flags], ENV)).toMatchObject({ status: 0 });
  const html = readFileSync(join(project.root, 'report.html'), 'utf8');
  return { ...JSON.parse(/id="data">(.*?)<\/script>/s.exec(html)![1]!), html };
}

const run = (...flags: string[]) => project.run(['run', 'made.json', ...flags], ENV);
const known = ({ inputs }: Detail) => inputs as InputsView;
const names = (detail: Detail) => known(detail).parts.map(({ name }) => name);
const changed = (detail: Detail) => known(detail).parts.filter(({ was }) => was !== undefined);

describe('what a phase depends on', () => {
  it('is shown for a kept result part by part, each with its fingerprint, and no value of a secret', async () => {
    await run();
    const { details, html } = await report();
    expect(names(details['list']!)).toEqual([
      ...['env:SECRET_ONE', 'file:none.txt', 'glob:src/*', 'command', 'environment MODE'],
    ]);
    expect(known(details['list']!).parts).toMatchObject([
      { value: 'not shown' },
      { value: 'not there' },
      { value: '2 files', print: expect.stringMatching(/^[0-9a-f]{8}$/) },
      { print: expect.stringMatching(/^[0-9a-f]{8}$/) },
      { value: 'not shown' },
    ]);
    expect(names(details['send']!)).toContain('output of list');
    // Its line in the journal has it, not an entry.
    expect(names(details['once']!)).toEqual(['command', 'environment']);
    expect(known(details['once']!).key).toBeUndefined();
    for (const secret of SECRETS) expect(html).not.toContain(secret);
  });

  it('beside the run before: which part changed, which file of it, and what that made run', async () => {
    await run();
    project.write('src/a.ts', '2');
    await run('--fresh');
    const { details, comparison } = await report();
    const [glob, ...others] = changed(details['list']!);
    expect(others).toEqual([]);
    expect(glob).toMatchObject({ name: 'glob:src/*', files: ['src/a.ts'] });
    expect(glob!.was).not.toBe(glob!.print);
    expect(known(details['list']!).parts[0]).toBe(glob);
    expect(known(details['still']!).beside).toBe(comparison!.before.runId);
    expect(changed(details['still']!)).toEqual([]);
    const differs = Object.fromEntries(comparison!.phases.map((phase) => [phase.id, phase.differs]));
    expect(differs).toMatchObject({ list: ['input changed: glob:src/* (src/a.ts)'], still: [], once: [] });
    expect(comparison!.edits).toContainEqual(expect.objectContaining({ what: 'src/a.ts', phases: ['list'] }));
  });

  it('a part that is new or gone is said to be', async () => {
    await run();
    const [list, ...rest] = FLOW.phases;
    const phases = [{ ...list, cache: KEPT('glob:src/*', 'cmd:true', 'file:none.txt') }, ...rest];
    project.write('made.json', JSON.stringify({ ...FLOW, phases }));
    await run('--fresh');
    const { details } = await report();
    expect(changed(details['list']!)).toMatchObject([
      { name: 'cmd:true', was: '' },
      { name: 'env:SECRET_ONE', print: '' },
    ]);
  });

  it('of a reused result is what its entry says, and what it was asked; contents only if wanted', async () => {
    await run();
    await run('--fresh');
    const { details, html } = await report();
    expect(details['still']).toMatchObject({
      askedThen: true,
      asked: [{ name: 'argv', value: { text: 'echo STILL-WORD' } }],
    });
    for (const secret of SECRETS) expect(html).not.toContain(secret);
    const bare = await report('--no-outputs');
    expect(bare.html).not.toContain('STILL-WORD');
    expect(names(bare.details['still']!)).toEqual(['command']);
  });

  it('is not known once the entry is gone, and the page says so', async () => {
    await run();
    await project.run(['cache', 'clear', '--all'], ENV);
    const { details, comparison } = await report();
    expect(details['list']!.inputs).toEqual({ unknown: 'its entry is not in the cache any more' });
    expect(names(details['once']!)).toEqual(['command', 'environment']);
    expect(comparison).toBeUndefined();
  });

  it('of a result that is carried over is in the line of its execution', async () => {
    project.write(
      'made.json',
      JSON.stringify({ ...FLOW, phases: [FLOW.phases[3], { ...FLOW.phases[4], run: 'exit 1' }] }),
    );
    await run();
    project.write(
      'made.json',
      JSON.stringify({ ...FLOW, phases: [FLOW.phases[3], { ...FLOW.phases[4], run: 'exit 0' }] }),
    );
    expect((await run()).stderr).toContain('once  CACHED');
    const { details, view } = await report();
    expect([view.continues !== undefined, names(details['once']!)]).toEqual([true, ['command', 'environment']]);
  });
});
