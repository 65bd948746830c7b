import { describe, expect, it } from 'vitest';
import { check, makeProject } from './support.js';

async function problems(text: string): Promise<readonly string[]> {
  const { flow, diagnostics } = await check(text);
  expect(flow).toBeUndefined();
  return diagnostics.map(({ line, column, code }) => `${line}:${column} ${code}`);
}
const inJson = (text: string) => check(JSON.parse(text)).then(({ diagnostics }) => diagnostics.map(({ code }) => code));

describe('one problem does not hide the others', () => {
  it('a name that is given twice: the last one counts', async () => {
    const text =
      'phases:\n  - id: a\n    task: "{steps.nope.output}"\n    task: "{steps.none.output}"\n    tiemout: 1\n';
    expect(await problems(text)).toEqual(['4:5 duplicate-key', '4:12 unknown-step', '5:5 unknown-field']);
  });

  it('in JSON as well', async () => {
    const { checkFlowText } = await import('../../src/check/check-flow.js');
    const { diskWorld } = await import('../../src/check/world.js');
    const text = '{"phases": [{"id": "a", "task": "{steps.x.output}", "task": "{steps.y.output}", "tiemout": 1}]}';
    const world = diskWorld({ root: '/nowhere', home: '/nowhere', env: {} });
    const { flow, diagnostics } = await checkFlowText({ file: 'a.json', text, world });
    expect(flow).toBeUndefined();
    expect(diagnostics.map(({ column, code }) => `${column} ${code}`)).toEqual([
      '53 duplicate-key',
      '62 unknown-step',
      '81 unknown-field',
    ]);
  });

  it('a forbidden name, and what stands under it is left out', async () => {
    const text =
      'args:\n  constructor: { tpye: x }\nphases:\n  - { id: a, task: "{steps.nope.output}", __proto__: 1 }\n';
    expect(await problems(text)).toEqual(['2:3 forbidden-name', '4:21 unknown-step', '4:43 forbidden-name']);
    expect(await inJson('{"phases": [{"id": "a", "tsak": "x", "__proto__": {"a": 1}}]}')).toEqual([
      'missing-field',
      'unknown-field',
      'forbidden-name',
    ]);
  });

  it('a YAML tag: what was written counts', async () => {
    expect(await problems('phases:\n  - { id: a, task: !!str x, tiemout: !secret 1 }\n')).toEqual([
      '2:20 yaml-tag',
      '2:29 unknown-field',
      '2:38 yaml-tag',
    ]);
    expect(await problems('phases:\n  - { id: a, task: !!binary aGk= }\n')).toEqual(['2:20 yaml-tag']);
    expect(await problems(`phases:\n${'  - { id: !!str a, task: x }\n'.repeat(9)}`)).toHaveLength(17);
  });

  it('a number that is none, about which nothing else is said', async () => {
    const text =
      'concurrency: .nan\nphases:\n  - { id: a, task: .inf, tiemout: 1 }\n  - { id: b, task: "{steps.nope.output}" }\n';
    expect(await problems(text)).toEqual([
      '1:14 bad-number',
      '3:20 bad-number',
      '3:26 unknown-field',
      '4:21 unknown-step',
    ]);
    expect(await problems('budget: { maxUSD: 1e999, maxTokens: -.Inf }\nphases: [{ id: a, tsak: x }]\n')).toEqual([
      '1:19 bad-number',
      '1:37 bad-number',
      '2:10 missing-field',
      '2:19 unknown-field',
    ]);
    const { checkFlowText } = await import('../../src/check/check-flow.js');
    const { diskWorld } = await import('../../src/check/world.js');
    const world = diskWorld({ root: '/nowhere', home: '/nowhere', env: {} });
    const json = '{"phases": [{"id": "a", "task": 1e999, "tiemout": 1}]}';
    const { diagnostics } = await checkFlowText({ file: 'a.json', text: json, world });
    expect(diagnostics.map(({ code }) => code)).toEqual(['bad-number', 'unknown-field']);
  });

  it('an entry of a list, about which nothing else is said', async () => {
    const text = [
      'phases:',
      '  - { id: a, task: x, dependsOn: [1, nope], context: [2, ../x], tools: [3, "{args.x}"] }',
      '  - { id: b, type: script, run: [4, "{steps.no.output}"], env: { A: [5], B-C: x, D: "{steps.no.output}" } }',
      '  - { id: c, type: parallel, branches: [{ run: [6, "{steps.no.output}"] }] }',
      '  - { id: d, task: x, outputs: ["", /y], cache: { scope: cross-run, fingerprint: [7, "fiel:x"] } }',
      '',
    ].join('\n');
    expect(await problems(text)).toEqual([
      '2:35 wrong-type',
      '2:38 unknown-step',
      '2:55 wrong-type',
      '2:58 outside-project',
      '2:73 wrong-type',
      '2:77 placeholder-here',
      '3:34 wrong-type',
      '3:38 unknown-step',
      '3:69 wrong-type',
      '3:74 bad-value',
      '3:86 unknown-step',
      '4:49 wrong-type',
      '4:53 unknown-step',
      '5:33 out-of-range',
      '5:37 outside-project',
      '5:83 wrong-type',
      '5:87 unknown-fingerprint',
    ]);
  });

  it('a part of a score or of the defaults', async () => {
    const text = [
      'defaults: { agnet: x, cwd: ../out, cache: { ttl: 0s } }',
      'phases:',
      '  - id: a',
      '    type: gate',
      '    score:',
      '      treshold: 1',
      '      target: "{steps.no.output}"',
      '      scorers: [{ type: contains }, { type: regex, pattern: "(" }, { type: length-range }]',
      '      judge: { agent: nobody, tsak: x }',
      '',
    ].join('\n');
    expect(await problems(text)).toEqual([
      '1:13 unknown-field',
      '1:28 outside-project',
      '1:50 out-of-range',
      '6:7 unknown-field',
      '7:16 unknown-step',
      '8:17 missing-field',
      '8:61 bad-value',
      '8:68 missing-field',
      '9:23 unknown-agent',
      '9:31 unknown-field',
    ]);
  });

  it('arguments that are none: what is missing in them is not said as well', async () => {
    const project = makeProject({ 'sub.yaml': 'args: { topic: { required: true } }\ntask: "{args.topic}"' });
    const { diagnostics } = await check('phases: [{ id: a, type: flow, use: ./sub.yaml, with: [1] }]', project);
    expect(diagnostics.map(({ code }) => code)).toEqual(['wrong-type']);
  });

  it('a kind that does not exist: what all kinds share is checked, and nothing is said about the rest', async () => {
    const text = [
      'phases:',
      '  - id: a',
      '    type: scritp',
      '    run: [ls]',
      '    input: x',
      '    when: "1 =="',
      '    dependsOn: [nope]',
      '    timeout: 0',
      '    retry: { mx: 1 }',
      '    wehn: x',
      '  - { id: b, task: "{steps.a.json.x}" }',
      '  - { id: c, type: mpa, over: [1], task: "{item} {steps.none.output}", concurrency: 3 }',
      '  - { id: d, type: lop, task: "{loop.iteration} {steps.d.output}" }',
    ].join('\n');
    expect(await problems(text)).toEqual([
      '3:11 unknown-kind',
      '6:14 bad-condition',
      '7:17 unknown-step',
      '8:14 out-of-range',
      '9:12 missing-field',
      '9:14 unknown-field',
      '10:5 unknown-field',
      '12:20 unknown-kind',
      '12:50 unknown-step',
      '13:20 unknown-kind',
    ]);
  });
});
