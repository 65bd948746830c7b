import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exportCheckpoint, sealOf } from '../../src/run/continue/checkpoint.js';
import type { RunResult } from '../../src/run/core/result.js';
import { derivedDir } from '../../src/util/user-cache.js';
import { type Random, randomFrom } from '../support/random.js';
import { createRig, type Rig } from '../support/rig.js';

/** Per kind of file; with the archives and entries of test/store/fuzz.test.ts more than 2,000 in the long tests. */
const STEPS = Math.ceil(Number(process.env['TASKFLOW_STEPS'] ?? 120) / 3);

let rig: Rig;
let kept: string;
beforeEach(() => {
  rig = createRig();
  kept = join(rig.root, '../kept');
  rig.write('bin/evil', '#!/bin/sh\ntouch ../executed\n', 0o755);
  rig.write('in.txt', 'one\n');
});
afterEach(() => rig.remove());

/** `end` fails until there is a file `ok` beside the project. */
const flow = {
  name: 'kept',
  phases: [
    {
      id: 'build',
      type: 'script',
      run: 'bin/tick build "$(cat in.txt)"; mkdir -p dist; cp in.txt dist/out.txt',
      outputs: ['dist/**'],
      cache: { scope: 'cross-run', fingerprint: ['glob:in.*'] },
    },
    { id: 'each', type: 'map', over: ['x', 'y'], run: ['bin/tick', 'each', '{item}'] },
    { id: 'end', type: 'script', run: 'bin/tick end; test -e ../ok', dependsOn: ['build', 'each'] },
  ],
};

const HOSTILE: readonly unknown[] = [
  ...[
    '../../outside',
    '/etc/passwd',
    '.git/hooks/pre-commit',
    '.pi/agents/x.md',
    'bin/evil',
    '',
    '\0',
    'x'.repeat(5_000),
  ],
  ...[['bin/evil'], { argv: ['bin/evil'] }, null, -1, 1e308, true, [], {}, { __proto__: null, constructor: 'x' }],
];

/** A mutation of a valid file: bytes, lines, or one value of its JSON. */
function mutated(bytes: Buffer, random: Random): Buffer {
  const at = random.below(Math.max(1, bytes.length));
  switch (random.below(6)) {
    case 0:
      return bytes.subarray(0, at);
    case 1: {
      const copy = Buffer.from(bytes);
      if (copy.length > 0) copy[at]! ^= 1 << random.below(8);
      return copy;
    }
    case 2:
      return Buffer.concat([
        bytes.subarray(0, at),
        Buffer.from(random.pick(['\0', '{', '"', '\n', '}]'])),
        bytes.subarray(at),
      ]);
    case 3: {
      const lines = bytes.toString('utf8').split('\n');
      lines.splice(random.below(lines.length), random.below(3), random.pick(lines));
      return Buffer.from(lines.join('\n'));
    }
    default:
      return withOtherValue(bytes, random);
  }
}

function withOtherValue(bytes: Buffer, random: Random): Buffer {
  const lines = bytes.toString('utf8').split('\n');
  const index = random.below(lines.length);
  try {
    const value = JSON.parse(lines[index]!) as unknown;
    lines[index] = JSON.stringify(replaced(value, random));
  } catch {
    lines[index] = JSON.stringify(random.pick(HOSTILE));
  }
  return Buffer.from(lines.join('\n'));
}

function replaced(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random.chance(0.15)) return random.pick(HOSTILE);
  const names = Object.keys(value);
  if (names.length === 0) return random.pick(HOSTILE);
  const name = random.pick(names);
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  copy[name] = replaced(copy[name], random);
  return copy;
}

/** Forged by somebody who knows how a checksum is made. */
function resealed(bytes: Buffer, random: Random): Buffer {
  const forged = replaced(JSON.parse(bytes.toString('utf8')), random);
  if (typeof forged !== 'object' || forged === null) return Buffer.from(JSON.stringify(forged));
  const { checksum: _checksum, ...content } = forged as Record<string, never>;
  return Buffer.from(JSON.stringify({ ...content, ...sealOf(content as never) }));
}

/** All that a flow may leave in the project, the state folder left out. */
function filesNow(): string[] {
  return readdirSync(rig.root, { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.startsWith('.pi/taskflows') && statSync(join(rig.root, path)).isFile())
    .sort();
}

const ALLOWED = ['bin/agent', 'bin/evil', 'bin/tick', 'dist/out.txt', 'flow.json', 'in.txt'];

async function expectHarmless(run: () => Promise<RunResult>, seed: number): Promise<void> {
  const ended = await run().then(
    ({ error }) => ({ seed, internal: error?.code === 'internal' ? error : undefined }),
    // A refusal in words; a bug of ours is a TypeError or the like.
    (error: Error) => ({ seed, internal: error.name === 'Error' ? undefined : error }),
  );
  expect(ended).toEqual({ seed, internal: undefined });
  expect({ seed, executed: existsSync(join(rig.root, '../executed')) }).toEqual({ seed, executed: false });
  expect({ seed, others: filesNow().filter((path) => !ALLOWED.includes(path)) }).toEqual({ seed, others: [] });
  expect(rig.executions().every((name) => ['build', 'each', 'end'].includes(name))).toBe(true);
}

/** The project as it was, state and files. */
function restore(): void {
  for (const path of ['.pi/taskflows', 'dist']) rmSync(join(rig.root, path), { recursive: true, force: true });
  cpSync(kept, rig.root, { recursive: true, preserveTimestamps: true });
}

async function prepare(): Promise<string> {
  const { runId, status } = await rig.run(flow);
  expect(status).toBe('failed');
  for (const path of ['.pi/taskflows', 'dist']) {
    cpSync(join(rig.root, path), join(kept, path), { recursive: true, preserveTimestamps: true });
  }
  return runId;
}

describe('files that were forged or damaged execute nothing that the flow does not say, and write nothing else', () => {
  it(`a checkpoint (${STEPS} times)`, async () => {
    const runId = await prepare();
    const exported = exportCheckpoint(rig.project, runId);
    if ('failure' in exported) throw new Error(exported.failure.message);
    const bytes = Buffer.from(JSON.stringify(exported.checkpoint));
    const file = join(rig.root, '../checkpoint.json');
    for (let seed = 1; seed <= STEPS; seed++) {
      restore();
      writeFileSync(file, seed % 2 === 0 ? mutated(bytes, randomFrom(seed)) : resealed(bytes, randomFrom(seed)));
      await expectHarmless(() => rig.run(flow, { continuation: { how: 'checkpoint', file } }), seed);
    }
  }, 900_000);

  it(`the journal of a run that is continued (${STEPS} times)`, async () => {
    const runId = await prepare();
    const journal = join(rig.root, '.pi/taskflows/runs', runId, 'journal.jsonl');
    const bytes = readFileSync(journal);
    for (let seed = 1; seed <= STEPS; seed++) {
      restore();
      writeFileSync(journal, mutated(bytes, randomFrom(seed)));
      await expectHarmless(() => rig.run(flow), seed);
    }
  }, 900_000);

  it(`what was derived, by damage (${STEPS} times)`, async () => {
    await prepare();
    const dir = derivedDir(rig.project);
    const whole = new Map(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name))]));
    expect(whole.size).toBeGreaterThan(2);
    for (let seed = 1; seed <= STEPS; seed++) {
      restore();
      const random = randomFrom(seed);
      for (const [name, bytes] of whole) writeFileSync(join(dir, name), mutated(bytes, random));
      await expectHarmless(() => rig.run(flow), seed);
    }
  }, 900_000);
});
