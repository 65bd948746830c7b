import { resolve } from 'node:path';
import type { Diagnostic } from '../model/diagnostic.js';
import type { Flow } from '../model/flow.js';
import { LARGEST_FILE } from '../parse/decode.js';
import { readDerived, writeDerived } from '../util/derived-cache.js';
import { sha256Hex } from '../util/digest.js';
import { displayPath } from '../util/inside.js';
import type { Project } from '../util/project.js';
import { readBounded } from '../util/read-bounded.js';
import { VERSION } from '../util/version.js';
import type { FlowOverrides } from './check-flow.js';
import { type Dependency, unchanged } from './dependencies.js';
import { findFlow, isFlowPath, savedFlowNames } from './find-flow.js';
import { diskWorld } from './world.js';

interface LoadOptions {
  /** Folder that a path is relative to; the project root when nothing is said. */
  readonly base?: string;
  /** Neither reads nor writes kept checks. */
  readonly withoutKept?: boolean;
  /** Names of the defined runners, besides the built-in ones. Default: those of the settings files. */
  readonly runners?: readonly string[];
  /** Defined model roles. Default: those of the settings files. */
  readonly models?: readonly string[];
  readonly overrides?: FlowOverrides;
  /** Also warns of fingerprints that match no file. */
  readonly lookForFiles?: boolean;
}

export type LoadedFlow =
  | {
      readonly flow: Flow;
      readonly warnings: readonly Diagnostic[];
      /** Absolute. */
      readonly file: string;
      /** Digest of the file's bytes. */
      readonly digest: string;
      /** The file's text; absent after a kept check, which does not need it. */
      readonly source?: string;
      /**
       * Everything that the result depends on: the file, the places where it was looked for, and what its check read.
       */
      readonly looked: readonly Dependency[];
    }
  | {
      readonly diagnostics: readonly Diagnostic[];
      /** The text that the diagnostics point into. */
      readonly source?: string;
    };

/** Raised when the form or the meaning of a checked flow changes. */
const KEPT_FORMAT = 6;

interface Kept {
  readonly format: number;
  readonly flow: Flow;
  readonly warnings: readonly Diagnostic[];
  readonly dependencies: readonly Dependency[];
}

/**
 * The checked flow behind FLOW, a path or a saved flow's name. An unchanged file is not checked again: its checked form
 * is kept by the digest of its bytes, and valid as long as everything that the check read is unchanged, too.
 */
export async function loadFlow(project: Project, ref: string, options: LoadOptions = {}): Promise<LoadedFlow> {
  const absent: Dependency[] = [];
  const found = findFlow(project, ref, {
    read: (path) => {
      const bytes = readBounded(path, LARGEST_FILE);
      if (bytes === undefined) absent.push({ path, digest: null });
      return bytes;
    },
    names: () => savedFlowNames(project),
    base: options.base,
  });
  if ('missing' in found) return { diagnostics: [await missingFlow(ref, found)] };
  const file = resolve(found.file);
  const digest = sha256Hex(found.bytes);
  const written = { file: displayPath(project.root, file), bytes: found.bytes, digest };
  const checked = await checkKept(project, written, options);
  if (!('flow' in checked)) return checked;
  const { flow, warnings, source, dependencies } = checked;
  return { flow, warnings, file, digest, source, looked: [...absent, { path: file, digest }, ...dependencies] };
}

/** A flow's text and its origin. */
interface WrittenFlow {
  /** The path for messages. */
  readonly file: string;
  readonly bytes: Buffer;
  /** Digest of the bytes. */
  readonly digest: string;
  /** Made by a model: the limits for generated flows apply. */
  readonly trust?: 'generated';
}

type CheckedText =
  | (Omit<Kept, 'format'> & { readonly source?: string })
  | { readonly diagnostics: readonly Diagnostic[]; readonly source: string };

/** Checks a flow's text, unless an earlier check of the same text in the same surroundings is kept. */
export async function checkKept(
  project: Project,
  { file, bytes, digest, trust }: WrittenFlow,
  options: LoadOptions = {},
): Promise<CheckedText> {
  const key = keptKey(options, [file, project.home, digest, ...(trust ? [trust] : [])]);
  if (!options.withoutKept) {
    const kept = readDerived(project, key);
    if (isKept(kept) && unchanged(kept.dependencies)) return kept;
  }
  const { checkFlowText } = await import('./check-flow.js');
  const { overrides, runners, models, lookForFiles } = options;
  const world = diskWorld(project, runners, { lookForFiles, models });
  const result = await checkFlowText({
    file,
    text: bytes,
    world,
    ...(trust && { trust }),
    ...(overrides && { overrides }),
  });
  const { flow, diagnostics, dependencies, source } = result;
  if (!flow) return { diagnostics, source };
  const checked = { flow, warnings: diagnostics, dependencies };
  if (!options.withoutKept) writeDerived(project, key, { format: KEPT_FORMAT, ...checked } satisfies Kept);
  return { ...checked, source };
}

/**
 * Whether a flow is valid depends on the defined runners and model roles; those from settings files are among the
 * dependencies of the check.
 */
function keptKey({ runners, models, overrides = {} }: LoadOptions, parts: readonly string[]): string {
  const given = (runners || models) && [runners?.toSorted() ?? null, models?.toSorted() ?? null];
  return sha256Hex(JSON.stringify([KEPT_FORMAT, VERSION, overrides, ...parts, ...(given ?? [])]));
}

function isKept(value: unknown): value is Kept {
  if (typeof value !== 'object' || value === null) return false;
  const kept = value as Partial<Kept>;
  return (
    kept.format === KEPT_FORMAT &&
    Array.isArray(kept.warnings) &&
    Array.isArray(kept.flow?.phases) &&
    Array.isArray(kept.dependencies)
  );
}

async function missingFlow(
  ref: string,
  { missing, known }: { missing: string; known: readonly string[] },
): Promise<Diagnostic> {
  const problem = { file: ref, line: 1, column: 1, length: 1, severity: 'error', code: 'no-flow' } as const;
  if (isFlowPath(ref)) return { ...problem, message: missing };
  const { nearestName } = await import('../util/nearest.js');
  const nearest = await nearestName(ref, known);
  const hint = nearest
    ? `did you mean "${nearest}"?`
    : known.length > 0
      ? `saved flows: ${known.slice(0, 20).join(', ')}`
      : 'a path has a slash or ends in .yaml, .yml or .json';
  return { ...problem, message: missing, hint };
}
