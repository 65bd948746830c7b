import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { phaseOf } from '../support/rig.js';
import { createMemoRig, cross, flow, type MemoRig, makeRepository } from './support.js';

let rig: MemoRig;
beforeEach(() => {
  rig = createMemoRig();
});
afterEach(() => rig.remove());

describe('a phase of which a part starts in a worktree', () => {
  const show = { run: ['cat', 'in.txt'] };
  const loser = { run: 'exit 1' };
  const inside = (phase: object) => ({ type: 'flow', def: { name: 'inside', phases: [{ id: 'inner', ...phase }] } });

  it.each([
    ['a race', { type: 'race', cwd: 'worktree', branches: [show, loser] }],
    ['one branch of a race', { type: 'race', branches: [{ ...show, cwd: 'worktree' }, loser] }],
    ['a tournament', { type: 'tournament', cwd: 'worktree', branches: [show, show], judge: 'SAY: WINNER: 1' }],
    ['branches', { type: 'parallel', branches: [{ ...show, cwd: 'worktree' }] }],
    ['a phase inside', inside({ type: 'script', cwd: 'worktree', ...show })],
    ['a branch inside', inside({ type: 'parallel', branches: [{ ...show, cwd: 'worktree' }] })],
  ])('runs again after a commit: %s', async (_name, phase) => {
    rig.write('in.txt', 'one');
    makeRepository(rig.root);
    const phases = [{ id: 'a', ...phase, cache: cross() }];
    expect(phaseOf(await rig.run(flow(phases)), 'a').output).toContain('one');
    rig.write('in.txt', 'two');
    rig.git('commit', '-q', '-a', '-m', 'two');
    expect(phaseOf(await rig.run(flow(phases)), 'a').output).toContain('two');
  });
});

it.each(['temp', 'dedicated', 'worktree'])('a folder of the project named %s is not the word', async (word) => {
  rig.write(`${word}/in.txt`, 'of the folder');
  makeRepository(rig.root);
  const phases = (cwd: string) => [
    { id: 'a', type: 'script', run: 'cat in.txt 2>/dev/null || echo nothing', cwd, cache: cross() },
  ];
  expect(phaseOf(await rig.run(flow(phases(`./${word}`))), 'a').output).toBe('of the folder');
  expect(phaseOf(await rig.run(flow(phases(word))), 'a').output).toBe('nothing');
});
