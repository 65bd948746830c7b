import type { RunnerRequest } from '../../agent/runner.js';
import { isInside } from '../../util/inside.js';

/** Stand for folders that differ in each run. No text holds them by chance. */
const PROJECT = '‹project›';
const FOLDER = '‹folder›';

/** Random marks around data in a judge's prompt, new for each call. */
const FENCE = /\[(data|end) [0-9a-f]{24}\]/g;

const SECRET_NAME = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$/i;
const SHORTEST_SECRET = 8;

type Place = Pick<RunnerRequest, 'cwd' | 'projectRoot'>;

/** Replaces what must not be recorded (secrets) and what differs from run to run (folders, marks). */
export function hiding(request: RunnerRequest): (text: string) => string {
  const secrets = Object.entries(request.env)
    .flatMap(([name, value = '']) =>
      SECRET_NAME.test(name) && value.length >= SHORTEST_SECRET ? [{ name, value }] : [],
    )
    .sort((a, b) => b.value.length - a.value.length);
  return (text) => {
    let hidden = request.mask?.(text) ?? text;
    for (const { name, value } of secrets) hidden = hidden.replaceAll(value, `(secret ${name})`);
    for (const [word, folder] of foldersOf(request)) hidden = hidden.replaceAll(folder, word);
    return hidden.replaceAll(FENCE, '[$1]');
  };
}

/** Puts the folders of this run into a recorded text. */
export function revealing(place: Place): (text: string) => string {
  return (text) => foldersOf(place).reduce((shown, [word, folder]) => shown.replaceAll(word, folder), text);
}

function foldersOf({ cwd, projectRoot }: Place): readonly (readonly [word: string, folder: string])[] {
  const project = [PROJECT, projectRoot] as const;
  return isInside(projectRoot, cwd) ? [project] : [[FOLDER, cwd], project];
}

/** What paths of recorded files are relative to: the project, or a folder of the call's own. */
export function baseOf({ cwd, projectRoot }: Place): string {
  return isInside(projectRoot, cwd) ? projectRoot : cwd;
}
