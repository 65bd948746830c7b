import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkFlow } from '../../src/index.js';
import { decideApproval } from '../../src/run/history/decide-approval.js';
import { createRig, phaseOf, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const LIMIT_MS = 1500;
const flow = (more: object, before: object = ticking('a')) => ({
  name: 'ask',
  phases: [
    before,
    { id: 'ask', type: 'approval', task: 'Ship {steps.a.output}?', ...more },
    ticking('b', { dependsOn: ['ask'] }),
  ],
});
const pastLimit = () => pause(LIMIT_MS + 100);
const approve = (runId: string) => decideApproval(rig.project, { runId, phase: 'ask', decision: 'approve' });

describe('an approval that nobody decides in time', () => {
  it.each([
    ['approve', 'success', { a: 1, b: 1 }],
    ['reject', 'blocked', { a: 1 }],
    ['fail', 'failed', { a: 1 }],
  ])('with onExpire: %s makes the run that goes on later %s', async (onExpire, status, counts) => {
    const asking = flow({ timeoutMs: LIMIT_MS, onExpire });
    const first = await rig.run(asking);
    expect(first.status).toBe('paused');
    await pastLimit();
    const second = await rig.run(asking, { continuation: { how: 'resume', runId: first.runId } });
    expect(second.status).toBe(status);
    expect(JSON.stringify(phaseOf(second, 'ask'))).toContain('nobody decided within 1.5s');
    expect(rig.counts()).toEqual(counts);
  });

  it('keeps its deadline through runs that only find it waiting, or that stop before it', async () => {
    const before = { id: 'a', type: 'script', run: 'bin/tick a hello; test ! -e ../broken', cache: false };
    const asking = flow({ timeout: LIMIT_MS, onExpire: 'reject' }, before);
    await rig.run(asking);
    const again = await rig.run(asking);
    expect(again.status).toBe('paused');
    rig.write('../broken', '');
    expect((await rig.run(asking)).status).toBe('failed');
    await pastLimit();
    await rig.run({ name: 'x', phases: [{ id: 'x', type: 'script', run: 'rm ../broken' }] }, { file: 'other.json' });
    const last = await rig.run(asking);
    expect(last).toMatchObject({ status: 'blocked', error: { code: 'rejected' } });
  });

  it('cannot be approved any more, and the refusal says what to do', async () => {
    const { runId } = await rig.run(flow({ timeout: LIMIT_MS, onExpire: 'reject' }));
    await pastLimit();
    expect(approve(runId)).toMatchObject({
      failure: {
        message: 'the time to decide about ask is over (onExpire: reject)',
        hint: `Go on with it: taskflow resume ${runId}`,
      },
    });
  });

  it('was approved in time though the run went on later', async () => {
    const asking = flow({ timeout: LIMIT_MS, onExpire: 'reject' });
    const { runId } = await rig.run(asking);
    expect(approve(runId)).toMatchObject({ repeated: false });
    await pastLimit();
    expect((await rig.run(asking)).status).toBe('success');
  });

  it('without onExpire leaves the run paused, and can be approved at any time', async () => {
    const asking = flow({ timeout: '20ms' });
    const waits = async () => {
      await pause(50);
      return { decision: 'pause' as const };
    };
    const { runId, status } = await rig.run(asking, { approve: waits });
    expect(status).toBe('paused');
    expect(approve(runId)).toMatchObject({ repeated: false });
    expect((await rig.run(asking)).status).toBe('success');
  });

  it('is decided on the spot where somebody was asked and did not answer', async () => {
    const asked: number[] = [];
    const silent = async ({ timeoutMs }: { timeoutMs?: number }) => {
      asked.push(timeoutMs ?? 0);
      await pause(timeoutMs);
      return { decision: 'pause' as const };
    };
    const result = await rig.run(flow({ timeout: '50ms', onExpire: 'approve' }), { approve: silent });
    expect(result.status).toBe('success');
    expect(asked).toHaveLength(1);
    expect(asked[0]).toBeGreaterThan(0);
    expect(asked[0]).toBeLessThanOrEqual(50);
  });

  it('is not bounded by the time that other phases have', async () => {
    const { phases } = flow({ onExpire: 'fail' });
    rig.write('flow.json', JSON.stringify({ name: 'ask', defaults: { timeout: '20ms' }, phases }));
    const { diagnostics } = await checkFlow(rig.project, './flow.json');
    expect(diagnostics.map(({ message }) => message)).toEqual(['"onExpire" means nothing without "timeout"']);
  });
});
