import { readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.js';
import { phaseOf } from '../support/rig.js';
import { createMemoRig, cross, filesUnder, flow, type MemoRig } from './support.js';

let rig: MemoRig;
beforeEach(() => {
  rig = createMemoRig();
});
afterEach(() => rig.remove());

const SECRET = 'hunter2-"quoted"-\\back-ümlaut';
const LEAF = 'leaf-of-a-json-secret';
const VALUE = 'value-of-the-environment';
/** The whole texts, and what they look like inside of JSON, base64 and an address. */
const spellings = (secret: string) => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  Buffer.from(secret).toString('base64'),
  encodeURIComponent(secret),
];

/** Files under `.pi` (flows themselves left out) that hold one of the texts in any spelling. */
function holders(...secrets: string[]): string[] {
  const wanted = secrets.flatMap(spellings);
  return filesUnder(join(rig.root, '.pi/taskflows'))
    .filter((path) => !/config\.yaml$/.test(path))
    .filter((path) => {
      const text = readFileSync(path, 'latin1');
      return wanted.some((secret) => text.includes(Buffer.from(secret).toString('latin1')));
    });
}

const spec = { args: { token: { secret: true }, login: { type: 'json', secret: true, required: true } } };
const args = { token: SECRET, login: { user: 'bob', password: LEAF } };

const phases = [
  { id: 'argv', type: 'script', run: ['bin/tick', 'argv', '{args.token}'], cache: cross(['env:VALUE']) },
  { id: 'stdin', type: 'script', run: ['true'], input: 'x {args.token} {args.login.password}', cache: cross() },
  {
    id: 'env',
    type: 'script',
    run: 'test -n "$T"',
    env: { T: '{args.token}', P: '{args.login.password}' },
    cache: cross(['env:VALUE']),
  },
  { id: 'agent', type: 'agent', task: 'NAME: agent\nSAY: fine\n{args.token} {args.login.password}', cache: cross() },
  { id: 'loud', type: 'agent', task: 'NAME: loud\nsay it again: {args.token}', cache: cross() },
  { id: 'echo', type: 'script', run: ['printf', '%s', 'it is {args.token}'], cache: cross() },
  {
    id: 'json',
    type: 'script',
    run: ['cat'],
    input: '{"t": "x", "p": "{args.login.password}"}',
    output: 'json',
    cache: cross(),
  },
  { id: 'after', type: 'script', run: ['true'], input: '{steps.echo.output} {steps.json.json.p}', cache: cross() },
  { id: 'items', type: 'map', over: ['{args.token}', 'plain'], run: ['true', '{item}'], cache: cross() },
  {
    id: 'sub',
    type: 'flow',
    def: {
      name: 'inner',
      args: { key: { secret: true } },
      phases: [{ id: 'in', type: 'script', run: ['true', '{args.key}'] }],
    },
    with: { key: '{args.token}' },
    cache: cross(),
  },
  {
    id: 'plainsub',
    type: 'flow',
    def: { name: 'inner2', args: { key: {} }, phases: [{ id: 'in', type: 'script', run: ['true', '{args.key}'] }] },
    with: { key: '{args.token}' },
    cache: cross(),
  },
  {
    id: 'file',
    type: 'script',
    run: 'mkdir -p out; printf %s "$T" > out/t.txt',
    env: { T: '{args.token}' },
    outputs: ['out/**'],
    cache: cross(),
  },
];

