import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/**
 * A process that is killed at its N-th operation on a file, before or after it. Everything it imports afterwards sees
 * the counting functions.
 */
const [task, root, count] = process.argv.slice(2) as [string, string, string];
const OPERATIONS = [
  ...['openSync', 'writeSync', 'renameSync', 'unlinkSync', 'linkSync', 'mkdirSync', 'utimesSync'],
  ...['writeFileSync', 'appendFileSync', 'fchmodSync', 'rmSync'],
] as const;

let left = Number.POSITIVE_INFINITY;
let done = 0;
const functions = fs as unknown as Record<string, (...args: unknown[]) => unknown>;
for (const name of OPERATIONS) {
  const original = functions[name]!;
  functions[name] = (...args) => {
    done += 1;
    if (left <= 0) process.kill(process.pid, 'SIGKILL');
    left -= 1;
    // A write that is cut by the crash has written a part.
    if (left === 0 && name === 'writeSync' && Buffer.isBuffer(args[1]))
      args[1] = args[1].subarray(0, args[1].length / 2);
    return original(...args);
  };
}
syncBuiltinESMExports();

const { openStore } = await import('../../src/store/disk-store.js');
const { collectGarbage } = await import('../../src/store/collect-garbage.js');
const { clearEntries } = await import('../../src/store/clear-entries.js');
const { importArchive } = await import('../../src/store/import-archive.js');
const { captureOutputs } = await import('../../src/memo/output-files.js');
const { KnownStats } = await import('../../src/memo/files/known-stats.js');
const { restoreOutputs } = await import('../../src/memo/restore-outputs.js');
const { systemClock } = await import('../../src/util/clock.js');
const { LIMITS, makeEntry } = await import('../contracts/store-support.js');

const project = { root, home: root, env: {}, clock: systemClock };
const options = { dir: `${root}/.pi/taskflows/cache`, project, limits: LIMITS };
const store = openStore(options);

const TASKS: Record<string, () => Promise<unknown>> = {
  put: async () => store.put(makeEntry('new')),
  claim: async () => {
    const turn = await store.claim(makeEntry('new').key, {});
    if ('claim' in turn) turn.claim.put(makeEntry('new'));
  },
  files: async () => {
    const captured = await captureOutputs(['out/**'], { project, store });
    if (!('files' in captured)) throw new Error(captured.failed);
    store.put(makeEntry('new', { files: captured.files }));
    fs.rmSync(`${root}/out`, { recursive: true });
    await restoreOutputs(captured.files, { project, store, stats: new KnownStats(project), outputs: ['out/**'] });
  },
  collect: () => collectGarbage(options, { limits: { ...LIMITS, maxEntries: 1 } }),
  clear: () => clearEntries(options, { flow: 'other' }),
  import: () => importArchive(options, `${root}/archive`),
};

done = 0;
left = count === 'count' ? Number.POSITIVE_INFINITY : Number(count);
await TASKS[task]!();
left = Number.POSITIVE_INFINITY;
process.stdout.write(String(done));
