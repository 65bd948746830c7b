import { readFileSync } from 'node:fs';
import type { Failure } from '../../model/failure.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../model/json.js';
import { StoredOutput } from '../../model/output.js';
import { canonicalEncode } from '../../util/canonical.js';
import { hmacSha256Hex, sha256Hex } from '../../util/digest.js';
import type { Project } from '../../util/project.js';
import { readBounded } from '../../util/read-bounded.js';
import { whyUnreadable } from '../../util/why-unreadable.js';
import { outputsBeside } from '../core/output-folder.js';
import { runHead } from '../history/run-head.js';
import { isRunId, journalOf, runIds } from '../history/runs-folder.js';
import { isJournalLine } from '../journal/line-shape.js';
import type { JournalLine, RunLine } from '../journal/lines.js';
import { readLines, withOutputIn } from '../journal/reader.js';
import { type CarriedLines, isResult, linesToCarry } from './carry.js';
import { PriorResults } from './prior-results.js';
import type { RunOf } from './same-flow.js';

const FORMAT = 'taskflow-checkpoint';
const LARGEST = 512 * 1024 * 1024;
/** Of all large outputs together: a checkpoint is one JSON text, in memory. */
const MOST_OUTPUT_BYTES = 64 * 1024 * 1024;

/** A run's results in one file: what `--resume-from` takes, here or on another machine. */
interface Checkpoint {
  readonly format: typeof FORMAT;
  readonly version: 1;
  readonly run: RunLine;
  readonly state: string;
  readonly lines: readonly JournalLine[];
  /** Files of large outputs by digest, in base64. */
  readonly outputs?: Readonly<Record<string, string>>;
  readonly checksum: string;
  readonly mac?: string;
}

export function exportCheckpoint(
  project: Project,
  runId: string,
  signingKey?: Buffer | string,
): { readonly checkpoint: Checkpoint; readonly left: readonly string[] } | { readonly failure: Failure } {
  const head = isRunId(runId) ? runHead(project, runId) : undefined;
  if (!head)
    return { failure: { code: 'bad-input', message: `there is no run ${runId}`, hint: '`taskflow runs` lists them.' } };
  const lines = carriedFrom(journalOf(project, runId), runId);
  const { outputs, left } = outputsOf(lines);
  const large = Object.keys(outputs).length === 0 ? {} : { outputs };
  const content = { format: FORMAT, version: 1, run: head.run, state: head.state, lines, ...large } as const;
  const { checksum, mac } = sealOf(content, signingKey);
  return { checkpoint: { ...content, checksum, ...(mac === undefined ? {} : { mac }) }, left };
}

/** The files of large outputs as far as they fit; `left`: phases whose output does not. */
function outputsOf(lines: readonly JournalLine[]): { outputs: Record<string, string>; left: readonly string[] } {
  const outputs: Record<string, string> = {};
  const left = new Set<string>();
  let total = 0;
  for (const line of lines) {
    if (!isResult(line) || !(line.output instanceof StoredOutput)) continue;
    for (const { path, digest, bytes } of line.output.files) {
      if (digest in outputs) continue;
      const content = total + bytes > MOST_OUTPUT_BYTES ? undefined : readBounded(path, bytes);
      if (content?.length !== bytes) left.add(line.phase);
      else outputs[digest] = content.toString('base64');
      total += content?.length ?? 0;
    }
  }
  return { outputs, left: [...left] };
}

function carriedFrom(path: string, runId: string): JournalLine[] {
  const lines = function* () {
    for (const { line } of readLines(path)) yield line;
  };
  return [...linesToCarry(lines, new PriorResults({ how: 'checkpoint', runId, journal: path }))];
}

/** What shows that a checkpoint is whole; with a key, also who made it. */
export function sealOf(content: Omit<Checkpoint, 'checksum' | 'mac'>, signingKey?: Buffer | string) {
  const text = canonicalEncode(content);
  return { checksum: sha256Hex(text), mac: signingKey === undefined ? undefined : hmacSha256Hex(signingKey, text) };
}

export interface ReadCheckpoint extends CarriedLines {
  /** Which flow was run, where it says so. */
  readonly of?: RunOf;
  /** Phases of which it names the key, and of which no run of this machine has the result. */
  readonly absent?: readonly string[];
}

