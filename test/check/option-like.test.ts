import { describe, expect, it } from 'vitest';
import { check } from './support.js';

const args = {
  base: { default: 'main' },
  count: { type: 'number', default: 3 },
  least: { type: 'number', minimum: 0, default: 3 },
  mode: { type: 'enum', values: ['fast', 'slow'], default: 'fast' },
  flag: { type: 'enum', values: ['-a', '-b'], default: '-a' },
  on: { type: 'boolean', default: true },
  file: { type: 'path', default: 'a.txt' },
};

async function warned(run: readonly string[], phase: object = {}): Promise<(string | undefined)[]> {
  const list = { id: 'list', type: 'script', run: ['ls'] };
  const { diagnostics } = await check({ name: 'f', args, phases: [list, { id: 'x', type: 'script', run, ...phase }] });
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return diagnostics.filter(({ code }) => code === 'option-like').map(({ hint }) => hint);
}

describe('a value that a program may take for an option', () => {
  it.each([
    [['git', 'diff', '{args.base}']],
    [['git', 'diff', '--stat', '{args.base}...HEAD']],
    [['cat', '{steps.list.output}']],
    [['grep', '-r', 'x', '{args.file}']],
    [['head', '{args.count}']],
    [['ls', '{args.flag}']],
    [['/usr/bin/git', 'diff', '{args.base}']],
    [['node', '{args.file}']],
  ])('is warned of, with what to do: %j', async (run) => {
    const [hint] = await warned(run);
    expect(hint).toMatch(/"--"/);
    expect(hint).toMatch(/\.\/\{|=\{/);
  });

  it('is warned of in the items of a map and in branches', async () => {
    expect(await warned(['wc', '{item}'], { type: 'map', over: '{steps.list.output}' })).toHaveLength(1);
    expect(await warned(['wc', '{item}'], { type: 'map', over: ['a.txt', '--files0-from=b'] })).toHaveLength(1);
    const branches = [{ run: ['cat', '{args.base}'] }, { run: ['cat', '--', '{args.base}'] }];
    const { diagnostics } = await check({ name: 'f', args, phases: [{ id: 'p', type: 'parallel', branches }] });
    expect(diagnostics.map(({ code }) => code)).toEqual(['option-like']);
  });

  it.each([
    ['behind the end of the options', ['cat', '--', '{args.base}']],
    ['behind the end of the options, as git has it', ['git', 'diff', '--end-of-options', '{args.base}']],
    ['with text in front of it', ['cat', './{args.base}']],
    ['as the value of an option', ['git', 'log', '--author={args.base}']],
    ['as the value of a short option', ['git', 'commit', '-m', '{args.base}']],
    ['that cannot begin with a dash', ['head', '{args.least}', '{args.mode}', '{args.on}']],
    ['for programs that have no options to speak of', ['echo', '{args.base}']],
    ['for programs that have no options to speak of', ['printf', '%s', '{args.base}']],
    ['for a program of the project, which knows what it takes', ['./scripts/diff.sh', '{args.base}']],
    ['for a script, whose interpreter leaves it alone', ['node', 'scripts/diff.mjs', '{args.base}']],
    ['for a script, whose interpreter leaves it alone', ['sh', '-c', 'cat -- "$1"', 'sh', '{args.base}']],
    ['as the program', ['{args.base}']],
  ])('is none %s: %j', async (_what, run) => expect(await warned(run)).toEqual([]));

  it('is none in a list that is written in the flow, and whose items begin with no dash', async () => {
    expect(await warned(['wc', '{item.name}'], { type: 'map', over: [{ name: 'a' }, { name: 'b' }] })).toEqual([]);
  });
});
