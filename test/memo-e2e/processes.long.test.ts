import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clearEntries } from '../../src/store/clear-entries.js';
import { verifyStore } from '../../src/store/verify-store.js';
import { CLI } from '../support/cli.js';
import { CACHE, createMemoRig, cross, flow, kept, type MemoRig, writeConfig } from './support.js';

let rig: MemoRig;
const children: ChildProcess[] = [];
beforeEach(() => {
  rig = createMemoRig();
});
afterEach(() => {
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill('SIGKILL');
  rig.remove();
});

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The real command line in a process of its own; `wrap` is a shell line in which `"$@"` is that process. */
function start(args: readonly string[], wrap?: string): { child: ChildProcess; ended: Promise<Ended> } {
  const command = [process.execPath, CLI, ...args];
  const argv = wrap === undefined ? command : ['sh', '-c', wrap, 'sh', ...command];
  const child = spawn(argv[0]!, argv.slice(1), { cwd: rig.root, env: rig.project.env as NodeJS.ProcessEnv });
  children.push(child);
  let stdout = '';
  let stderr = '';
  child.stdout!.on('data', (chunk: Buffer) => {
    stdout += chunk;
  });
  child.stderr!.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  const ended = new Promise<Ended>((resolve) => child.on('close', (status) => resolve({ status, stdout, stderr })));
  return { child, ended };
}

