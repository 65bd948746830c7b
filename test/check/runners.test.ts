import { describe, expect, it } from 'vitest';
import { loadFlow } from '../../src/check/load-flow.js';
import { check, makeProject, writeIn } from './support.js';

const CONFIG = '.pi/taskflows/config.yaml';
const SETTINGS = 'runners:\n  local: { type: openai, baseUrl: "http://127.0.0.1:1/v1" }\n';

async function problems(flow: string, project = makeProject({ [CONFIG]: SETTINGS })) {
  const { diagnostics } = await check(flow, project);
  return diagnostics.map(({ line, column, code, hint }) => ({ at: `${line}:${column}`, code, hint }));
}

describe('a runner that is named', () => {
  it.each([
    ['by the flow', 'runner: locla\nphases: [{ id: a, task: x }]', '1:9'],
    ['by a phase', 'phases:\n  - { id: a, task: x, runner: locla }', '2:31'],
    ['by a branch', 'phases: [{ id: a, type: parallel, branches: [{ task: x, runner: locla }] }]', '1:65'],
    ['by a tournament', 'phases: [{ id: a, type: tournament, task: x, runner: locla }]', '1:54'],
    [
      'by a judge',
      'phases: [{ id: a, type: gate, score: { target: x, scorers: [{ type: contains, value: y }], ' +
        'judge: { runner: locla } } }]',
      '1:109',
    ],
    [
      'by a flow inside',
      'phases: [{ id: a, type: flow, def: { runner: locla, phases: [{ id: b, task: x }] } }]',
      '1:46',
    ],
    ['by a step', 'tasks: [{ task: x, runner: locla }]', '1:28'],
  ])('%s and does not exist is an error, with the nearest one', async (_, flow, at) => {
    expect(await problems(flow)).toEqual([{ at, code: 'unknown-runner', hint: 'did you mean "local"?' }]);
    expect(await problems(flow.replace('locla', 'local'))).toEqual([]);
    expect(await problems(flow.replace('locla', 'claude'), makeProject())).toEqual([]);
  });

  it('in a way that resembles none is told which there are', async () => {
    const [found] = await problems('runner: something-else\nphases: [{ id: a, task: x }]');
    expect(found?.hint).toMatch(/^known: pi, claude, codex, local; /);
  });

  it('by a flow that is used makes that one unusable', async () => {
    const project = makeProject({ 'inner.yaml': 'runner: nobody\ntask: x' });
    const { diagnostics } = await check('phases: [{ id: a, type: flow, use: ./inner.yaml }]', project);
    expect(diagnostics).toMatchObject([
      { code: 'unknown-flow', message: expect.stringContaining('no runner "nobody"') },
    ]);
  });

  it('cannot be judged by settings that are broken: a run stops at them anyway', async () => {
    const broken = makeProject({ [CONFIG]: 'runners: [' });
    expect(await problems('runner: local\nphases: [{ id: a, task: x }]', broken)).toEqual([]);
  });

  it('is asked for again when the settings have changed, and a check that was kept is not believed', async () => {
    const project = makeProject({ [CONFIG]: SETTINGS, 'a.yaml': 'phases: [{ id: a, task: x, runner: local }]' });
    expect(await loadFlow(project, './a.yaml')).toHaveProperty('flow');
    writeIn(project, CONFIG, SETTINGS.replace('local', 'other'));
    expect(await loadFlow(project, './a.yaml')).toMatchObject({ diagnostics: [{ code: 'unknown-runner' }] });
    writeIn(project, '~/.pi/agent/taskflows/config.yaml', SETTINGS);
    expect(await loadFlow(project, './a.yaml')).toHaveProperty('flow');
  });
});
