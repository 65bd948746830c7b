import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkFlow } from '../../src/index.js';
import { createRig, phaseOf, type Rig, type RigOptions } from '../support/rig.js';

/**
 * Flows of the shapes that pi-taskflow's examples and documentation have, written for this suite: what they use must
 * check here without an error and come to what is promised there.
 */
const folder = fileURLToPath(new URL('./flows/', import.meta.url));
const files = readdirSync(folder);

let rig: Rig;
beforeEach(() => {
  rig = createRig();
  const models = 'models: { fast: small-1, strong: big-1 }\n';
  rig.write('.pi/taskflows/config.yaml', `${rig.read('.pi/taskflows/config.yaml')}${models}`);
  const topic = { task: 'NAME: helper\nSAY: kept {args.topic}' };
  rig.write('.pi/taskflows/helper.json', JSON.stringify({ name: 'helper', args: { topic: {} }, ...topic }));
  rig.write('notes.md', 'some notes');
  for (const file of files) rig.write(file, readFileSync(folder + file, 'utf8'));
});
afterEach(() => rig.remove());

const run = (file: string, options: RigOptions = {}) => rig.run(undefined, { file, ...options });

it.each(files)('%s checks without an error', async (file) => {
  const { ok, diagnostics } = await checkFlow(rig.project, `./${file}`);
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(ok).toBe(true);
});

describe('what these flows come to', () => {
  it.each([
    [
      'audit-and-report.json',
      'echo: NAME: report\nSum up: a.ts is fine\n\nb.ts is fine',
      { discover: 1, audit: 2, report: 1 },
    ],
    ['plan-and-grow.json', 'green leaf and green leaf', { plan: 1, leaf: 2, sum: 1 }],
    ['refine-until-good.json', 'took 3 rounds', { refine: 3, say: 1 }],
    ['best-of-three.json', 'chose a bold title', { plain: 1, bold: 1, judge: 1, use: 1 }],
    ['first-answer-wins.json', 'here it is', { works: 1, left: 1, right: 1, end: 1 }],
    ['short-task.json', 'just this', { one: 1 }],
    ['short-tasks.json', '## branch-1\nfirst\n\n## branch-2\nsecond', { a: 1, b: 1 }],
    ['short-chain.json', 'better draft', { a: 1, b: 1 }],
    ['scored-answer.json', 'published with pass', { answer: 1, judge: 1, publish: 1 }],
    ['cached-review.json', 'kept reviewed fact one', { facts: 1, review: 1, helper: 1 }],
  ])('%s', async (file, output, counts) => {
    const result = await run(file);
    expect(result.error).toBeUndefined();
    expect(result).toMatchObject({ status: 'success', output });
    // Who loses a race may not have begun.
    const { broken: _broken, ...counted } = rig.counts();
    expect(counted).toEqual(counts);
  });

  it.each([
    ['small', 'quick answer', 'deep'],
    ['large', 'deep answer', 'quick'],
  ])('route-by-size.json takes the way for %s', async (size, output, skipped) => {
    const result = await run('route-by-size.json', { args: { size } });
    expect(result.output).toBe(output);
    expect(phaseOf(result, skipped).status).toBe('skipped');
    expect(rig.counts()[skipped]).toBeUndefined();
  });

  it('gated-change.json sends back what the gate blocks, once, and stops', async () => {
    const blocked = await run('gated-change.json');
    expect(blocked.status).toBe('blocked');
    expect(rig.counts()).toEqual({ change: 1, test: 2 });
    rig.write('../green', '');
    expect(await run('gated-change.json')).toMatchObject({ status: 'success', output: 'shipped' });
  });

  it('scored-answer.json is vetoed by its judge', async () => {
    const result = await run('scored-answer.json', { args: { verdict: 'block' } });
    expect(result.status).toBe('blocked');
    expect(rig.counts()).toEqual({ answer: 1, judge: 1 });
  });

  it('approved-release.json waits, and releases once', async () => {
    const first = await run('approved-release.json');
    expect(first.status).toBe('paused');
    const approve = async () => ({ decision: 'approve' as const, note: 'go' });
    expect(await run('approved-release.json', { approve })).toMatchObject({
      status: 'success',
      output: 'released: go',
    });
    expect(rig.counts()).toEqual({ notes: 1, release: 1 });
  });

  it('roles-and-limits.yaml asks the models that the settings name, and gives what there is', async () => {
    const result = await run('roles-and-limits.yaml');
    expect(result).toMatchObject({ status: 'success', output: 'x\n\ny' });
    expect([phaseOf(result, 'list').model, phaseOf(result, 'each').model]).toEqual(['small-1', 'big-1']);
    expect(phaseOf(result, 'each').remark).toBe('over: took the list "files" of the object');
    expect(result.warnings).toEqual(['extra was skipped, so the result is the output of each']);
    expect(rig.counts()).toEqual({ list: 1, each: 2 });
  });
});
