import { describe, expect, it } from 'vitest';
import { crossRunObstacle } from '../../src/check/permission.js';
import { check, checked, makeProject, phaseOf } from './support.js';

describe('a checked flow', () => {
  it('has its defaults applied, durations in milliseconds, and places for messages', async () => {
    const flow = await checked(`
description: A flow
defaults: { timeout: 2m, cwd: src }
idleTimeout: 90s
budget: { maxUSD: 2 }
phases:
  - id: a
    task: Say hello
    retry: { max: 0 }
  - id: b
    type: script
    run: echo hi
    timeout: 1500
    env: { N: 5, B: true }
`);
    expect(flow).toMatchObject({
      name: 'flow',
      file: 'flow.yaml',
      agentScope: 'both',
      idleTimeoutMs: 90_000,
      incremental: false,
      result: 'b',
      budget: { maxUSD: 2 },
    });
    expect(await phaseOf(checked({ phases: [{ id: 'a', task: 'x' }] }), 'a')).not.toHaveProperty('retry');
    const [a, b] = flow.phases;
    expect(a).toMatchObject({ retry: { max: 0 }, timeoutMs: 120_000, cwd: 'src', line: 7, column: 5 });
    expect(b).toMatchObject({ timeoutMs: 1500, body: { type: 'run', run: 'echo hi', env: { N: '5', B: 'true' } } });
  });

  it('is the same from YAML and from JSON, and plain JSON itself', async () => {
    const value = {
      name: 'n',
      phases: [
        { id: 'a', task: 'x {steps.b.output}' },
        { id: 'b', type: 'script', run: ['ls'] },
      ],
    };
    const fromJson = await checked(value);
    const fromYaml = await checked(
      'name: n\nphases:\n  - { id: a, task: "x {steps.b.output}" }\n  - { id: b, type: script, run: [ls] }',
    );
    const strip = (flow: unknown) =>
      JSON.parse(
        JSON.stringify(flow, (name, value) => (['line', 'column', 'file'].includes(name) ? undefined : value)),
      );
    expect(strip(fromYaml)).toEqual(strip(fromJson));
    expect(JSON.parse(JSON.stringify(fromJson))).toEqual(fromJson);
  });

  it('names the place of each phase from the file, in both notations', async () => {
    const json = '{\n  "phases": [\n    { "id": "a", "task": "x" },\n    { "id": "b", "task": "{}" }\n  ]\n}';
    const { flow } = await check(JSON.parse(json));
    expect(flow?.phases.map(({ line }) => line)).toEqual([3, 7]);
  });
});

describe('dependencies', () => {
  it('are dependsOn, from and every mention; only what becomes text counts as quoted', async () => {
    const flow = checked({
      phases: [
        { id: 'a', task: 'x', output: 'json' },
        { id: 'b', task: 'x' },
        { id: 'c', task: 'x' },
        { id: 'd', task: '{steps.a.json.n}', dependsOn: ['b'], from: ['c'], when: '{steps.b.output} == ok' },
        { id: 'e', type: 'reduce', from: ['a', 'b'], task: 'join' },
        { id: 'f', task: '{previous.output}', dependsOn: ['a', 'b'] },
        { id: 'g', type: 'script', run: ['x'], env: { A: '{steps.a.output}' }, input: '{steps.b.output}' },
        { id: 'h', task: 'x', cache: { scope: 'cross-run', fingerprint: ['file:{steps.c.output}'] } },
        { id: 'i', task: 'x', context: ['{steps.b.output}'] },
      ],
    });
    const needs = async (id: string) => (await phaseOf(flow, id)).needs.map((n) => (n.referenced ? n.id : `(${n.id})`));
    expect(await needs('d')).toEqual(['(b)', '(c)', 'a']);
    expect(await needs('e')).toEqual(['a', 'b']);
    expect(await needs('f')).toEqual(['a', 'b']);
    expect(await needs('g')).toEqual(['a', 'b']);
    expect(await needs('h')).toEqual(['c']);
    expect(await needs('i')).toEqual(['b']);
  });

  it('of a loop do not include itself, and an inline flow keeps its own', async () => {
    const flow = await checked({
      phases: [
        { id: 'a', type: 'loop', task: '{steps.a.output}', until: '{steps.a.json.done}', output: 'json' },
        {
          id: 'b',
          type: 'flow',
          with: { x: '{steps.a.output}' },
          def: [
            { id: 'a', task: '{args.x}' },
            { id: 'z', task: '{steps.a.output}' },
          ],
        },
      ],
    });
    expect(flow.phases.map(({ needs }) => needs.map(({ id }) => id))).toEqual([[], ['a']]);
    const inner = flow.phases[1]?.kind === 'flow' && flow.phases[1].source;
    expect(inner).toMatchObject({
      from: 'inline',
      flow: {
        name: 'flow.b',
        args: { x: { untyped: true } },
        result: 'z',
        phases: [{ needs: [] }, { needs: [{ id: 'a' }] }],
      },
    });
  });
});

