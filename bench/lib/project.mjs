import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { discard } from './discard.mjs';
import { WORK } from './paths.mjs';
import { runProcess } from './run-process.mjs';
import { TASKFLOW } from './taskflow.mjs';

/** A fresh folder that is a taskflow project. @param {string} name */
export function createProject(name) {
  const dir = `${WORK}/${name}`;
  discard(dir);
  mkdirSync(`${dir}/.pi`, { recursive: true });
  return {
    dir,
    /** @param {string} file @param {string} text */
    write: (file, text) => writeFileSync(`${dir}/${file}`, text),
    /** @param {string} file */
    read: (file) => readFileSync(`${dir}/${file}`, 'utf8'),
    /** @param {...string} args */
    taskflow: (...args) => runProcess({ argv: ['node', TASKFLOW, ...args], cwd: dir }),
    /** @param {...string} argv */
    node: (...argv) => runProcess({ argv: ['node', ...argv], cwd: dir }),
    forget: () => discard(`${dir}/.pi/taskflows`),
    remove: () => discard(dir),
  };
}
