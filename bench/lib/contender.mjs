import { runProcess } from './run-process.mjs';

/**
 * Somebody who does the generated work. `open` writes what it needs into a workspace; a session then runs it again and
 * again from cold (`clean`) or from what it kept.
 *
 * @typedef {import('./workspace.mjs').Workspace} Workspace
 *
 * @typedef {object} Session
 * @property {() => void | Promise<void>} clean forgets all results
 * @property {(() => void) | undefined} keepOnlyResults forgets the rest: a clone with an imported cache has no more
 * @property {() => Promise<number>} run does the work, in milliseconds
 * @property {() => void | Promise<void>} close
 *
 * @typedef {object} Contender
 * @property {string} name
 * @property {string} [note] what a reader of the table has to know
 * @property {() => Promise<{ unavailable: string } | { version: string }>} prepare installs or finds it, once
 * @property {(workspace: Workspace) => Promise<Session>} open
 *
 * A contender that is one command line.
 * @param {{
 *   name: string, note?: string, prepare: Contender['prepare'],
 *   write: (workspace: Workspace) => void | Promise<void>,
 *   command: (workspace: Workspace) => { argv: string[], env?: Record<string, string> },
 *   clean: (workspace: Workspace) => void, keepOnlyResults?: (workspace: Workspace) => void,
 * }} options
 * @returns {Contender}
 */
export function commandContender({ name, note, prepare, write, command, clean, keepOnlyResults }) {
  return {
    name,
    ...(note && { note }),
    prepare,
    async open(workspace) {
      await write(workspace);
      return {
        clean: () => clean(workspace),
        keepOnlyResults: keepOnlyResults && (() => keepOnlyResults(workspace)),
        run: () => runProcess({ cwd: workspace.dir, ...command(workspace) }),
        close: () => {},
      };
    },
  };
}
