import { sha256Hex } from '../util/digest.js';
import type { Project } from '../util/project.js';
import { decodeActionResult, encodeActionResult } from './action-result.js';
import { canLease } from './can-lease.js';
import { openRemote } from './open-remote.js';
import type { Remote } from './remote.js';
import type { RemoteSettings } from './settings.js';

/** Where the probe is put; no phase has this key. */
const PROBE = { kind: 'ac', name: sha256Hex('taskflow probe') } as const;

type Tried = { readonly answers: string } | { readonly problem: string };

/** Tries a server: puts a probe, overwrites it and gets it back; or only asks for it, so that nothing is written. */
export async function probeRemote(
  settings: RemoteSettings,
  project: Project,
  { onlyAsk = settings.unwritten !== undefined } = {},
): Promise<Tried> {
  const remote = await openRemote(settings, project);
  try {
    return onlyAsk ? await look(remote) : await putAndGet(remote, project.clock.now());
  } finally {
    remote.close();
  }
}

async function look(remote: Remote): Promise<Tried> {
  const answer = await remote.head(PROBE);
  if ('refused' in answer) return { problem: answer.refused };
  return 'failed' in answer ? { problem: answer.failed } : { answers: 'answers' };
}

async function putAndGet(remote: Remote, now: number): Promise<Tried> {
  const texts = [`probe ${now}`, `probe ${now + 1}`];
  for (const text of texts) {
    const data = encodeActionResult({ stdout: Buffer.from(text), stderr: Buffer.alloc(0), files: [] });
    const put = await remote.put(PROBE, { data, digest: sha256Hex(data) });
    if (!('found' in put)) return { problem: `cannot be written: ${'refused' in put ? put.refused : reasonOf(put)}` };
  }
  const got = await remote.getVersion(PROBE);
  if (!('body' in got)) return { problem: `cannot be read: ${'refused' in got ? got.refused : reasonOf(got)}` };
  // Not byte for byte: bazel-remote adds the sender to each message.
  if (String(decodeActionResult(got.body)?.stdout) !== texts.at(-1))
    return { problem: 'gives back something else than was put' };
  const lease = await canLease(remote);
  const single = 'can' in lease && lease.can ? 'one machine computes a result' : 'two machines may compute one result';
  return { answers: `can be written and read; of those that sign at the same time, ${single}` };
}

function reasonOf(answer: object): string {
  return 'failed' in answer ? String(answer.failed) : 'what was put is not there';
}
