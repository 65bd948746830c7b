import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLI, cliEnvironment } from '../support/cli.js';
import { ranCli } from '../support/effects.js';
import { whyNoContainers } from '../support/mounts.js';
import { createRig, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
let inside: ChildProcess | undefined;
const why = whyNoContainers();

beforeEach(() => {
  rig = createRig();
});
afterEach(() => {
  inside?.kill('SIGKILL');
  inside = undefined;
  rig.remove();
});

/** In a process table of its own, like in a container that has the project's folder. */
function startInside(...args: string[]): Promise<number | null> {
  const command = ['--pid', '--fork', '--kill-child', '--mount-proc', process.execPath, CLI, ...args];
  const env = cliEnvironment(rig.root) as NodeJS.ProcessEnv;
  const child = spawn('unshare', command, { cwd: rig.root, env, stdio: 'ignore' });
  inside = child;
  return new Promise((resolve) => child.on('close', resolve));
}

async function seen(name: string): Promise<void> {
  for (const end = Date.now() + 20_000; !rig.executions().includes(name); await pause(5)) {
    if (Date.now() > end) throw new Error(`never saw ${name}`);
  }
}

const runs = () => join(rig.root, '.pi/taskflows/runs');
const runIds = () => readdirSync(runs()).filter((name) => /^\d/.test(name));
/** Waits for `../ok`, unless there is `../second` when it begins. */
const waits =
  'test -e ../second; second=$?; bin/tick work; test $second = 0 || until test -e ../ok; do sleep 0.05; done';

describe('two containers on one folder', () => {
  it('do not continue each other’s live run, nor end its processes', async (context) => {
    if (why !== undefined) return context.skip(why);
    rig.write('flow.json', JSON.stringify({ name: 'two', phases: [{ id: 'work', type: 'script', run: waits }] }));
    const first = startInside('run', './flow.json');
    await seen('work');
    const [live] = runIds();
    rig.write('../second', '');
    const { status, result } = await ranCli(rig, ['run', './flow.json']);
    expect([status, result.continues]).toEqual([0, undefined]);
    expect(result.warnings).toEqual([expect.stringContaining(`run ${live} of this flow is under way`)]);
    rig.write('../ok', '');
    expect(await first).toBe(0);
  });

  it('nor do they fire a side effect that is under way in the other', async (context) => {
    if (why !== undefined) return context.skip(why);
    const work = { id: 'work', type: 'script', run: waits, idempotent: false };
    rig.write('flow.json', JSON.stringify({ name: 'two', phases: [work] }));
    const first = startInside('run', './flow.json');
    await seen('work');
    rig.write('../second', '');
    const { status, result } = await ranCli(rig, ['run', './flow.json']);
    expect([status, result.error?.code]).toEqual([4, 'in-doubt']);
    rig.write('../ok', '');
    expect(await first).toBe(0);
    expect(rig.counts()).toEqual({ work: 1 });
  });

  it('a run of a container that is gone is continued after a while without a sign of life', async (context) => {
    if (why !== undefined) return context.skip(why);
    const phases = [ticking('a'), { id: 'work', type: 'script', run: waits, dependsOn: ['a'] }];
    rig.write('flow.json', JSON.stringify({ name: 'two', phases }));
    const first = startInside('run', './flow.json');
    await seen('work');
    const [gone] = runIds();
    inside?.kill('SIGKILL');
    await first;
    const refused = await ranCli(rig, ['run', './flow.json', '--resume', gone!]);
    expect([refused.status, refused.result.error?.message]).toEqual([2, expect.stringContaining('is under way')]);
    const past = Date.now() / 1_000 - 120;
    utimesSync(join(runs(), gone!, 'journal.jsonl'), past, past);
    rig.write('../second', '');
    const { status, result } = await ranCli(rig, ['run', './flow.json', '--resume', gone!]);
    expect([status, result.continues]).toEqual([0, gone]);
  });
});
