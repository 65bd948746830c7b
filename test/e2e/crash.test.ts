import { appendFileSync, existsSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { RunResult } from '../../src/run/core/result.js';
import type { JournalLine } from '../../src/run/journal/lines.js';
import { readLines } from '../../src/run/journal/reader.js';
import { effort } from '../support/effort.js';
import { linesOf, startCli } from '../support/live-cli.js';
import { livingIn } from '../support/living.js';
import { type Random, randomFrom } from '../support/random.js';
import { createRig, type Rig } from '../support/rig.js';
import { drawFlow, installWork, workOf } from './crash-flow.js';

const SEEDS = Array.from({ length: effort(10, 120) }, (_, index) => index + 1);
const SIGNALS = ['SIGKILL', 'SIGKILL', 'SIGTERM', 'SIGINT'] as const;

interface Trial {
  readonly rig: Rig;
  readonly log: string;
  readonly random: Random;
}

const counted = (log: string, what: 'begin' | 'end'): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const line of linesOf(log)) {
    const [kind, name] = line.split(' ') as [string, string];
    if (kind === what) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
};

const runsOf = (rig: Rig) => join(rig.root, '.pi/taskflows/runs');
const newestJournal = (rig: Rig): string | undefined => {
  try {
    const ids = readdirSync(runsOf(rig)).filter((name) => /^\d{8}/.test(name));
    const paths = ids.map((id) => join(runsOf(rig), id, 'journal.jsonl'));
    return paths.sort((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs).at(-1);
  } catch {
    // It was ended before it made a folder or a journal.
    return undefined;
  }
};

/** Work whose result some journal holds: none of it may ever begin again. */
function completed(rig: Rig): Set<string> {
  const found = new Set<string>();
  let ids: string[] = [];
  try {
    ids = readdirSync(runsOf(rig)).filter((name) => /^\d{8}/.test(name));
  } catch {
    // Nothing has run yet.
  }
  for (const id of ids) {
    for (const { line } of readLines(join(runsOf(rig), id, 'journal.jsonl'))) {
      if (isDone(line)) found.add(workOf(line.phase, line.unit));
    }
  }
  return found;
}

function isDone(line: JournalLine): line is JournalLine & { phase: string; unit?: string } {
  return (line.type === 'unit' || line.type === 'phase') && line.status === 'done';
}

/** Ends a run at a random moment: some time after it was started, or after some work has begun or ended. */
async function interrupted({ rig, log, random }: Trial, signal: NodeJS.Signals): Promise<'ended' | 'done'> {
  const before = linesOf(log).length;
  const live = startCli(['run', './flow.json'], { cwd: rig.root });
  if (random.chance(0.3)) await pause(random.below(300));
  else {
    const wanted = before + 1 + random.below(14);
    let ended = false;
    void live.done.then(() => {
      ended = true;
    });
    while (linesOf(log).length < wanted && !ended) await pause(2);
    await pause(random.below(15));
  }
  live.kill(signal);
  const { status, signal: by } = await live.done;
  // It may have been faster than we were. Before it listens, a signal simply ends it; 4: a side effect is in doubt.
  expect(by === null ? [0, 4, 130] : [signal]).toContain(by ?? status);
  if (by === 'SIGKILL' && random.chance(0.4)) tear(rig, random);
  return hasSucceeded(rig) ? 'done' : 'ended';
}

/**
 * The newest run got to its end before the signal came: it is not continued by itself. Its whole end may have half a
 * line after it, put there by `tear`; that is still an end, so the last line alone does not tell.
 */
function hasSucceeded(rig: Rig): boolean {
  const journal = newestJournal(rig);
  return (
    journal !== undefined && linesOf(journal).some((line) => /^\{"type":"end".*"status":"success".*\}$/.test(line))
  );
}

/** What a crash of the machine may leave of the last line. Lines about side effects are on the disk before that. */
function tear(rig: Rig, random: Random): void {
  const path = newestJournal(rig);
  // A run that was killed before its first line has a folder and no journal.
  if (path === undefined || !existsSync(path)) return;
  const isSafe = linesOf(path).at(-1)?.includes('"idempotent":false') === true;
  if (isSafe || random.chance(0.5))
    appendFileSync(path, '{"type":"phase","at":12345,"phase":"p0","status":"done","out');
  else truncateSync(path, Math.max(0, statSync(path).size - 1 - random.below(30)));
}

/** Runs to the end; where a side effect is in doubt, does what a person would do who looks. */
async function finished({ rig, log }: Trial, args: string[]): Promise<RunResult> {
  const { stdout, stderr } = await startCli(['run', './flow.json', '--json', ...args], { cwd: rig.root }).done;
  if (stdout === '') throw new Error(stderr);
  const result = JSON.parse(stdout) as RunResult;
  if (result.error?.code !== 'in-doubt') return result;
  const { phase } = result.error;
  const happened = (counted(log, 'end').get(phase) ?? 0) > 0;
  expect(result.error.hint).toContain(`--rerun ${phase}`);
  return finished({ rig, log, random: randomFrom(0) }, happened ? ['--skip', phase] : ['--rerun', phase]);
}

async function uninterrupted(flow: object): Promise<string> {
  const rig = createRig();
  try {
    installWork(rig);
    return (await rig.run(flow)).output;
  } finally {
    rig.remove();
  }
}

describe('killed at a random moment and continued', () => {
  it.concurrent.each(SEEDS)('seed %i: nothing is lost, nothing is repeated, the result is the same', async (seed) => {
    const random = randomFrom(seed);
    const rig = createRig();
    try {
      const { log } = installWork(rig);
      const flow = drawFlow(random);
      rig.write('flow.json', JSON.stringify(flow));
      const trial = { rig, log, random };
      const signal = SIGNALS[seed % SIGNALS.length]!;
      const kills = 1 + random.below(2);
      const effect = (flow as { phases: { id: string; idempotent?: boolean }[] }).phases.find(
        (phase) => phase.idempotent === false,
      )!.id;
      let state: 'ended' | 'done' = 'ended';
      for (let kill = 0; kill < kills && state === 'ended'; kill++) {
        const done = completed(rig);
        const begun = counted(log, 'begin');
        state = await interrupted(trial, signal);
        for (const name of done) expect([name, counted(log, 'begin').get(name)]).toEqual([name, begun.get(name)]);
      }
      const done = completed(rig);
      const begun = counted(log, 'begin');
      const result = await finished(trial, state === 'done' ? ['--iterate'] : []);
      expect(result.error).toBeUndefined();
      expect(result.status).toBe('success');
      // Completed work was not done again, not even begun.
      for (const name of done) expect([name, counted(log, 'begin').get(name)]).toEqual([name, begun.get(name)]);
      // Nothing was served that had not come to its end.
      const ends = counted(log, 'end');
      for (const name of completed(rig)) {
        if (/^(p\d+|last)$/.test(name) && !counted(log, 'begin').has(name)) continue; // A map, a parallel or a loop.
        expect([name, (ends.get(name) ?? 0) > 0]).toEqual([name, true]);
      }
      // The side effect has taken place once.
      expect(ends.get(effect)).toBe(1);
      expect(livingIn(rig.root)).toEqual([]);
      expect(result.output).toBe(await uninterrupted(flow));
    } finally {
      rig.remove();
    }
  });
});
