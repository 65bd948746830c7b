import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { commandContender } from './contender.mjs';
import { discard } from './discard.mjs';
import { jsonFlow, yamlFlow } from './flow-file.mjs';
import { FLOOR, HOME, ROOT, WORK } from './paths.mjs';

/** The build that is measured: a copy, so that a rebuild meanwhile does not pull it away. */
const BUILD = `${WORK}/build`;
export const TASKFLOW = `${BUILD}/taskflow.cjs`;

/** Builds from source, and keeps a copy. Returns what went wrong, if anything. @param {{ build: boolean }} options */
export async function prepareTaskflow({ build }) {
  try {
    if (build) await (await import(pathToFileURL(`${ROOT}/scripts/build.mjs`).href)).build();
    rmSync(BUILD, { recursive: true, force: true });
    cpSync(`${ROOT}/dist`, BUILD, { recursive: true });
    return undefined;
  } catch (error) {
    return `taskflow could not be built: ${error instanceof Error ? error.message.split('\n')[0] : error}`;
  }
}

/**
 * @param {string} name
 * @param {string} file
 * @param {(workspace: import('./workspace.mjs').Workspace) => string} text
 */
const variant = (name, file, text) =>
  commandContender({
    name,
    prepare: async () => ({ version: '' }),
    write(workspace) {
      mkdirSync(`${workspace.dir}/.pi`, { recursive: true });
      writeFileSync(`${workspace.dir}/${file}`, text(workspace));
    },
    command: () => ({ argv: ['node', TASKFLOW, 'run', `./${file}`] }),
    clean: ({ dir }) => discard(`${dir}/.pi/taskflows`),
    keepOnlyResults({ dir }) {
      discard(`${dir}/.pi/taskflows/runs`);
      rmSync(`${HOME}/.cache/taskflow/projects`, { recursive: true, force: true });
    },
  });

export const taskflowJson = variant('taskflow', 'flow.json', jsonFlow);
export const taskflowYaml = variant('taskflow (YAML)', 'flow.yaml', yamlFlow);

/** @param {string} name @param {string[]} flags */
const floorVariant = (name, flags) =>
  commandContender({
    name,
    prepare: async () => ({ version: '' }),
    write: (workspace) => writeFileSync(`${workspace.dir}/flow.json`, jsonFlow(workspace)),
    command: () => ({ argv: ['node', `${FLOOR}/graph.cjs`, 'flow.json', 'store', ...flags] }),
    clean: ({ dir }) => discard(`${dir}/store`),
  });

export const floor = floorVariant('floor', []);
/** Only the spawning, in order and at most eight at once: what nobody can avoid in a cold run. */
export const spawnFloor = floorVariant('floor: spawn only', ['spawn-only']);
