import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { promisify } from 'node:util';
import { KEPT } from './paths.mjs';

const execute = promisify(execFile);

/**
 * Installs pinned packages into a folder of their own, once. A failure is a value: the table names it.
 * @param {string} name @param {Record<string, string>} packages
 * @returns {Promise<{ unavailable: string } | { version: string }>}
 */
export async function installFromNpm(name, packages) {
  const dir = peerDir(name);
  const manifest = JSON.stringify({ private: true, dependencies: packages });
  const version = Object.values(packages)[0] ?? '';
  const done = `${dir}/installed.json`;
  if (existsSync(done) && readFileSync(done, 'utf8') === manifest) return { version };
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  writeFileSync(`${dir}/package.json`, manifest);
  try {
    await execute('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: dir, timeout: 300_000 });
  } catch (error) {
    return { unavailable: `npm install failed: ${firstLine(error)}` };
  }
  writeFileSync(done, manifest);
  return { version };
}

/** @param {string} name */
export function peerDir(name) {
  return `${KEPT}/peers/${name}`;
}

/**
 * A program that is on the machine or not; the bench does not install system packages.
 * @param {string} program @param {string[]} versionArgs
 */
export async function findOnPath(program, versionArgs = ['--version']) {
  if (!onPath(program)) return { unavailable: 'not on this machine' };
  try {
    const { stdout } = await execute(program, versionArgs, { timeout: 30_000 });
    return { version: /\d+(\.\d+)+/.exec(stdout)?.[0] ?? 'unknown version' };
  } catch (error) {
    return { unavailable: firstLine(error) };
  }
}

function onPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => isExecutable(`${folder}/${program}`));
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Not there, or not a program: the search goes on.
    return false;
  }
}

/** @param {any} error */
function firstLine(error) {
  return String(error.stderr || error.message)
    .trim()
    .split('\n')[0]
    .slice(0, 200);
}