describe('secret arguments and variables', () => {
  it('stand nowhere under the state folder, in no spelling, and in no result', async () => {
    const events: string[] = [];
    const first = await rig.runAs({ env: { VALUE } }, flow(phases, spec), {
      args,
      onEvent: (event) => events.push(JSON.stringify(event)),
    });
    expect(first.status).toBe('success');
    expect(holders(SECRET, LEAF, VALUE)).toEqual([]);
    const second = await rig.runAs({ env: { VALUE } }, undefined, {
      args,
      onEvent: (event) => events.push(JSON.stringify(event)),
    });
    for (const text of [JSON.stringify(first), JSON.stringify(second), ...events]) {
      for (const secret of [SECRET, LEAF, VALUE].flatMap(spellings)) expect(text).not.toContain(secret);
    }
    expect(phaseOf(second, 'agent').cacheHit).toBe('cross-run');
  });

  it('decide the key all the same', async () => {
    const one = flow([phases[2]!], spec);
    await rig.runAs({ env: { VALUE } }, one, { args });
    const counted = async (change: object, value = VALUE) =>
      phaseOf(await rig.runAs({ env: { VALUE: value } }, undefined, { args: { ...args, ...change } }), 'env').cacheHit;
    expect(await counted({})).toBe('cross-run');
    expect(await counted({ token: 'another' })).toBeNull();
    expect(await counted({ login: { user: 'bob', password: 'other' } })).toBeNull();
    expect(await counted({}, 'another')).toBeNull();
    expect(await counted({})).toBe('cross-run');
  });

  it('a result that shows one is used and not kept, and what follows still gets the real text', async () => {
    const one = { args: { token: { secret: true } } };
    const show = [
      { id: 'echo', type: 'script', run: ['bin/tick', 'echo', 'it is {args.token}'], cache: cross() },
      {
        id: 'check',
        type: 'script',
        run: 'bin/note check; test "$A" = "it is $B"',
        env: { A: '{steps.echo.output}', B: '{args.token}' },
      },
      { id: 'end', type: 'script', run: 'test -e ok', dependsOn: ['check'] },
    ];
    const first = await rig.run(flow(show, one), { args: { token: SECRET } });
    expect(phaseOf(first, 'check').status).toBe('done');
    expect(phaseOf(first, 'echo').remark).toContain('secret');
    // Continued: the masked text in the journal is not taken for the real one.
    const second = await rig.run(undefined, { args: { token: SECRET } });
    expect(phaseOf(second, 'check').status).toBe('done');
    expect(rig.counts()['echo']).toBe(2);
  });

  it('a failure does not show them either', async () => {
    const failing = [
      { id: 'a', type: 'script', run: 'echo "cannot log in with $T" >&2; exit 1', env: { T: '{args.token}' } },
    ];
    const result = await rig.run(flow(failing, spec), { args });
    expect(JSON.stringify(result)).toContain('cannot log in');
    for (const secret of spellings(SECRET)) expect(JSON.stringify(result)).not.toContain(secret);
    expect(holders(SECRET)).toEqual([]);
  });

  it('the command line shows none of them: run, trace, cache show and explain', async () => {
    rig.write('flow.json', JSON.stringify(flow(phases, spec)));
    rig.write('args.json', JSON.stringify(args));
    const env = { PATH: rig.project.env['PATH'], HOME: rig.project.home, VALUE };
    const cli = async (...words: string[]) => {
      const { stdout, stderr } = await runCli(words, { cwd: rig.root, env });
      return stdout + stderr;
    };
    const run = ['run', './flow.json', '--args-file', 'args.json'];
    const said = [
      await cli(...run),
      await cli(...run, '--events'),
      await cli(...run, '--json'),
      await cli(...run, '--dry-run'),
    ];
    said.push(
      await cli('runs'),
      await cli('cache', 'list'),
      await cli('cache', 'explain', './flow.json', '--args-file', 'args.json'),
    );
    const runId = /"runId":\s*"([^"]+)"/.exec(said[2]!)![1]!;
    said.push(await cli('trace', runId), await cli('checkpoint', 'export', runId), await cli('runs', 'show', runId));
    for (const path of rig.entries()) said.push(await cli('cache', 'show', /([0-9a-f]{64})/.exec(path)![1]!));
    for (const text of said)
      for (const secret of [SECRET, LEAF, VALUE].flatMap(spellings)) expect(text).not.toContain(secret);
    expect(holders(SECRET, LEAF, VALUE)).toEqual([]);
  });
});

describe('links out of the project', () => {
  it('in context, cwd and fingerprints are refused or never a hit', async () => {
    symlinkSync('/etc', join(rig.root, 'out'));
    const refused = [
      { id: 'a', type: 'agent', task: 'x', context: ['out/hostname'] },
      { id: 'a', type: 'script', run: ['pwd'], cwd: 'out' },
      { id: 'a', type: 'script', run: ['bin/tick', 'a'], cache: cross(['file:out/hostname']) },
      { id: 'a', type: 'script', run: ['bin/tick', 'a'], cache: cross(['glob:out/*']) },
    ];
    for (const phase of refused) {
      const result = await rig
        .run(flow([phase]))
        .catch((error: Error) => ({ status: 'refused', message: error.message }));
      expect(['failed', 'refused']).toContain(result.status);
    }
  });

  it('that come to be at run time are never followed', async () => {
    const phases = [
      { id: 'link', type: 'script', run: 'ln -s /etc late; echo late' },
      { id: 'a', type: 'script', run: ['bin/tick', 'a'], cache: cross(['file:{steps.link.output}/hostname']) },
      { id: 'b', type: 'script', run: ['pwd'], cwd: '{steps.link.output}', optional: true },
      { id: 'c', type: 'agent', task: 'x', context: ['{steps.link.output}/hostname'], optional: true },
    ];
    const result = await rig.run(flow(phases));
    expect(phaseOf(result, 'a').reason).toContain('leads out of the project');
    expect(phaseOf(result, 'b').status).toBe('failed');
    expect(phaseOf(result, 'c').status).toBe('failed');
  });

  it('the modes of what was written are private', async () => {
    await rig.runAs({ env: { VALUE } }, flow(phases, spec), { args });
    for (const path of filesUnder(join(rig.root, '.pi/taskflows/runs'))) expect(statSync(path).mode & 0o077).toBe(0);
  });
});
