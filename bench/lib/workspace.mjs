import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { discard } from './discard.mjs';

/**
 * A folder with one input file per phase. The phase's command prints that file: one short-lived process, a text of a
 * few bytes. With `counted`, each execution also leaves a line behind, so that reuse can be checked; timed runs never
 * do.
 *
 * @typedef {import('./graph.mjs').Graph} Graph
 * @typedef {ReturnType<typeof createWorkspace>} Workspace
 *
 * @param {string} dir
 * @param {Graph} graph
 * @param {{ counted?: boolean }} [options]
 */
export function createWorkspace(dir, graph, { counted = false } = {}) {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(`${dir}/in`, { recursive: true });
  for (const { id } of graph.phases) writeFileSync(`${dir}/in/${id}.txt`, `text of ${id}\n`);
  if (counted) writeFileSync(`${dir}/count.sh`, 'echo "$1" >> executions.log\ncat "in/$1.txt"\n');
  const log = `${dir}/executions.log`;
  let edits = 0;
  return {
    dir,
    graph,
    /** @param {string} id @returns {string[]} */
    command: (id) => (counted ? ['sh', 'count.sh', id] : ['cat', `in/${id}.txt`]),
    editLeaf() {
      edits += 1;
      writeFileSync(`${dir}/in/${graph.leaf}.txt`, `text of ${graph.leaf}, edit ${edits}\n`);
    },
    takeExecutions() {
      const count = existsSync(log) ? readFileSync(log, 'utf8').split('\n').length - 1 : 0;
      rmSync(log, { force: true });
      return count;
    },
    remove: () => discard(dir),
  };
}
