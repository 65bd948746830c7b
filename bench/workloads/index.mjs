import { assemble } from './assemble.mjs';
import { batch } from './batch.mjs';
import { calls, calls10000 } from './calls.mjs';
import { check } from './check.mjs';
import { command } from './command.mjs';
import { glob } from './glob.mjs';
import { graphs } from './graphs.mjs';
import { maintenance } from './maintenance.mjs';
import { map } from './map.mjs';
import { maps } from './maps.mjs';
import { mcp } from './mcp.mjs';
import { memory } from './memory.mjs';
import { observe } from './observe.mjs';
import { observedPaths } from './observed-paths.mjs';
import { phases } from './phases.mjs';
import { shared } from './shared.mjs';
import { startup } from './startup.mjs';
import { store } from './store.mjs';
import { workers } from './workers.mjs';
import { worktree } from './worktree.mjs';

/** @type {import('../lib/context.mjs').Workload[]} */
export const WORKLOADS = [
  ...[startup, graphs, memory, map, store, maintenance, glob, worktree, check, phases, batch, assemble, shared],
  ...[observe, observedPaths, calls, calls10000, maps, command, mcp, workers],
];