describe('a grafted fragment', () => {
  const flow = (mode: string, task: string) => ({
    args: { topic: { default: 'x' } },
    phases: [
      { id: 'seed', task: 'x' },
      { id: 'grow', type: 'expand', expandMode: mode, def: [{ id: 'inner', task }] },
      { id: 'later', task: '{steps.grow.output}' },
    ],
  });

  it('sees the outputs and arguments around it, and waits for what it mentions', async () => {
    const grow = await phaseOf(checked(flow('graft', '{steps.seed.output} {args.topic}')), 'grow');
    expect(grow.needs).toEqual([{ id: 'seed', referenced: false }]);
    expect(grow.kind === 'expand' && grow.source.from === 'inline' && grow.source.flow.phases[0]?.needs).toEqual([]);
  });

  it('cannot wait for itself or for what comes after it, and a nested one sees nothing', async () => {
    const codes = async (mode: string, task: string) =>
      (await check(flow(mode, task))).diagnostics.map(({ code }) => code);
    expect(await codes('graft', '{steps.grow.output}')).toEqual(['unknown-step']);
    expect(await codes('graft', '{steps.later.output}')).toEqual(['cycle']);
    expect(await codes('nested', '{steps.seed.output}')).toEqual(['unknown-step']);
    expect(await codes('nested', '{args.topic}')).toEqual(['unknown-arg']);
  });
});

describe('small traps', () => {
  const codes = async (value: string) => (await check(value)).diagnostics.map(({ code }) => code);

  it('a number too large to be one', async () => {
    const { diagnostics } = await check('budget: { maxUSD: 1e999 }\ntask: x');
    expect(diagnostics).toMatchObject([{ code: 'bad-number' }]);
  });

  it('no idle limit is said with 0, while a time limit of nothing is a mistake', async () => {
    expect(await codes('idleTimeout: 0\ntask: x')).toEqual([]);
    expect(await codes('phases: [{ id: a, task: x, idleTimeout: 0, timeout: 0 }]')).toEqual(['out-of-range']);
  });

  it('declared files of a branch in a folder that goes away', async () => {
    const branches = 'branches: [{ run: [make], cwd: temp }], outputs: ["dist/**"]';
    expect(await codes(`phases: [{ id: a, type: parallel, ${branches} }]`)).toEqual(['outputs-cwd']);
  });

  it('names of inherited properties are names like any other', async () => {
    const flow = await checked(
      'phases: [{ id: toString, task: "{args.valueOf} {args.toString}" }, { id: b, task: "{steps.toString.output}" }]',
    );
    expect(Object.keys(flow.args).toSorted()).toEqual(['toString', 'valueOf']);
    expect(await codes('phases: [{ id: a, task: "{steps.hasOwnProperty.output}", valueOf: 1 }]')).toEqual([
      'unknown-step',
      'unknown-field',
    ]);
  });
});

describe('short forms', () => {
  it('task is one agent phase', async () => {
    const flow = await checked({ task: 'Say hello', agent: 'scout' });
    expect(flow.phases).toMatchObject([{ id: 'main', kind: 'agent', body: { task: 'Say hello', agent: 'scout' } }]);
  });
  it('tasks is one parallel phase', async () => {
    const flow = await checked({ tasks: ['a', { task: 'b', agent: 'scout', context: ['x.md'] }] });
    expect(flow.phases).toMatchObject([
      {
        kind: 'parallel',
        context: ['x.md'],
        branches: [
          { id: 'branch-1', body: { task: 'a' } },
          { id: 'branch-2', body: { task: 'b', agent: 'scout' } },
        ],
      },
    ]);
  });
  it('chain is phases one after the other', async () => {
    const flow = await checked({ chain: ['a', 'b {previous.output}', { task: 'c', agent: 'scout' }] });
    expect(flow.phases.map(({ id, needs }) => [id, ...needs.map((need) => need.id)])).toEqual([
      ['step1'],
      ['step2', 'step1'],
      ['step3', 'step2'],
    ]);
  });
});

