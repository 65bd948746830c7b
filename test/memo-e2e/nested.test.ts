import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { phaseOf } from '../support/rig.js';
import { createMemoRig, cross, flow, kept, type MemoRig } from './support.js';

let rig: MemoRig;
beforeEach(() => {
  rig = createMemoRig();
});
afterEach(() => rig.remove());

const saved = (name: string, content: object) => rig.write(`.pi/taskflows/${name}.json`, JSON.stringify(content));
const plain = (id: string, more: object = {}) => ({ id, type: 'script', run: ['bin/tick', id, `said ${id}`], ...more });
const sub = (phases: object[], more: object = {}) => ({ name: 'sub', args: { t: { default: 'x' } }, ...more, phases });

const KINDS: [string, (more?: object) => object][] = [
  ['flow', (more = {}) => ({ id: 'f', type: 'flow', use: 'sub', with: { t: 'x' }, cache: cross(), ...more })],
  [
    'map … use',
    (more = {}) => ({ id: 'f', type: 'map', over: ['x'], use: 'sub', with: { t: '{item}' }, cache: cross(), ...more }),
  ],
];

describe.each(KINDS)('a cross-run %s', (_kind, phase) => {
  it('enters the nested run once: what is run-only inside is not executed on a hit', async () => {
    saved('sub', sub([plain('a'), plain('b', { run: ['bin/tick', 'b', '{steps.a.output} {args.t}'] })]));
    expect(await rig.executed(flow([phase()]))).toEqual({ a: 1, b: 1 });
    const second = await rig.run();
    expect(phaseOf(second, 'f')).toMatchObject({ cacheHit: 'cross-run', output: 'said a x' });
    expect(await rig.executed()).toEqual({});
  });

  it('misses when the sub-flow, an argument, an inner fingerprint or a flow that it uses changes', async () => {
    saved('deep', { name: 'deep', phases: [plain('d')] });
    rig.write('in.txt', '1');
    const inner = (word: string) =>
      sub([
        plain('a', { run: ['bin/tick', 'a', word], cache: { fingerprint: ['file:in.txt'] } }),
        { id: 'u', type: 'flow', use: 'deep' },
      ]);
    saved('sub', inner('one'));
    expect(await rig.executed(flow([phase()]))).toEqual({ a: 1, d: 1 });
    expect(await rig.executed()).toEqual({});
    rig.write('in.txt', '2');
    expect(await rig.executed()).toEqual({ a: 1, d: 1 });
    saved('sub', inner('two'));
    expect(await rig.executed()).toEqual({ a: 1, d: 1 });
    saved('deep', { name: 'deep', phases: [plain('d', { run: ['bin/tick', 'd', 'else'] })] });
    expect(await rig.executed()).toEqual({ a: 1, d: 1 });
    rig.write('in.txt', '1');
    expect(await rig.executed()).toEqual({ a: 1, d: 1 });
    expect(await rig.executed()).toEqual({});
  });

  it('cosmetic edits of the sub-flow cause no miss', async () => {
    const inner = [plain('a'), plain('b', { dependsOn: ['a'] })];
    saved('sub', sub(inner));
    await rig.executed(flow([phase()]));
    saved(
      'sub',
      sub(
        inner.map((each) => ({ description: 'told', ...each, timeout: '1h', retry: { max: 3 }, optional: true })),
        { description: 'more', concurrency: 2, args: { t: { description: 'which', default: 'x' } } },
      ),
    );
    expect(await rig.executed()).toEqual({});
    saved('sub', sub([inner[0]!, { ...inner[1], final: true }]));
    expect(await rig.executed()).toEqual({});
    saved('sub', sub([{ ...inner[0], final: true }, inner[1]!]));
    expect(await rig.executed()).toEqual({ a: 1, b: 1 });
  });

  it('an agent, a model or a context file inside decides too', async () => {
    rig.write('notes.md', 'one');
    const helper = (body: string) =>
      rig.write('.pi/agents/helper.md', `---\nname: helper\ndescription: x\n---\n${body}\n`);
    helper('Be brief.');
    saved('sub', sub([{ id: 'a', type: 'agent', agent: 'helper', task: 'NAME: a\nSAY: so', context: ['notes.md'] }]));
    await rig.executed(flow([phase()]));
    expect(await rig.executed()).toEqual({});
    helper('Be kind.');
    expect(await rig.executed()).toEqual({ a: 1 });
    rig.write('notes.md', 'two');
    expect(await rig.executed()).toEqual({ a: 1 });
    expect(await rig.executed(undefined, { model: 'other' })).toEqual({ a: 1 });
  });

  it('the shortest ttl inside bounds the whole', async () => {
    saved('sub', sub([plain('a', { cache: { scope: 'cross-run', fingerprint: [], ttl: '1h' } }), plain('b')]));
    await rig.executed(flow([phase({ cache: cross([], { ttl: '10h' }) })]));
    expect(await rig.executed()).toEqual({});
    rig.forget();
    const result = await rig.runAs({ laterMs: 2 * 3_600_000 });
    expect(rig.counts()).toEqual({ a: 1, b: 1 });
    expect(JSON.stringify(result.phases)).toContain('expired');
  });

  it('the shortest ttl inside bounds the whole where only the run knows which flow it is', async () => {
    saved('sub', sub([plain('a', { cache: { scope: 'cross-run', fingerprint: [], ttl: '1h' } })]));
    const which = { id: 'which', type: 'script', run: ['printf', 'sub'] };
    const phases = flow([which, phase({ use: '{steps.which.output}' })]);
    await rig.executed(phases);
    expect(await rig.executed()).toEqual({});
    rig.forget();
    await rig.runAs({ laterMs: 2 * 3_600_000 });
    expect(rig.counts()).toEqual({ a: 1 });
  });

  it('where the fingerprint is known only inside, it is entered and its phases are reused one by one', async () => {
    rig.write('x.txt', '1');
    saved(
      'sub',
      sub([plain('name', { run: ['printf', 'x.txt'] }), kept('a', ['file:{steps.name.output}']), plain('b')]),
    );
    expect(await rig.executed(flow([phase()]))).toEqual({ a: 1, b: 1 });
    expect(await rig.executed()).toEqual({ b: 1 });
    rig.write('x.txt', '2');
    expect(await rig.executed()).toEqual({ a: 1, b: 1 });
  });

  it('scripts inside see only what is declared, inside or around', async () => {
    const show = { id: 'a', type: 'script', run: 'printf "%s|%s|%s" "$INNER" "$OUTER" "$SECRET"' };
    const env = { INNER: 'i', OUTER: 'o', SECRET: 's' };
    saved('sub', sub([{ ...show, cache: { fingerprint: ['env:INNER'] } }]));
    const result = await rig.runAs({ env }, flow([phase({ cache: cross(['env:OUTER']) })]));
    expect(phaseOf(result, 'f').output).toBe('i|o|');
    // The same sub-flow outside of anything that is kept sees everything.
    const free = await rig.runAs({ env }, flow([phase({ cache: undefined })]));
    expect(phaseOf(free, 'f').output).toBe('i|o|s');
  });

  it.each([
    ['a script', plain('a', { run: 'bin/tick a "$MODE"', cache: cross() })],
    ['a race', { id: 'a', type: 'race', branches: [{ run: 'bin/tick a "$MODE"' }, { run: 'exit 1' }], cache: cross() }],
    [
      'a flow',
      {
        id: 'a',
        type: 'flow',
        def: { name: 'in', phases: [plain('b', { run: 'bin/tick a "$MODE"' })] },
        cache: cross(),
      },
    ],
  ])('a variable that is declared around decides what is kept inside: %s', async (_what, inner) => {
    saved('sub', sub([inner]));
    const run = async (MODE: string) => {
      const result = await rig.runAs({ env: { MODE } }, flow([phase({ cache: cross(['env:MODE']) })]));
      return phaseOf(result, 'f').output;
    };
    expect([await run('one'), await run('two'), await run('one')]).toEqual(['one', 'two', 'one']);
    expect(rig.counts()).toEqual({ a: 2 });
    // By itself the flow does not see it.
    const alone = await rig.runAs({ env: { MODE: 'one' } }, sub([inner]), { file: 'alone.json' });
    expect(phaseOf(alone, 'a').output).toBe('');
  });

  it('a variable that is declared around does not cost a call that is kept inside', async () => {
    saved('sub', sub([{ id: 'a', type: 'agent', task: 'NAME: a\nSAY: so', cache: cross() }]));
    for (const MODE of ['one', 'two'])
      await rig.runAs({ env: { MODE } }, flow([phase({ cache: cross(['env:MODE']) })]));
    expect(rig.counts()).toEqual({ a: 1 });
  });

  it('files that phases inside declare come back with the hit', async () => {
    saved(
      'sub',
      sub([
        {
          id: 'a',
          type: 'script',
          run: 'bin/note a; mkdir -p out; echo made > out/r.txt',
          outputs: ['out/**'],
          cache: { fingerprint: ['glob:out/**'] },
        },
      ]),
    );
    expect(await rig.executed(flow([phase()]))).toEqual({ a: 1 });
    rmSync(join(rig.root, 'out'), { recursive: true });
    expect(await rig.executed()).toEqual({});
    expect(rig.read('out/r.txt')).toBe('made\n');
  });
});

