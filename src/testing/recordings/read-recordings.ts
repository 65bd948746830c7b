import { join } from 'node:path';
import { Problems, syntaxDiagnostics, toDiagnostics } from '../../check/problem.js';
import { checkStructure } from '../../check/structure.js';
import type { Diagnostic } from '../../model/diagnostic.js';
import { parseText } from '../../parse/parse.js';
import { namesIn } from '../../util/if-there.js';
import { isInside } from '../../util/inside.js';
import { readBounded } from '../../util/read-bounded.js';
import { callKey } from './call.js';
import { fromRaw, type Recording } from './recording.js';
import { type RawRecording, RecordingObject } from './schema.js';

/** A recording on disk. */
export interface KeptRecording extends Recording {
  /** Name in its folder. */
  readonly file: string;
  readonly key: string;
}

const LARGEST = 64 * 1024 * 1024;

/** All recordings of a folder, and what is wrong with those that cannot be used. `shown`: the folder, for people. */
export async function readRecordings(
  folder: string,
  shown: string,
): Promise<{ readonly recordings: readonly KeptRecording[]; readonly problems: readonly Diagnostic[] }> {
  const recordings: KeptRecording[] = [];
  const problems: Diagnostic[] = [];
  const byCall = new Map<string, string>();
  const files = namesIn(folder).filter((name) => name.endsWith('.json'));
  for (const file of files.sort()) {
    const read = await readRecording(join(folder, file), `${shown}/${file}`);
    if ('problems' in read) {
      problems.push(...read.problems);
      continue;
    }
    const key = callKey(read.recording.call);
    const call = `${key} ${read.recording.ordinal}`;
    const before = byCall.get(call);
    byCall.set(call, before ?? file);
    if (before === undefined) recordings.push({ ...read.recording, file, key });
    else problems.push(bad(`${shown}/${file}`, `this is the same call as in ${before}`, 'remove one of the two'));
  }
  return { recordings, problems };
}

async function readRecording(
  path: string,
  file: string,
): Promise<{ readonly recording: Recording } | { readonly problems: readonly Diagnostic[] }> {
  const bytes = readBounded(path, LARGEST);
  if (bytes === undefined) return { problems: [bad(file, 'this recording cannot be read')] };
  const text = bytes.toString('utf8');
  const parsed = await parseText(file, text);
  if ('problems' in parsed) return { problems: syntaxDiagnostics(parsed.problems, file, text) };
  const found = new Problems('the recording');
  if (checkStructure(parsed.value, RecordingObject, { path: [], problems: found })) {
    checkPaths(parsed.value as RawRecording, found);
  }
  if (!found.hasErrors) return { recording: fromRaw(parsed.value as RawRecording) };
  return { problems: await toDiagnostics(found.list, { file, text, tree: await parsed.tree() }) };
}

/** Recordings come with the project, so they must not write outside of it. */
function checkPaths({ files = {} }: RawRecording, problems: Problems): void {
  for (const path of Object.keys(files)) {
    if (isInside('/project', join('/project', path)) && !path.startsWith('/') && !path.includes('\0')) continue;
    const message = `${JSON.stringify(path)} leads out of the project`;
    problems.error(['files', path], 'outside-project', { message, target: 'key' });
  }
}

function bad(file: string, message: string, hint?: string): Diagnostic {
  const place = { file, line: 1, column: 1, length: 1 };
  return { ...place, severity: 'error', code: 'bad-recording', message, ...(hint !== undefined && { hint }) };
}
