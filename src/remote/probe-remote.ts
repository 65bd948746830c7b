import { sha256Hex } from '../util/digest.js';
import type { Project } from '../util/project.js';
import { encodeActionResult } from './action-result.js';
import { openRemote } from './open-remote.js';
import type { Remote } from './remote.js';
import type { RemoteSettings } from './settings.js';

/** Where the probe is put; no phase has this key. */
const PROBE = { kind: 'ac', name: sha256Hex('taskflow probe') } as const;

/** Tries a server: puts a probe, overwrites it and gets it back, or only asks for it where nothing is written. */
export async function probeRemote(
  settings: RemoteSettings,
  project: Project,
): Promise<{ readonly answers: string } | { readonly problem: string }> {
  const remote = await openRemote(settings, project);
  try {
    return settings.unwritten ? await look(remote) : await putAndGet(remote, project.clock.now());
  } finally {
    remote.close();
  }
}

async function look(remote: Remote): Promise<{ answers: string } | { problem: string }> {
  const answer = await remote.head(PROBE);
  if ('refused' in answer) return { problem: answer.refused };
  return 'failed' in answer ? { problem: answer.failed } : { answers: 'answers' };
}

async function putAndGet(remote: Remote, now: number): Promise<{ answers: string } | { problem: string }> {
  let data: Buffer = Buffer.alloc(0);
  for (const text of [`probe ${now}`, `probe ${now + 1}`]) {
    data = encodeActionResult({ stdout: Buffer.from(text), stderr: Buffer.alloc(0), files: [] });
    const put = await remote.put(PROBE, { data, digest: sha256Hex(data) });
    if (!('found' in put)) return { problem: `cannot be written: ${'refused' in put ? put.refused : reasonOf(put)}` };
  }
  const chunks: Buffer[] = [];
  const got = await remote.get(PROBE, { bytes: data.length, take: (chunk) => void chunks.push(chunk) });
  if (!('found' in got)) return { problem: `cannot be read: ${'refused' in got ? got.refused : reasonOf(got)}` };
  const isSame = Buffer.concat(chunks).equals(data);
  return isSame ? { answers: 'can be written and read' } : { problem: 'gives back something else than was put' };
}

function reasonOf(answer: object): string {
  return 'failed' in answer ? String(answer.failed) : 'what was put is not there';
}