/**
 * The lines to carry from a checkpoint file, or from a saved `run --json` result or its `checkpoint`; refused whole if
 * it was changed.
 */
export function readCheckpoint(
  project: Project,
  file: string,
  signingKey?: Buffer | string,
): ReadCheckpoint | { readonly failure: Failure } {
  let value: JsonValue;
  try {
    const bytes = readFileSync(file);
    if (bytes.length > LARGEST) return bad(`${file} is too large for a checkpoint`);
    value = JSON.parse(bytes.toString('utf8')) as JsonValue;
  } catch (error) {
    return bad(`${file} cannot be read: ${whyUnreadable(error)}`);
  }
  if (!isJsonObject(value)) return bad(`${file} is no checkpoint`);
  if (value['format'] === FORMAT)
    return fromExport(project, file, { checkpoint: value as unknown as Checkpoint, signingKey });
  const result = isJsonObject(value['checkpoint'] ?? null) ? (value['checkpoint'] as JsonObject) : value;
  if (isRunId(String(result['runId'])) && isJsonObject(result['keys'] ?? null)) {
    return fromKeys(project, { flow: value['flow'], ...result });
  }
  return bad(
    `${file} is no checkpoint`,
    'Make one with `taskflow checkpoint export RUN`, or save what `run --json` prints.',
  );
}

function fromExport(
  project: Project,
  file: string,
  { checkpoint, signingKey }: { readonly checkpoint: Checkpoint; readonly signingKey?: Buffer | string | undefined },
): ReadCheckpoint | { readonly failure: Failure } {
  const { checksum, mac, ...content } = checkpoint;
  if (checkpoint.version !== 1) return bad(`${file} was made by another version of taskflow`);
  const wanted = sealOf(content, signingKey);
  if (checksum !== wanted.checksum) return bad(`${file} was changed after it was made: its checksum is wrong`);
  if (wanted.mac !== undefined && mac !== wanted.mac) return bad(`${file} is not signed with this project's key`);
  const isWhole = Array.isArray(content.lines) && isJournalLine(content.run) && isRunId(content.run.runId);
  if (!isWhole) return bad(`${file} is no checkpoint`);
  const { run, outputs = {} } = content;
  // What the file does not hold may still be in the run's own folder, if the run was made here.
  const folder = outputsBeside(journalOf(project, run.runId));
  const lines = content.lines.filter(isJournalLine).map((line) => withOutputIn(line, folder));
  // Anybody can make a file that says yes: without a signature, every approval is asked again.
  const believed = wanted.mac === undefined ? lines.filter((line) => !isApproval(line)) : lines;
  return { runId: run.runId, run, of: run, lines: believed, outputs };
}

function isApproval(line: JournalLine): boolean {
  return line.type === 'decision' || (line.type === 'phase' && line.kind === 'approval');
}

/** Only keys: the outputs come from the runs of this machine. */
function fromKeys(project: Project, checkpoint: Readonly<Record<string, JsonValue | undefined>>): ReadCheckpoint {
  const runId = String(checkpoint['runId']);
  const wanted = new Map(Object.entries(checkpoint['keys'] as JsonObject).map(([id, key]) => [String(key), id]));
  // The run itself, if this machine has it, says more than its keys: items, side effects in doubt, decisions.
  const lines = carriedFrom(journalOf(project, runId), runId);
  for (const line of lines) if (isResult(line)) wanted.delete(line.key ?? '');
  for (const id of runIds(project)) {
    if (wanted.size === 0) break;
    for (const { line } of readLines(journalOf(project, id))) {
      if (isResult(line) && wanted.delete(line.key ?? '')) lines.unshift(line);
    }
  }
  const { flow } = checkpoint;
  const of = runHead(project, runId)?.run ?? (typeof flow === 'string' ? { flow } : undefined);
  return { runId, lines, ...(of && { of }), absent: [...wanted.values()] };
}

function bad(message: string, hint?: string): { failure: Failure } {
  return { failure: { code: 'bad-input', message, ...(hint === undefined ? {} : { hint }) } };
}
