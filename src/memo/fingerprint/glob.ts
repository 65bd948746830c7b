import { relative } from 'node:path';
import { canonicalEncode } from '../../util/canonical.js';
import { sha256Hex } from '../../util/digest.js';
import { userCacheDir } from '../../util/user-cache.js';
import { findInto } from '../files/find-files.js';
import { FoundFiles, type FoundLink } from '../files/found-files.js';
import { parseGlob } from '../files/glob-pattern.js';
import { partsOf, readTable, type StatTable, tableName, writeTable } from '../files/stat-table.js';
import { digestFiles } from './file-digests.js';
import { KnownFiles } from './known-files.js';
import type { FingerprintSource, SourceContext, SourceOptions, SourceResult } from './source.js';
import type { Fingerprint } from './syntax.js';

type Glob = Fingerprint & { source: 'glob' };

/** Files may change during the walk; a tree that changes in each of these tries has no fingerprint. */
const TRIES = 3;

/** The sorted matched paths with each file's content digest, as one digest. */
export const resolveGlob: FingerprintSource<Glob> = async (fingerprint, options, context) => {
  let vanished = '';
  for (let i = 0; i < TRIES; i++) {
    const result = await attempt(fingerprint, options, context);
    if (!('vanished' in result)) return result;
    vanished = result.vanished;
  }
  return { failed: `the files of glob:${fingerprint.pattern} keep changing (${vanished})` };
};

async function attempt(
  fingerprint: Glob,
  { ownOutputs }: SourceOptions,
  context: SourceContext,
): Promise<SourceResult | { vanished: string }> {
  const { project, stateDir } = context;
  const { root } = project;
  const pattern = parseGlob(fingerprint.pattern);
  const name = tableName(canonicalEncode([pattern.text, [...ownOutputs].sort()]));
  const known = fingerprint.exact ? undefined : readTable(project, name);
  const files = known ? new KnownFiles(known) : new FoundFiles();
  const leftOut = [stateDir, userCacheDir(project.env, project.home)].map((folder) => relative(root, folder));
  const failure = await findInto(files, pattern, { root, leftOut, except: ownOutputs });
  if (failure) return failure;
  const found = files instanceof KnownFiles ? files.differing() : files;
  if (known && found === undefined) return describe(known, files.links);
  const { paths, stats } = found!;
  const digested = await digestFiles({ root, clock: project.clock, known, paths, stats });
  if (!('table' in digested)) return digested;
  if (!fingerprint.exact && digested.table !== known) writeTable(project, name, digested.table);
  return describe(digested.table, files.links);
}

function describe(table: StatTable, links: readonly FoundLink[]): SourceResult {
  const said = Object.fromEntries(links.map(({ path, target }) => [path, sha256Hex(`link to ${target}`)]));
  let parts: Readonly<Record<string, string>> | undefined;
  return {
    ...(table.rows === 0 && links.length === 0 && { matchesNothing: true }),
    value: links.length === 0 ? table.value : sha256Hex(canonicalEncode([table.value, said])),
    // Lazy: twenty thousand names cost more than everything else here, and only a miss needs them.
    get parts() {
      parts ??= links.length === 0 ? partsOf(table) : { ...partsOf(table), ...said };
      return parts;
    },
  };
}