describe('who may be reused across runs', () => {
  const scopes = async (value: unknown, project = makeProject()) => {
    const flow = await checked(value, project);
    return Object.fromEntries(
      flow.phases.map(({ id, cache }) => [id, `${cache.scope}${cache.implied ? ' implied' : ''}`]),
    );
  };

  it('incremental covers what may be, silently leaves out what may not, and yields to what a phase says', async () => {
    const project = makeProject({
      '.pi/taskflows/deploy.yaml': 'phases: [{ id: ask, type: approval }, { id: go, type: script, run: [x] }]',
      '.pi/taskflows/clean.yaml': 'phases: [{ id: go, type: script, run: [x] }]',
    });
    expect(
      await scopes(
        {
          incremental: true,
          phases: [
            { id: 'agent', task: 'x' },
            { id: 'named', task: 'x', cache: { fingerprint: ['git:HEAD'] } },
            { id: 'nothing', task: 'x', cache: { fingerprint: [] } },
            { id: 'off', task: 'x', cache: { scope: 'off' } },
            { id: 'run', task: 'x', cache: { scope: 'run-only' } },
            { id: 'explicit', task: 'x', cache: { scope: 'cross-run' } },
            { id: 'gate', type: 'gate', eval: ['1'] },
            { id: 'approval', type: 'approval' },
            { id: 'once', type: 'script', run: ['x'], idempotent: false },
            { id: 'deploy', type: 'flow', use: 'deploy' },
            { id: 'clean', type: 'flow', use: 'clean' },
            { id: 'each', type: 'map', over: [1], use: 'deploy' },
            { id: 'expand', type: 'expand', def: [{ id: 'g', type: 'gate', eval: ['1'] }] },
          ],
        },
        project,
      ),
    ).toEqual({
      agent: 'cross-run implied',
      named: 'cross-run',
      nothing: 'cross-run',
      off: 'off',
      run: 'run-only',
      explicit: 'cross-run',
      gate: 'run-only',
      approval: 'run-only',
      once: 'run-only',
      deploy: 'run-only',
      clean: 'cross-run implied',
      each: 'run-only',
      expand: 'run-only',
    });
  });

  it('defaults give what may be given', async () => {
    const value = {
      defaults: { cache: { scope: 'cross-run', ttl: '1h', fingerprint: ['git:HEAD'] } },
      phases: [
        { id: 'a', task: 'x' },
        { id: 'g', type: 'gate', eval: ['1'] },
      ],
    };
    expect(await scopes(value)).toEqual({ a: 'cross-run', g: 'run-only' });
    expect((await phaseOf(checked(value), 'a')).cache).toMatchObject({ ttlMs: 3_600_000, fingerprint: ['git:HEAD'] });
  });

  it('inner times to live bound the outer one', async () => {
    const def = (ttl: string) => [{ id: 'i', task: 'x', cache: { scope: 'cross-run', ttl } }];
    const flow = checked({
      phases: [
        { id: 'outer', type: 'flow', def: def('1h'), cache: { scope: 'cross-run', ttl: '2h' } },
        { id: 'none', type: 'flow', def: def('1h'), cache: { scope: 'cross-run' } },
        { id: 'short', type: 'flow', def: def('1h'), cache: { scope: 'cross-run', ttl: '1m' } },
      ],
    });
    expect((await flow).phases.map(({ cache }) => cache.ttlMs)).toEqual([3_600_000, 3_600_000, 60_000]);
  });

  it('an approval two saved flows away is found, at check time and again at run time', async () => {
    const project = makeProject({
      '.pi/taskflows/one.yaml': 'phases: [{ id: a, type: map, over: [1], use: two }]',
      '.pi/taskflows/two.yaml': 'phases: [{ id: b, type: expand, def: [{ id: ask, type: approval }] }]',
    });
    const outer = { phases: [{ id: 'o', type: 'flow', use: 'one', cache: { scope: 'cross-run' } }] };
    const { diagnostics } = await check(outer, project);
    expect(diagnostics).toMatchObject([{ code: 'cross-run', message: expect.stringContaining('the approval "ask"') }]);
    const two = await checked({ phases: [{ id: 'b', type: 'expand', def: [{ id: 'ask', type: 'approval' }] }] });
    expect(crossRunObstacle(two, () => undefined)).toContain('approval');
  });
});

