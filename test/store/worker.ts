import { appendFileSync, openSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { collectGarbage } from '../../src/store/collect-garbage.js';
import { openStore } from '../../src/store/disk-store.js';
import type { StoreOptions } from '../../src/store/options.js';
import { systemClock } from '../../src/util/clock.js';
import { LIMITS, makeEntry } from '../contracts/store-support.js';
import { textOf } from '../support/output-text.js';

/** A process of its own that does one thing with a store. Bundled and started by `processes.ts`. */
const [task, root, ...rest] = process.argv.slice(2) as [string, string, ...string[]];
const options: StoreOptions = {
  dir: `${root}/.pi/taskflows/cache`,
  project: { root, home: root, env: {}, clock: systemClock },
  limits: LIMITS,
  onWarning: (message) => say(`warning ${message}`),
};
const store = openStore(options);

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** What a run does for one key: look up, claim, compute, store. Each computation leaves a line behind. */
async function compute(name: string, ms: number): Promise<void> {
  for (;;) {
    const got = store.get(makeEntry(name).key, { now: Date.now() });
    if ('entry' in got) return say(`hit ${textOf(got.entry.output)}`);
    const turn = await store.claim(makeEntry(name).key, { onWait: (holder) => say(`waiting for ${holder}`) });
    if ('ready' in turn) continue;
    appendFileSync(`${root}/executions`, `${name}\n`);
    say('computing');
    await pause(ms);
    if ('claim' in turn) turn.claim.put(makeEntry(name));
    return say('computed');
  }
}

const TASKS: Record<string, () => Promise<void> | void> = {
  compute: () => compute(rest[0]!, Number(rest[1])),
  /** Takes a claim and never lets go; the test kills this process. */
  hold: async () => {
    const turn = await store.claim(makeEntry(rest[0]!).key, {});
    say('claim' in turn ? 'holding' : 'no claim');
    await pause(60_000);
  },
  /** Many keys in a random order, with collections in between. */
  mixed: async () => {
    const seed = Number(rest[0]);
    for (let i = 0; i < 120; i++) {
      const name = `k${(i * 7 + seed * 13) % 40}`;
      const got = store.get(makeEntry(name).key, { now: Date.now() });
      if ('entry' in got && textOf(got.entry.output) !== `output of ${name}`) say(`wrong ${name}`);
      if ('miss' in got && got.miss.code !== 'absent') say(`bad ${got.miss.code} ${got.miss.reason}`);
      if ('miss' in got) {
        const put = store.put(makeEntry(name));
        if (!put.stored) say(`not stored: ${put.reason}`);
      }
      if (i % 30 === 29) await collectGarbage(options, { limits: { ...LIMITS, maxEntries: 20 } });
    }
    say('done');
  },
  /** With so few files to open that nothing can be read. */
  starved: () => {
    const name = rest[0]!;
    const files: number[] = [];
    try {
      for (;;) files.push(openSync('/dev/null', 'r'));
    } catch (error) {
      say(`full ${(error as NodeJS.ErrnoException).code}`);
    }
    const got = store.get(makeEntry(name).key, { now: Date.now() });
    say('miss' in got ? `miss ${got.miss.code}` : 'hit');
    say(JSON.stringify(store.put(makeEntry('other'))));
    say(JSON.stringify(store.put(makeEntry('another'))));
  },
  /** Started with a small limit for the size of files: every write beyond it fails half-way, like on a full disk. */
  full: async () => {
    const big = makeEntry('big', { output: { text: 'x'.repeat(100_000), json: null } });
    say(JSON.stringify(store.put(big)));
    const turn = await store.claim(big.key, {});
    say('claim' in turn ? JSON.stringify(turn.claim.put(big)) : JSON.stringify(turn));
    const next = await store.claim(makeEntry('small').key, {});
    say('claim' in next ? JSON.stringify(next.claim.put(makeEntry('small'))) : JSON.stringify(next));
  },
};

await TASKS[task]!();
