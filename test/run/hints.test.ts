import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRig, type Rig } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const flow = (phases: object[]) => ({ name: 'hints', phases });

describe('a failure says what to do about it', () => {
  it('a placeholder without a value, where the flow is strict', async () => {
    const strict = (run: string[]) => ({
      ...flow([
        { id: 'a', type: 'script', run: ['echo', '{}'], output: 'json' },
        { id: 'b', type: 'script', run },
      ]),
      args: { given: {} },
      strictInterpolation: true,
    });
    const argument = await rig.run(strict(['echo', '{args.given}']));
    expect(argument.error).toMatchObject({ phase: 'b', code: 'unresolved', message: 'no value for {args.given}' });
    expect(argument.error?.hint).toContain('--arg given=');
    const output = await rig.run(strict(['echo', '{steps.a.json.x}']));
    expect(output.error?.message).toBe('no value for {steps.a.json.x}');
    expect(output.error?.hint).toContain('taskflow trace');
  });

  it('words where JSON was promised: by a command, by an agent', async () => {
    const command = await rig.run(flow([{ id: 'a', type: 'script', run: ['echo', 'words'], output: 'json' }]));
    expect(command.error).toMatchObject({ code: 'not-json', hint: expect.stringContaining('command print JSON') });
    const agent = await rig.run(flow([{ id: 'a', type: 'agent', task: 'SAY: words', output: 'json' }]));
    expect(agent.error).toMatchObject({ code: 'not-json', hint: expect.stringContaining('Say in the task') });
  });
});
