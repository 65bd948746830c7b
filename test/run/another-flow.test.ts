import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exportCheckpoint } from '../../src/run/continue/checkpoint.js';
import { runCli } from '../support/cli.js';
import { createRig, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

/** Its second phase fails until there is a file `ok` beside the project. */
const one = {
  name: 'one',
  phases: [ticking('a'), { id: 'b', type: 'script', run: 'bin/tick b; test -e ../ok', dependsOn: ['a'] }],
};
const two = { name: 'two', phases: [ticking('x')] };

async function failed(flow: object = one, file = 'one.json'): Promise<string> {
  const result = await rig.run(flow, { file });
  expect(result.status).toBe('failed');
  rig.forget();
  rig.write('../ok', '');
  return result.runId;
}

function exported(runId: string): string {
  const checkpoint = exportCheckpoint(rig.project, runId);
  if ('failure' in checkpoint) throw new Error(checkpoint.failure.message);
  const file = join(rig.root, '../checkpoint.json');
  writeFileSync(file, JSON.stringify(checkpoint.checkpoint));
  return file;
}

describe('a run of another flow', () => {
  it('is refused before anything is claimed, and still there for its own flow', async () => {
    rig.write('two.json', JSON.stringify(two));
    const runId = await failed();
    for (const more of [[], ['--dry-run']]) {
      const refused = await runCli(['run', './two.json', '--resume', runId, ...more], {
        cwd: rig.root,
        env: { HOME: join(rig.root, '../home') },
      });
      expect(refused.status).toBe(2);
      expect(refused.stderr).toContain('that is a run of flow one (one.json)');
    }
    expect(rig.counts()).toEqual({});
    const own = await rig.run(one, { file: 'one.json' });
    expect(own).toMatchObject({ status: 'success', continues: runId });
    expect(rig.counts()).toEqual({ b: 1 });
  });

  it('is refused as a checkpoint too, exported or as a saved result', async () => {
    const runId = await failed();
    rig.write('two.json', JSON.stringify(two));
    const saved = join(rig.root, '../result.json');
    writeFileSync(saved, JSON.stringify({ flow: 'one', checkpoint: { runId, keys: {} } }));
    for (const file of [exported(runId), saved]) {
      const refused = await runCli(['run', './two.json', '--resume-from', file], { cwd: rig.root });
      expect(refused.status).toBe(2);
      expect(refused.stderr).toContain('that is a run of flow one');
    }
    expect(rig.counts()).toEqual({});
  });

  it('a batch is not taken for a run of its flow', async () => {
    rig.write('one.json', JSON.stringify({ ...one, args: { topic: {} } }));
    rig.write('rows.txt', 'r1\n');
    const batch = await runCli(['batch', './one.json', '--over', 'rows.txt', '--json'], { cwd: rig.root });
    const { runId } = JSON.parse(batch.stdout) as { runId: string };
    const refused = await runCli(['run', './one.json', 'topic=r1', '--resume', runId], { cwd: rig.root });
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('is a batch');
  });
});

describe('the same flow', () => {
  it('is one whose file was edited or whose name was changed', async () => {
    const runId = await failed();
    const renamed = { ...one, name: 'uno' };
    const second = await rig.run(renamed, { file: 'one.json', continuation: { how: 'resume', runId } });
    expect(second).toMatchObject({ status: 'success', continues: runId });
  });

  it('is one whose file was moved, if it has kept its name', async () => {
    const runId = await failed();
    renameSync(join(rig.root, 'one.json'), join(rig.root, 'moved.json'));
    const second = await rig.run(undefined, { file: 'moved.json', continuation: { how: 'resume', runId } });
    expect(second.continues).toBe(runId);
    expect(rig.counts()).toEqual({ b: 1 });
  });

  it('is, for a checkpoint, one of the same name or the same relative file', async () => {
    const file = exported(await failed());
    await rig.run(one, { file: 'flows/other.json', continuation: { how: 'checkpoint', file } });
    expect(rig.counts()).toEqual({ b: 1 });
    const renamed = { ...one, name: 'uno' };
    const third = await rig.run(renamed, { file: 'one.json', continuation: { how: 'checkpoint', file } });
    expect(third.status).toBe('success');
  });
});