const run = (...more: string[]) => start(['run', './flow.json', '--json', ...more]);
const until = async (condition: () => boolean) => {
  for (let i = 0; i < 1_000 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(condition()).toBe(true);
};
const write = (phases: object[]) => rig.write('flow.json', JSON.stringify(flow(phases)));
const outputOf = (ended: Ended) => (JSON.parse(ended.stdout) as { output: string }).output;
/** Slow as long as there is no file `fast`, which is no input of it. */
const slow = (id = 'a') => ({
  id,
  type: 'script',
  run: `bin/note ${id}; i=0; while ! test -e fast && test $i -lt 600; do sleep 0.05; i=$((i+1)); done; echo made`,
  cache: cross([], { observe: { exclude: ['fast'] } }),
});
const claims = () => readdirSync(join(rig.root, CACHE)).filter((name) => name.endsWith('.claim'));

describe('one key, many who want it', () => {
  it('eight processes execute once, and all have the result', async () => {
    write([slow()]);
    const all = Array.from({ length: 8 }, () => run());
    await until(() => rig.counts()['a'] === 1);
    setTimeout(() => rig.write('fast', ''), 300);
    const ends = await Promise.all(all.map(({ ended }) => ended));
    expect(ends.map(({ status }) => status)).toEqual(Array(8).fill(0));
    expect(ends.map(outputOf)).toEqual(Array(8).fill('made'));
    expect(rig.counts()).toEqual({ a: 1 });
    expect(claims()).toEqual([]);
  });

  it('fifty callers in one process execute once', async () => {
    rig.write('fast', '');
    const flowOf = flow([slow()]);
    rig.write('flow.json', JSON.stringify(flowOf));
    const results = await Promise.all(Array.from({ length: 50 }, () => rig.runAs({})));
    expect(new Set(results.map(({ output }) => output))).toEqual(new Set(['made']));
    expect(rig.counts()).toEqual({ a: 1 });
  });

  it('fifty equal items of rows in one run execute once each', async () => {
    rig.write('fast', '');
    rig.write('.pi/taskflows/sub.json', JSON.stringify({ name: 'sub', phases: [slow()] }));
    await rig.run(flow([{ id: 'm', type: 'map', over: Array.from({ length: 50 }, (_, i) => i), use: 'sub' }]));
    expect(rig.counts()).toEqual({ a: 1 });
  });

  it('a holder that is killed is replaced, and the one who waited executes', async () => {
    write([slow()]);
    const first = run();
    await until(() => rig.counts()['a'] === 1);
    const second = run('--fresh');
    await until(() => claims().length === 1);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(rig.counts()).toEqual({ a: 1 });
    rig.write('fast', '');
    first.child.kill('SIGKILL');
    expect(outputOf(await second.ended)).toBe('made');
    expect(rig.counts()).toEqual({ a: 2 });
    expect(await rig.executed()).toEqual({});
  });

  it('a holder that lives keeps its claim, however old the claim looks and however slow it is', async () => {
    write([slow()]);
    const first = run();
    await until(() => rig.counts()['a'] === 1);
    const long = new Date(Date.now() - 7 * 86_400_000);
    for (const name of claims()) utimesSync(join(rig.root, CACHE, name), long, long);
    first.child.kill('SIGSTOP');
    const second = run();
    await new Promise((resolve) => setTimeout(resolve, 800));
    expect(rig.counts()).toEqual({ a: 1 });
    first.child.kill('SIGCONT');
    rig.write('fast', '');
    expect(outputOf(await second.ended)).toBe('made');
    expect((await first.ended).status).toBe(0);
    expect(rig.counts()).toEqual({ a: 1 });
  });

  it('whoever waits holds no slot: other work goes on', async () => {
    write([slow()]);
    run();
    await until(() => rig.counts()['a'] === 1);
    write([slow(), { id: 'b', type: 'script', run: ['bin/tick', 'b'] }]);
    const second = run('--concurrency', '1', '--fresh');
    await until(() => rig.counts()['b'] === 1);
    rig.write('fast', '');
    expect((await second.ended).status).toBe(0);
    expect(rig.counts()).toEqual({ a: 1, b: 1 });
  });

  it('a failure is not shared: the next one tries for itself', async () => {
    write([
      {
        id: 'a',
        type: 'script',
        run: 'bin/note a; sleep 0.3; mkdir once 2>/dev/null && exit 1; echo made',
        cache: cross(),
      },
    ]);
    const ends = await Promise.all([run(), run('--fresh')].map(({ ended }) => ended));
    expect(ends.map(({ status }) => status).sort()).toEqual([0, 1]);
    expect(rig.counts()).toEqual({ a: 2 });
  });

  it('--refresh and --no-cache do not wait for anybody', async () => {
    write([slow()]);
    run();
    await until(() => rig.counts()['a'] === 1);
    const others = [run('--refresh'), run('--no-cache')];
    await until(() => rig.counts()['a'] === 3);
    rig.write('fast', '');
    for (const { ended } of others) expect(outputOf(await ended)).toBe('made');
  });
});

describe('while a phase computes', () => {
  const options = () => ({
    dir: join(rig.root, CACHE),
    project: rig.project,
    limits: { maxBytes: 1e9, maxEntries: 1e6, maxAgeMs: 1e12 },
  });

  it('`cache clear` takes what is there, and the result is stored all the same', async () => {
    await rig.executed(flow([kept('old')]));
    write([slow()]);
    const first = run();
    await until(() => rig.counts()['a'] === 1);
    expect(await clearEntries(options(), { all: true })).toMatchObject({ entries: 1 });
    rig.write('fast', '');
    expect(outputOf(await first.ended)).toBe('made');
    expect(await rig.executed()).toEqual({});
  });

  it('kill -9 at many moments: nothing unfinished is served, what was finished is not done again', async () => {
    const step = (id: string, before?: string) => ({
      id,
      type: 'script',
      // Half of the output is written, then the rest: whoever is killed in between has said nothing.
      run: `bin/note ${id}; printf 'half '; sleep 0.06; echo "whole ${id}"; mkdir -p out; echo ${id} > out/${id}.txt`,
      outputs: [`out/${id}.txt`],
      ...(before === undefined ? {} : { dependsOn: [before] }),
      cache: cross(),
    });
    const ids = ['a', 'b', 'c', 'd', 'e'];
    write(ids.map((id, index) => step(id, ids[index - 1])));
    let kills = 0;
    for (let round = 0; round < 12; round++) {
      const { child, ended } = run();
      const timer = setTimeout(() => child.kill('SIGKILL'), 120 + round * 45);
      const { status, stdout } = await ended;
      clearTimeout(timer);
      if (status === 0) {
        expect(outputOf({ status, stdout, stderr: '' })).toBe('half whole e');
        break;
      }
      kills += 1;
    }
    const result = await rig.run();
    expect(result.status).toBe('success');
    expect(result.phases.map((phase) => phase.output)).toEqual(ids.map((id) => `half whole ${id}`));
    for (const id of ids) expect(readFileSync(join(rig.root, `out/${id}.txt`), 'utf8')).toBe(`${id}\n`);
    // Each kill can cost the one phase that was under way, and no more.
    expect(rig.executions().length).toBeLessThanOrEqual(ids.length + kills);
    const verified = await verifyStore(options());
    expect('busy' in verified ? verified : verified.flatMap((step) => step.problems)).toEqual([]);
  }, 60_000);
});

describe('a store that cannot be written', () => {
  const canUnshare = spawnSync('unshare', ['-Urm', 'true']).status === 0;
  const cache = '.pi/taskflows/cache';

  it.skipIf(!canUnshare)('a read-only folder: one warning, hits are served, the rest runs', async () => {
    await rig.executed(flow([kept('a')]));
    write([kept('a'), kept('b'), kept('c')]);
    rig.forget();
    const lock = `mount --bind ${cache} ${cache} && mount -o remount,ro,bind ${cache} && exec "$@"`;
    const { status, stdout, stderr } = await start(
      ['run', './flow.json', '--json'],
      `exec unshare -Urm sh -c '${lock}' sh "$@"`,
    ).ended;
    expect(status).toBe(0);
    expect(rig.counts()).toEqual({ b: 1, c: 1 });
    expect(stderr.match(/cannot write to the cache/g)).toHaveLength(1);
    expect((JSON.parse(stdout) as { reuse: object }).reuse).toEqual({ executed: 2, run: 0, crossRun: 1 });
  });

  it.skipIf(!canUnshare)(
    'a full disk in the middle of a put: one warning, the run goes on, nothing torn is served',
    async () => {
      const big = (id: string) => ({
        id,
        type: 'script',
        run: `bin/note ${id}; head -c 200000 /dev/zero | tr '\\0' ${id}`,
        cache: cross(),
      });
      write([kept('small'), ...['a', 'b', 'c'].map(big)]);
      rig.write(`${cache}/.keep`, '');
      const small = `mount -t tmpfs -o size=128k tmpfs ${cache} && "$@"; s=$?; ls ${cache} >&2; exit $s`;
      const { status, stdout, stderr } = await start(
        ['run', './flow.json', '--json'],
        `exec unshare -Urm sh -c '${small}' sh "$@"`,
      ).ended;
      expect(status).toBe(0);
      const result = JSON.parse(stdout) as { phases: { id: string; output: string }[] };
      expect(result.phases.map(({ output }) => output.length)).toEqual([10, 200_000, 200_000, 200_000]);
      expect(rig.counts()).toEqual({ small: 1, a: 1, b: 1, c: 1 });
      expect(stderr.match(/the disk is full/g)).toHaveLength(1);
      expect(stderr).not.toMatch(/\.claim|\.tmp/);
    },
  );

  it('too many open files does not lose good entries', async () => {
    write([kept('a'), kept('b')]);
    expect(JSON.parse((await run().ended).stdout)).toMatchObject({ reuse: { executed: 2 } });
    // Enough for node itself, at times too little for the store.
    for (const limit of [24, 22, 20]) {
      await start(['run', './flow.json', '--json'], `ulimit -n ${limit}; exec "$@"`).ended;
    }
    rig.forget();
    expect((JSON.parse((await run().ended).stdout) as { reuse: object }).reuse).toMatchObject({
      executed: 0,
      crossRun: 2,
    });
    expect(existsSync(join(rig.root, CACHE, 'damaged'))).toBe(false);
  });

  it('a folder for the cache that is configured elsewhere works the same', async () => {
    writeConfig(rig, 'cache: { dir: build/kept }\n');
    await rig.executed(flow([kept('a')]));
    expect(await rig.executed()).toEqual({});
    expect(existsSync(join(rig.root, 'build/kept'))).toBe(true);
    expect(rig.entries()).toEqual([]);
  });
});
