import { sha256Hex } from '../util/digest.js';

const folded = new WeakMap<object, Record<string, string>>();

/**
 * For too many files to name: their folders, as deep as the limit allows, each with one digest of all its files. A miss
 * can then name the folder in which something changed. Cached, because many entries hold the same folders.
 */
export function foldParts(parts: Readonly<Record<string, string>>, limit: number): Record<string, string> {
  const known = folded.get(parts);
  if (known) return known;
  let texts = new Map<string, string>();
  for (const path of Object.keys(parts).sort()) {
    const folder = path.slice(0, path.lastIndexOf('/') + 1) || './';
    texts.set(folder, `${texts.get(folder) ?? ''}${path}\0${parts[path]}\n`);
  }
  while (texts.size > limit) texts = oneLevelUp(texts);
  const result = Object.fromEntries([...texts].map(([folder, text]) => [folder, sha256Hex(text)]));
  folded.set(parts, result);
  return result;
}

/** Merges the deepest folders into their parents. */
function oneLevelUp(texts: ReadonlyMap<string, string>): Map<string, string> {
  const depthOf = (folder: string) => folder.split('/').length;
  let deepest = 0;
  for (const folder of texts.keys()) deepest = Math.max(deepest, depthOf(folder));
  const up = new Map<string, string>();
  for (const [folder, text] of texts) {
    const parent = folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1) || './';
    const place = depthOf(folder) === deepest ? parent : folder;
    up.set(place, (up.get(place) ?? '') + text);
  }
  return up;
}
