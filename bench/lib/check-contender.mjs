import { setTimeout as sleep } from 'node:timers/promises';
import { makeGraph, SHAPES } from './graph.mjs';
import { WORK } from './paths.mjs';
import { createWorkspace } from './workspace.mjs';

/** Longer than a tick of the file system's clock: peers that compare times must see an edit. */
export const EDIT_PAUSE_MS = 20;

/**
 * Proves that a contender does the work that is timed: cold executes everything, warm nothing, an edited leaf just what
 * depends on it. Counted through a side effect of each execution, on small graphs.
 *
 * @param {import('./contender.mjs').Contender} contender
 * @returns {Promise<string | undefined>} what is wrong
 */
export async function checkContender(contender) {
  for (const shape of SHAPES) {
    const graph = makeGraph(shape, 10);
    const workspace = createWorkspace(`${WORK}/check/${shape}`, graph, { counted: true });
    try {
      const problem = await checkOne(contender, workspace);
      if (problem) return `${shape} of 10: ${problem}`;
    } catch (error) {
      return `${shape} of 10: ${error instanceof Error ? error.message : error}`;
    } finally {
      workspace.remove();
    }
  }
  return undefined;
}

async function checkOne(contender, workspace) {
  const { graph } = workspace;
  const session = await contender.open(workspace);
  try {
    const steps = [
      { name: 'cold', expected: graph.size, before: () => session.clean() },
      { name: 'warm', expected: 0, before: () => {} },
      { name: 'one leaf changed', expected: graph.afterLeaf, before: () => workspace.editLeaf() },
      { name: 'warm after that', expected: 0, before: () => {} },
      { name: 'cold again', expected: graph.size, before: () => session.clean() },
    ];
    for (const { name, expected, before } of steps) {
      await sleep(EDIT_PAUSE_MS);
      await before();
      await session.run();
      const executed = workspace.takeExecutions();
      if (executed !== expected) return `${name} executed ${executed} phases, not ${expected}`;
    }
    return undefined;
  } finally {
    await session.close();
  }
}