describe('inline and grafted definitions', () => {
  it('an inline definition is kept as a whole and misses when it is edited', async () => {
    const phase = (word: string) => ({
      id: 'f',
      type: 'flow',
      def: { name: 'inner', phases: [plain('a', { run: ['bin/tick', 'a', word] })] },
      cache: cross(),
    });
    await rig.executed(flow([phase('one')]));
    expect(await rig.executed()).toEqual({});
    expect(await rig.executed(flow([phase('two')]))).toEqual({ a: 1 });
    expect(await rig.executed(flow([phase('one')]))).toEqual({});
  });

  it('a generated flow is kept by what was generated', async () => {
    rig.write('plan.json', JSON.stringify({ phases: [{ id: 'a', task: 'NAME: a\nSAY: one' }] }));
    const phases = [
      { id: 'plan', type: 'script', run: ['cat', 'plan.json'], output: 'json' },
      { id: 'e', type: 'expand', def: '{steps.plan.json}', cache: cross() },
    ];
    expect(await rig.executed(flow(phases))).toEqual({ a: 1 });
    expect(await rig.executed()).toEqual({});
    rig.write('plan.json', JSON.stringify({ phases: [{ id: 'a', task: 'NAME: a\nSAY: two' }] }));
    expect(await rig.executed()).toEqual({ a: 1 });
  });

  it('a grafted fragment that quotes a phase around it misses when that one says something else', async () => {
    rig.write('word', 'one');
    const def = { phases: [{ id: 'a', task: 'NAME: a\nSAY: {{steps.before.output}}' }] };
    const phases = [
      { id: 'before', type: 'script', run: ['cat', 'word'], cache: cross(['file:word']) },
      { id: 'plan', type: 'script', run: ['printf', '%s', JSON.stringify(def)], output: 'json', dependsOn: ['before'] },
      { id: 'e', type: 'expand', def: '{steps.plan.json}', expandMode: 'graft', dependsOn: ['before'], cache: cross() },
    ];
    expect(phaseOf(await rig.run(flow(phases)), 'e').output).toBe('one');
    expect(await rig.executed()).toEqual({});
    rig.write('word', 'two');
    rig.forget();
    expect(phaseOf(await rig.run(), 'e').output).toBe('two');
    expect(rig.counts()).toEqual({ a: 1 });
  });
});

