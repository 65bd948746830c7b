import { mkdirSync } from 'node:fs';
import { discard } from './discard.mjs';

// Peers that keep results as files write out/ID.txt; a phase's inputs are its own file and those files of what it
// needs.

/** @param {string} id */
export const outputOf = (id) => `out/${id}.txt`;

/** @param {import('./graph.mjs').Phase} phase */
export const inputsOf = ({ id, needs }) => [`in/${id}.txt`, ...needs.map(outputOf)];

/** @param {import('./workspace.mjs').Workspace} workspace @param {string} id */
export const shellCommand = (workspace, id) => `${workspace.command(id).join(' ')} > ${outputOf(id)}`;

/**
 * @param {import('./workspace.mjs').Workspace} workspace
 * @param {string[]} state more to forget, relative to the workspace
 */
export function forgetOutputs({ dir }, state = []) {
  for (const path of ['out', ...state]) discard(`${dir}/${path}`);
  mkdirSync(`${dir}/out`, { recursive: true });
}