describe('compatibility with pi-taskflow flows', () => {
  it('a flow with all of its fields checks without errors', async () => {
    const project = makeProject({
      '.pi/taskflows/summaries.json': JSON.stringify({
        name: 'summaries',
        version: 1,
        args: { dir: { default: '.', description: 'Folder' } },
        agentScope: 'user',
        phases: [
          { id: 'find', type: 'agent', agent: 'scout', task: 'List {args.dir}: [{"file": "x"}]', output: 'json' },
          {
            id: 'each',
            type: 'map',
            over: '{steps.find.json}',
            as: 'item',
            agent: 'scout',
            task: 'Read {item.file}',
            dependsOn: ['find'],
          },
          {
            id: 'all',
            type: 'reduce',
            from: ['each'],
            agent: 'writer',
            task: '{steps.each.output}',
            dependsOn: ['each'],
            final: true,
          },
        ],
      }),
    });
    const { flow, diagnostics } = await check(
      {
        name: 'everything',
        description: 'd',
        version: 2,
        concurrency: 6,
        agentScope: 'both',
        contextSharing: true,
        strictInterpolation: true,
        budget: { maxUSD: 12, maxTokens: 20_000_000 },
        args: { goal: { description: 'What', default: 'x' }, target: { required: true } },
        phases: [
          { type: 'script', run: ['sh', '-lc', 'git status --short && git log -5'], timeout: 30_000, id: 'state' },
          {
            id: 'plan',
            type: 'agent',
            agent: 'executor_fast',
            tools: ['read'],
            output: 'json',
            expect: { type: 'array', items: { type: 'object' } },
            retry: { max: 2, backoffMs: 0 },
            task: 'Return {"a": string} for {args.goal}\n{steps.state.output}',
            dependsOn: ['state'],
          },
          {
            id: 'each',
            type: 'map',
            over: '{steps.plan.json}',
            as: 'surface',
            concurrency: 4,
            cache: { scope: 'off' },
            task: '{item.area} {surface.area}',
            shareContext: true,
          },
          {
            id: 'side',
            type: 'parallel',
            branches: [
              { id: 'a', type: 'agent', agent: 'critic', task: 'x', retry: { max: 1, backoffMs: 2000 } },
              { task: 'y' },
            ],
            concurrency: 2,
          },
          { id: 'race', type: 'race', branches: [{ task: 'f' }, { task: 'g' }], cancelLosers: true },
          {
            id: 'best',
            type: 'tournament',
            mode: 'best',
            judgeAgent: 'final-arbiter',
            judge: 'Return {"winner":1|2}',
            branches: [{ task: 'x' }, { task: 'y' }],
          },
          {
            id: 'gate',
            type: 'gate',
            join: 'any',
            from: ['race', 'best'],
            agent: 'critic',
            onBlock: 'retry',
            retry: { max: 2 },
            eval: ['{steps.race.output} contains ok'],
            task: '{steps.race.output}{steps.best.output}',
          },
          {
            id: 'score',
            type: 'gate',
            dependsOn: ['plan'],
            score: {
              target: '{steps.plan.output}',
              scorers: [
                { type: 'regex', name: 'r', pattern: 'TODO', negate: true },
                { type: 'length-range', min: 3 },
              ],
              combine: 'weighted',
              weights: [3, 2, 1],
              threshold: 0.8,
              judge: { agent: 'reviewer', task: 'Score it' },
            },
          },
          {
            id: 'loop',
            type: 'loop',
            reflexion: true,
            maxIterations: 4,
            output: 'json',
            until: '{steps.loop.json.done} == true',
            task:
              '{steps.score.json.combined} {loop.iteration}/{loop.maxIterations} {loop.lastOutput} ' +
              '{previous.output} {reflexion}',
          },
          { id: 'ask', type: 'approval', dependsOn: ['gate'], task: '{steps.gate.output}' },
          { id: 'made', type: 'flow', def: '{steps.plan.json}', dependsOn: ['ask'] },
          {
            id: 'nested',
            type: 'flow',
            def: { name: 'n', phases: [{ id: 'a', agent: 'critic', task: '{args.report}', final: true }] },
            with: { report: '{steps.loop.output}' },
          },
          {
            id: 'grown',
            type: 'expand',
            expandMode: 'graft',
            maxNodes: 8,
            def: { phases: [{ id: 'a', task: '{args.report}' }] },
            with: { report: '{steps.loop.output}' },
          },
          { id: 'saved', type: 'flow', use: 'summaries', with: { dir: '/somewhere/else' } },
          {
            id: 'note',
            type: 'script',
            idempotent: false,
            run: ['echo', 'done {steps.score.json.combined}'],
            input: '{steps.saved.output}',
            optional: true,
          },
          {
            id: 'report',
            type: 'reduce',
            from: ['each', 'side', 'made', 'nested', 'grown', 'note'],
            agent: 'doc-writer',
            model: 'm',
            thinking: 'high',
            cwd: 'worktree',
            context: ['README.md', '{steps.plan.output}'],
            contextLimit: 4000,
            task: 'Sum up {args.target}',
            final: true,
          },
        ],
      },
      project,
    );
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(diagnostics.map(({ message }) => message)).toEqual([
      '"contextSharing" is accepted but does nothing here',
      '"shareContext" is accepted but does nothing here',
      '"retry" means nothing on a branch',
    ]);
    expect(flow?.result).toBe('report');
  });
});
