import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApprovalAnswer } from '../../src/run/core/options.js';
import { decideApproval } from '../../src/run/history/decide-approval.js';
import { createRig, phaseOf, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const flow = (phases: object[], more: object = {}) => ({ name: 'ask', ...more, phases });
const shaky = (id: string, more: object = {}) => ({
  id,
  type: 'script',
  run: `bin/tick ${id}; test -e ../ok`,
  ...more,
});
const approval = (task: string, more: object = {}) => ({ id: 'ask', type: 'approval', task, ...more });
const decide = (runId: string, decision: 'approve' | 'reject', note?: string, phase = 'ask') =>
  decideApproval(rig.project, { runId, phase, decision, note });
/** Somebody at a terminal; counts how often they are asked. */
const person = (...answers: ApprovalAnswer[]) => {
  const asked: string[] = [];
  return {
    asked,
    approve: async ({ text }: { readonly text: string }) => {
      asked.push(text);
      return answers[Math.min(asked.length, answers.length) - 1]!;
    },
  };
};
const YES: ApprovalAnswer = { decision: 'approve' };

describe('without anybody to ask', () => {
  const phases = [ticking('a'), approval('Ship {steps.a.output}?'), ticking('b', {}, 'after: {steps.ask.output}')];

  it('the run pauses and says what to type; the decision is used by the next run', async () => {
    const first = await rig.run(flow(phases));
    expect(first.status).toBe('paused');
    expect(first.error?.hint).toContain(`taskflow approve ${first.runId} ask`);
    expect(rig.counts()).toEqual({ a: 1 });
    expect(decide(first.runId, 'approve', 'with care')).toMatchObject({ asked: { text: 'Ship said a?' } });
    const second = await rig.run(flow(phases));
    expect(second).toMatchObject({ status: 'success', output: 'after: with care' });
    expect(rig.counts()).toEqual({ a: 1, b: 1 });
  });

  it('what does not depend on the answer goes on meanwhile', async () => {
    const result = await rig.run(flow([...phases, ticking('c')]));
    expect(result.status).toBe('paused');
    expect(rig.counts()).toEqual({ a: 1, c: 1 });
  });

  it('a rejection blocks the run, and the run after that asks again', async () => {
    const first = await rig.run(flow(phases));
    decide(first.runId, 'reject', 'not today');
    const second = await rig.run(flow(phases));
    expect(second).toMatchObject({ status: 'blocked', error: { message: 'rejected: not today' } });
    const third = await rig.run(flow(phases));
    expect(third.status).toBe('paused');
    expect(rig.counts()).toEqual({ a: 1 });
  });

  it('a decision is bound to the text that was shown: another text is asked about again', async () => {
    const first = await rig.run(flow(phases));
    decide(first.runId, 'approve');
    const edited = [ticking('a', {}, 'something else'), ...phases.slice(1)];
    const second = await rig.run(flow(edited));
    expect(second.status).toBe('paused');
    expect(rig.counts()).toEqual({ a: 2 });
    // The first text comes back: what was decided about it and never used still holds.
    expect((await rig.run(flow(phases))).status).toBe('success');
  });

  it('nothing is decided that does not wait, twice, or after it went on', async () => {
    const first = await rig.run(flow(phases));
    expect(decide(first.runId, 'approve', undefined, 'a')).toMatchObject({ failure: { code: 'bad-input' } });
    expect(decide('20200101-000000-abcdef', 'approve')).toHaveProperty('failure');
    expect(decide('../../etc', 'approve')).toHaveProperty('failure');
    decide(first.runId, 'approve');
    await rig.run(flow(phases));
    expect(decide(first.runId, 'reject')).toMatchObject({ failure: { message: expect.stringContaining('gone on') } });
  });

  it('a decision is not lost behind a line that a crash has cut short', async () => {
    const first = await rig.run(flow(phases));
    const journal = `.pi/taskflows/runs/${first.runId}/journal.jsonl`;
    rig.write(journal, `${rig.read(journal)}{"type":"phase","at":17`);
    expect(decide(first.runId, 'approve')).toHaveProperty('asked');
    expect((await rig.run(flow(phases))).status).toBe('success');
  });

  it('the time to decide runs out', async () => {
    const limited = [
      phases[0]!,
      approval('Ship?', { dependsOn: ['a'], timeout: '300ms', onExpire: 'fail' }),
      phases[2]!,
    ];
    const first = await rig.run(flow(limited));
    expect(first.status).toBe('paused');
    await new Promise((resolve) => setTimeout(resolve, 320));
    expect(decide(first.runId, 'approve')).toMatchObject({ failure: { message: expect.stringContaining('is over') } });
  });

  it('inside of a map each item asks for itself', async () => {
    rig.write(
      '.pi/taskflows/one.json',
      JSON.stringify({
        name: 'one',
        args: { who: {} },
        phases: [approval('Send to {args.who}?'), ticking('send', { dependsOn: ['ask'] }, 'sent')],
      }),
    );
    const mapped = flow([{ id: 'm', type: 'map', over: ['x', 'y'], use: 'one', with: { who: '{item}' } }]);
    const first = await rig.run(mapped);
    expect(first.status).toBe('paused');
    expect(decide(first.runId, 'approve')).toMatchObject({ failure: { hint: expect.stringContaining('m[') } });
    const { waitingApprovals } = await import('../../src/run/history/decide-approval.js');
    for (const { phase } of waitingApprovals(rig.project, first.runId)) decide(first.runId, 'approve', '', phase);
    expect((await rig.run(mapped)).status).toBe('success');
    expect(rig.counts()).toEqual({ send: 2 });
  });
});

describe('a decision serves one run', () => {
  const phases = [
    ticking('a'),
    approval('Ship {steps.a.output}?'),
    ticking('b', { dependsOn: ['ask'] }),
    shaky('c', { dependsOn: ['b'] }),
  ];

  it('a run that continues by itself asks again once work was released; a resumed one does not', async () => {
    const one = person(YES);
    const first = await rig.run(flow(phases), one);
    expect(first.status).toBe('failed');
    const two = person(YES);
    await rig.run(flow(phases), two);
    expect(two.asked).toEqual(['Ship said a?']);
    const three = person(YES);
    await rig.run(flow(phases), { ...three, continuation: { how: 'resume', runId: first.runId } });
    expect(three.asked).toEqual([]);
    expect(rig.counts()).toEqual({ a: 1, b: 1, c: 3 });
  });

  it('one that was decided and released nothing yet is used', async () => {
    const early = [
      ticking('a'),
      approval('Ship {steps.a.output}?'),
      // Fails while the person thinks, so that nothing behind the approval begins.
      { id: 'bad', type: 'script', run: 'until test -e ../asked; do sleep 0.02; done; bin/tick bad; test -e ../ok' },
      ticking('b', { dependsOn: ['ask'] }),
    ];
    const slowly = person(YES);
    const first = await rig.run(flow(early), {
      approve: async (request) => {
        rig.write('../asked', '');
        while (!rig.executions().includes('bad')) await new Promise((resolve) => setTimeout(resolve, 5));
        await new Promise((resolve) => setTimeout(resolve, 300));
        return slowly.approve(request);
      },
    });
    expect(first.status).toBe('failed');
    expect(slowly.asked).toHaveLength(1);
    expect(rig.counts()).toEqual({ a: 1, bad: 1 });
    rig.write('../ok', '');
    const again = person({ decision: 'reject' });
    const second = await rig.run(flow(early), again);
    expect(again.asked).toEqual([]);
    expect(second.status).toBe('success');
  });

  it('is not used a second time by the run after next, even if the one between did nothing', async () => {
    await rig.run(flow(phases), person(YES));
    // Nobody is there: it pauses at the approval and writes nothing about it but the question.
    const second = await rig.run(flow(phases));
    expect(second.status).toBe('paused');
    const third = await rig.run(flow(phases));
    expect(third.status).toBe('paused');
    expect(rig.counts()).toEqual({ a: 1, b: 1, c: 1 });
  });

  it('two approvals in a row: the first is not asked again only because the second was', async () => {
    const chain = [
      ticking('a'),
      approval('First?', { dependsOn: ['a'] }),
      { id: 'then', type: 'approval', task: 'Second?', dependsOn: ['ask'] },
      ticking('b', { dependsOn: ['then'] }),
    ];
    const first = await rig.run(flow(chain));
    decide(first.runId, 'approve');
    const second = await rig.run(flow(chain));
    expect(second).toMatchObject({ status: 'paused', error: { phase: 'then' } });
    decide(second.runId, 'approve', undefined, 'then');
    expect((await rig.run(flow(chain))).status).toBe('success');
  });
});

describe('somebody is asked', () => {
  it('a note is the output, a no blocks, and an answer to one does not answer the other', async () => {
    const phases = [approval('One?'), { id: 'two', type: 'approval', task: 'Two?', dependsOn: ['ask'] }];
    const result = await rig.run(
      flow(phases),
      person({ decision: 'approve', note: 'use blue' }, { decision: 'reject' }),
    );
    expect(result.status).toBe('blocked');
    expect(phaseOf(result, 'ask').output).toBe('use blue');
  });

  it('an interrupt while a person thinks ends the run', async () => {
    const stop = new AbortController();
    const result = rig.run(flow([approval('One?'), ticking('b', { dependsOn: ['ask'] })]), {
      signal: stop.signal,
      approve: ({ signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve({ decision: 'pause' }))),
    });
    setTimeout(() => stop.abort(), 50);
    expect((await result).status).toBe('interrupted');
    expect(rig.counts()).toEqual({});
  });
});
