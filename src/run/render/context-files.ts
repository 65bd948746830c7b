import { readFileSync, realpathSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { findFiles } from '../../memo/files/find-files.js';
import { hasWildcards, parseGlob } from '../../memo/files/glob-pattern.js';
import type { Failure } from '../../model/failure.js';
import type { JsonObject, JsonValue } from '../../model/json.js';
import { WHOLE_CONTEXT_BYTES } from '../../model/limits.js';
import { canonicalEncode } from '../../util/canonical.js';
import { sha256Hex } from '../../util/digest.js';
import { digestFile } from '../../util/digest-file.js';
import { formatBytes } from '../../util/format.js';
import { isInside } from '../../util/inside.js';
import { readBounded } from '../../util/read-bounded.js';
import { statIfThere } from '../../util/stat.js';
import { whyUnreadable } from '../../util/why-unreadable.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { Variables } from '../core/scope.js';
import { render } from './render.js';

/** What is put before a task, and its part of the identity: as sent, plus the digest of each whole file. */
export interface ContextText {
  readonly text: string;
  readonly identity: readonly JsonObject[];
  /** The files by name; undefined where a pattern was matched, which new files may match too. */
  readonly reads?: readonly (readonly [path: string, digest: string])[];
}

type Read = ContextText | { readonly failure: Failure };

const NO_CONTEXT: ContextText = { text: '', identity: [], reads: [] };

/** Without a promise where the phase has no context. */
export function contextText(at: PhaseContext, variables: Variables | undefined): Read | Promise<Read> {
  return at.phase.context.length === 0 ? NO_CONTEXT : readContext(at, variables);
}

async function readContext(at: PhaseContext, variables: Variables | undefined): Promise<Read> {
  const blocks: string[] = [];
  const identity: JsonObject[] = [];
  const reads: [string, string][] = [];
  let named = true;
  for (const entry of at.phase.context) {
    const rendered = render(at, entry, variables);
    const isOutput = /^\{steps\.[^{}]+\}$/.test(entry);
    const listed = isOutput ? namedFiles(at, rendered.value) : undefined;
    if (isOutput && !listed) {
      const sent = cutAt(rendered.text, at.phase.contextLimit);
      blocks.push(block(entry.slice(1, -1), sent));
      identity.push({ entry, sent });
      continue;
    }
    const files = listed ? { paths: listed, matched: false } : await matching(at, rendered.text);
    for (const pattern of listed ?? [rendered.text]) at.run.options.onContext?.(pattern);
    if ('failure' in files) return files;
    for (const path of files.paths) {
      const file = await readInside(at.run.options.project.root, path, at.phase.contextLimit);
      if ('failure' in file) return file;
      const { sent, whole } = file;
      blocks.push(block(path, sent));
      identity.push({ path, sent: sha256Hex(sent), whole });
      reads.push([path, whole]);
    }
    named &&= !files.matched;
  }
  return { text: blocks.join('\n\n'), identity, ...(named && { reads }) };
}

/** An earlier phase may have chosen the files: a list of files of the project means the files, not their names. */
function namedFiles(at: PhaseContext, value: JsonValue): string[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const { root } = at.run.options.project;
  const isFile = (name: JsonValue) =>
    typeof name === 'string' && isInside(root, resolve(root, name)) && statIfThere(resolve(root, name))?.isFile();
  return value.every(isFile) ? value.map((name) => relative(root, resolve(root, name as string))) : undefined;
}

/** Says which context has changed since it was put before the task; undefined when none has. */
export async function contextMoved(
  at: PhaseContext,
  variables: Variables | undefined,
  before: ContextText,
): Promise<string | undefined> {
  if (before.identity.length === 0) return undefined;
  const now = await contextText(at, variables);
  if ('failure' in now) return now.failure.message;
  if (canonicalEncode(now.identity) === canonicalEncode(before.identity)) return undefined;
  const known = new Set(before.identity.map(canonicalEncode));
  const changed = now.identity.find((part) => !known.has(canonicalEncode(part)))?.['path'];
  return `context ${typeof changed === 'string' ? `${changed} ` : ''}changed while the agent worked`;
}

function block(title: string, text: string): string {
  return `<file path=${JSON.stringify(title)}>\n${text}\n</file>`;
}

function cutAt(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit)}\n… (${text.length - limit} more characters)`;
}

async function matching(
  at: PhaseContext,
  pattern: string,
): Promise<{ paths: string[]; matched: boolean } | { failure: Failure }> {
  const { root } = at.run.options.project;
  if (!hasWildcards(pattern)) {
    const path = resolve(root, pattern);
    if (!isInside(root, path)) return { failure: leaves(pattern) };
    return { paths: [relative(root, path)], matched: false };
  }
  const matched = await findFiles(parseGlob(pattern), { root });
  if ('failed' in matched) return { failure: { code: 'bad-input', message: `context ${pattern}: ${matched.failed}` } };
  return { paths: matched.paths.sort(), matched: true };
}

/** Of a file that is too large to be held: how many characters it has, nobody counts. */
async function beginningOf(file: string, size: number, limit: number): Promise<ReadContext> {
  // A character has four bytes at the most, and the last one may be cut.
  const most = Math.min(limit * 4 + 4, WHOLE_CONTEXT_BYTES);
  const text = (readBounded(file, most) ?? Buffer.alloc(0)).toString('utf8').slice(0, limit);
  const left = size - Buffer.byteLength(text);
  return { sent: `${text}\n… (${formatBytes(left)} more)`, whole: await digestFile(file, size) };
}

function leaves(path: string): Failure {
  return { code: 'bad-input', message: `context ${JSON.stringify(path)} leaves the project` };
}

/** What is sent of a file, and the digest of all of it. */
interface ReadContext {
  readonly sent: string;
  readonly whole: string;
}

async function readInside(root: string, path: string, limit: number): Promise<ReadContext | { failure: Failure }> {
  const file = join(root, path);
  try {
    if (!isInside(realpathSync(root), realpathSync(file))) return { failure: leaves(path) };
    const stat = statSync(file);
    if (stat.isDirectory()) {
      return {
        failure: { code: 'bad-input', message: `context ${path} is a folder`, hint: `Name its files: ${path}/**` },
      };
    }
    if (!stat.isFile()) return { failure: { code: 'bad-input', message: `context ${path} is no file` } };
    if (stat.size > WHOLE_CONTEXT_BYTES) return await beginningOf(file, stat.size, limit);
    const bytes = readFileSync(file);
    return { sent: cutAt(bytes.toString('utf8'), limit), whole: sha256Hex(bytes) };
  } catch (error) {
    return {
      failure: {
        code: 'bad-input',
        message: `context ${path} cannot be read: ${whyUnreadable(error)}`,
        hint: 'Paths are seen from the project root.',
      },
    };
  }
}
