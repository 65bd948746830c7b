import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/model/event.js';
import { exportCheckpoint } from '../../src/run/continue/checkpoint.js';
import { createRig, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

/** With characters that are spelled differently inside of JSON. */
const SECRET = 'hunter2"\\\nzwölf';
const flow = (phases: object[]) => ({
  name: 'hush',
  args: { token: { secret: true, required: true }, n: { default: '1' } },
  phases,
});

function filesUnder(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesUnder(path) : [path];
  });
}

/** Files that hold the secret, however it is spelled: as it is, or as JSON spells it, once or twice over. */
function leaks(): string[] {
  const spelled = [SECRET, JSON.stringify(SECRET).slice(1, -1)];
  spelled.push(JSON.stringify(spelled[1]).slice(1, -1), Buffer.from(SECRET).toString('base64').slice(0, 16));
  return filesUnder(join(rig.root, '.pi')).filter((path) => {
    const text = readFileSync(path, 'utf8');
    return spelled.some((value) => text.includes(value)) || text.includes('hunter2');
  });
}

const everywhere = [
  { id: 'echoes', type: 'script', run: ['printf', '%s', '{args.token}'] },
  { id: 'json', type: 'script', run: ['cat'], input: '{"t": {args.n}}', output: 'json' },
  {
    id: 'quotes',
    type: 'script',
    run: ['node', '-p', 'JSON.stringify({t: process.env.T})'],
    env: { T: '{args.token}' },
  },
  { id: 'bytes', type: 'script', run: ['printf', '\\377%s', '{args.token}'] },
  { id: 'm', type: 'map', over: ['{args.token}', 'b'], run: ['printf', '%s', '{item}'] },
  { id: 'agent', type: 'agent', task: 'SAY: {args.token}' },
  { id: 'cached', type: 'script', run: ['bin/tick', 'cached', '{args.token}'], cache: { scope: 'cross-run' } },
  {
    id: 'fails',
    type: 'script',
    run: ['sh', '-c', 'printf "%s" "$T" >&2; exit 1'],
    env: { T: '{args.token}' },
    optional: true,
    retry: { max: 1, backoffMs: 1 },
  },
  { id: 'ask', type: 'approval', task: 'use {args.token}?' },
  {
    id: 'breaks',
    type: 'script',
    run: ['sh', '-c', 'printf "%s" "$T" >&2; exit 1'],
    env: { T: '{args.token}' },
    dependsOn: ['ask'],
  },
];

describe('a secret argument', () => {
  it('is in no file, no event, no result and no checkpoint, whatever is done with it', async () => {
    const events: RunEvent[] = [];
    const result = await rig.run(flow(everywhere), {
      args: { token: SECRET },
      keepGoing: true,
      approve: async () => ({ decision: 'approve' }),
      onEvent: (event) => events.push(event),
    });
    expect(result.error?.phase).toBe('breaks');
    expect(result.phases.filter(({ status }) => status === 'done').length).toBe(8);
    expect(leaks()).toEqual([]);
    expect(JSON.stringify(result)).not.toContain('hunter2');
    expect(JSON.stringify(events)).not.toContain('hunter2');
    const exported = exportCheckpoint(rig.project, result.runId);
    expect(JSON.stringify(exported)).not.toContain('hunter2');
    expect(existsSync(join(rig.root, '.pi/taskflows/runs', result.runId))).toBe(true);
  });

  it('reaches the programs and the agent it is meant for', async () => {
    const phases = [
      { id: 'a', type: 'script', run: ['sh', '-c', 'printf "%s" "$T" | cksum'], env: { T: '{args.token}' } },
      { id: 'b', type: 'script', run: ['cksum'], input: '{args.token}' },
    ];
    const result = await rig.run(flow(phases), { args: { token: SECRET } });
    expect(result.output).toBe(result.phases[0]!.output);
  });

  it('an output that held one is made again, not served masked', async () => {
    const phases = [
      { id: 'a', type: 'script', run: ['bin/tick', 'a', '{args.token}'] },
      { id: 'b', type: 'script', run: ['sh', '-c', 'cat | cksum; test -e ../ok'], input: '{steps.a.output}' },
    ];
    const first = await rig.run(flow(phases), { args: { token: SECRET } });
    rig.write('../ok', '');
    const second = await rig.run(flow(phases), { args: { token: SECRET } });
    expect(second.continues).toBe(first.runId);
    expect(rig.counts()).toEqual({ a: 2 });
    const plain = await rig.run(flow(phases), { args: { token: SECRET }, continuation: { how: 'fresh' } });
    expect(second.output).toBe(plain.output);
    expect(leaks()).toEqual([]);
  });

  it('a side effect that said one is not fired again for that', async () => {
    const phases = [
      { id: 'a', type: 'script', run: ['bin/tick', 'a', '{args.token}'], idempotent: false },
      { id: 'b', type: 'script', run: 'test -e ../ok', dependsOn: ['a'] },
    ];
    await rig.run(flow(phases), { args: { token: SECRET } });
    rig.write('../ok', '');
    expect((await rig.run(flow(phases), { args: { token: SECRET } })).status).toBe('success');
    expect(rig.counts()).toEqual({ a: 1 });
  });

  it('another value is another input', async () => {
    const phases = [
      { id: 'a', type: 'script', run: ['bin/tick', 'a', 'quiet'], env: { T: '{args.token}' } },
      ticking('b'),
      { id: 'end', type: 'script', run: 'exit 1', dependsOn: ['a', 'b'] },
    ];
    await rig.run(flow(phases), { args: { token: SECRET } });
    await rig.run(flow(phases), { args: { token: 'something else' } });
    expect(rig.counts()).toEqual({ a: 2, b: 1 });
    expect(leaks()).toEqual([]);
  });
});