describe('equal phases in two places', () => {
  it('a check before and after an edit is made twice, and sees the edit', async () => {
    rig.write('state', 'before');
    saved('check', { name: 'check', phases: [{ id: 'look', type: 'script', run: 'bin/note look; cat state' }] });
    const phases = [
      { id: 'first', type: 'flow', use: 'check' },
      { id: 'edit', type: 'script', run: 'bin/note edit; echo after > state', dependsOn: ['first'] },
      { id: 'second', type: 'flow', use: 'check', dependsOn: ['edit'] },
    ];
    const result = await rig.run(flow(phases));
    expect(rig.counts()).toEqual({ look: 2, edit: 1 });
    expect(phaseOf(result, 'second').output).toBe('after');
  });

  it('items of one map share what is equal in them', async () => {
    saved('sub', sub([plain('setup'), plain('own', { run: ['bin/tick', 'own', '{args.t}'] })]));
    const map = { id: 'm', type: 'map', over: ['x', 'y', 'z'], use: 'sub', with: { t: '{item}' } };
    expect(await rig.executed(flow([map]))).toEqual({ setup: 1, own: 3 });
  });

  it('what follows work of one item is not taken from another item, though it comes to the same', async () => {
    const inner = [
      plain('setup'),
      plain('ready', { run: ['bin/tick', 'ready', '{steps.setup.output}'] }),
      plain('note', {
        run: 'bin/note note; echo "$T" > note.txt; echo noted',
        env: { T: '{args.t} {steps.ready.output}' },
      }),
      plain('read', { run: 'bin/note read; cat - note.txt', input: '{steps.note.output}: ' }),
      plain('end', { run: 'bin/note end; test -e ../ok', dependsOn: ['read'] }),
    ];
    saved('sub', sub(inner));
    const map = { id: 'm', type: 'map', over: ['x', 'y'], use: 'sub', with: { t: '{item}' }, concurrency: 1 };
    expect((await rig.run(flow([map, plain('last', { dependsOn: ['m'] })]))).status).toBe('failed');
    expect(rig.counts()).toEqual({ setup: 1, ready: 1, note: 2, read: 2, end: 2 });
    // A run that continues finds each item's own.
    rig.write('../ok', '');
    saved(
      'sub',
      sub([...inner.slice(0, 4), { ...inner[4], dependsOn: [], run: ['bin/tick', 'end', '{steps.read.output}'] }]),
    );
    const second = await rig.run();
    expect(phaseOf(second, 'm').json).toEqual(['noted: x said setup', 'noted: y said setup']);
    expect(rig.counts()).toEqual({ setup: 1, ready: 1, note: 2, read: 2, end: 4, last: 1 });
  });

  it('a nested flow that continues takes what it had finished, in each of its places', async () => {
    saved('sub', sub([plain('a', { cache: { fingerprint: ['file:bin/tick'] } })]));
    const phases = [
      { id: 'one', type: 'flow', use: 'sub' },
      { id: 'two', type: 'flow', use: 'sub', dependsOn: ['one'] },
      { id: 'end', type: 'script', run: 'test -e ok', dependsOn: ['two'] },
    ];
    expect(await rig.executed(flow(phases))).toEqual({ a: 2 });
    expect(await rig.executed()).toEqual({});
  });
});
