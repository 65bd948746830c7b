import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { phaseOf } from '../support/rig.js';
import { createMemoRig, cross, flow, type MemoRig } from './support.js';

let rig: MemoRig;
beforeEach(() => {
  rig = createMemoRig();
});
afterEach(() => rig.remove());

const env = { NAMED: 'n', HIDDEN: 'h', LC_ALL: 'C', TERM: 'dumb', USER: 'u' };
const show = 'printf "%s|%s|%s|%s" "$NAMED" "$HIDDEN" "$OWN" "$TERM"';
const script = (cache: object | undefined, more: object = {}) => ({
  id: 'a',
  type: 'script',
  run: show,
  env: { OWN: 'o' },
  ...(cache && { cache }),
  ...more,
});

describe('the environment of scripts', () => {
  it('a cross-run script sees a fixed small environment, its own map and what it named', async () => {
    const result = await rig.runAs({ env }, flow([script(cross(['env:NAMED']))]));
    expect(result.output).toBe('n||o|dumb');
    const names = await rig.runAs({ env }, flow([script(cross(), { run: 'env | cut -d= -f1 | sort | tr "\\n" " "' })]));
    const allowed = ['HOME', 'LANG', 'OLDPWD', 'OWN', 'PATH', 'PWD', 'SHLVL', 'TERM', '_'];
    // One name is how survivors of a killed run are recognised.
    const seen = names.output
      .trim()
      .split(' ')
      .filter((name) => !name.startsWith('TASKFLOW_'));
    expect(seen.filter((name) => !allowed.includes(name))).toEqual([]);
  });

  it('so an undeclared variable cannot make a hit stale: it is not seen in the first place', async () => {
    await rig.runAs({ env }, flow([script(cross())]));
    const other = await rig.runAs({ env: { ...env, HIDDEN: 'changed' } });
    expect(phaseOf(other, 'a').cacheHit).toBe('cross-run');
    expect(other.output).toBe('||o|dumb');
  });

  it('what is in no key is the same for everybody: language, terminal, user, shell, places', async () => {
    const seen = 'bin/note a; printf "%s|%s|%s|%s|%s|%s" "$LANG" "$LC_ALL$LC_TIME" "$TERM" "$USER" "$TMPDIR" "$SHELL"';
    const phases = flow([{ id: 'a', type: 'script', run: seen, cache: cross() }]);
    const mine = {
      LANG: 'de_DE.UTF-8',
      LC_ALL: 'C',
      LC_TIME: 'C',
      TERM: 'xterm',
      USER: 'u',
      TMPDIR: '/var/tmp',
      SHELL: 'z',
    };
    const first = await rig.runAs({ env: mine }, phases);
    expect(first.output).toBe('C.UTF-8||dumb|||');
    const yours = Object.fromEntries(Object.keys(mine).map((name) => [name, undefined]));
    const other = await rig.runAs({ env: yours }, phases);
    expect(phaseOf(other, 'a').cacheHit).toBe('cross-run');
    const fresh = await rig.runAs({ env: yours }, phases, { reuse: 'off' });
    expect(fresh.output).toBe(first.output);
  });

  it('a script that names one of them sees the real one, and it decides', async () => {
    const phases = flow([{ id: 'a', type: 'script', run: 'printf "%s" "${LANG-unset}"', cache: cross(['env:LANG']) }]);
    for (const value of ['de_DE.UTF-8', 'fr_FR.UTF-8', undefined]) {
      const result = await rig.runAs({ env: { LANG: value } }, phases);
      expect(result.output).toBe(value ?? 'unset');
      expect(phaseOf(result, 'a').cacheHit).toBeFalsy();
    }
  });

  it('a named variable decides, set, empty and unset apart', async () => {
    const phases = flow([
      { id: 'a', type: 'script', run: 'bin/note a; printf "%s" "${NAMED-unset}"', cache: cross(['env:NAMED']) },
    ]);
    for (const [value, output] of [
      ['x', 'x'],
      ['', ''],
      [undefined, 'unset'],
    ] as const) {
      rig.forget();
      expect((await rig.runAs({ env: { NAMED: value } }, phases)).output).toBe(output);
      expect(rig.counts()).toEqual({ a: 1 });
      await rig.runAs({ env: { NAMED: value } });
      expect(rig.counts()).toEqual({ a: 1 });
    }
  });

  it('a run-only script sees everything', async () => {
    expect((await rig.runAs({ env }, flow([script(undefined)]))).output).toBe('n|h|o|dumb');
  });

  it('the same with --no-cache: a script does not find other variables when nothing is kept', async () => {
    const result = await rig.runAs({ env }, flow([script(cross(['env:NAMED']))]), { reuse: 'off' });
    expect(result.output).toBe('n||o|dumb');
  });

  it('a variable whose name is an item is seen by that item alone', async () => {
    const map = {
      id: 'a',
      type: 'map',
      over: ['NAMED', 'HIDDEN'],
      run: show,
      env: { OWN: '{item}' },
      cache: cross(['env:{item}']),
    };
    const result = await rig.runAs({ env }, flow([map]));
    expect(result.json).toEqual(['n||NAMED|dumb', '|h|HIDDEN|dumb']);
  });

  it('branches and items are held to the same', async () => {
    const branches = [
      { id: 'x', run: show },
      { id: 'y', run: show },
    ];
    const result = await rig.runAs(
      { env },
      flow([{ id: 'p', type: 'parallel', branches, cache: cross(['env:NAMED']) }]),
    );
    expect(result.json).toEqual({ x: 'n|||dumb', y: 'n|||dumb' });
  });
});

describe('hostile text is data', () => {
  const attacks = [
    '$(touch pwned)',
    '`touch pwned`',
    '; touch pwned',
    '" && touch pwned && "',
    "' ; touch pwned ; '",
    '\n touch pwned\n',
    '| touch pwned',
    '--flag',
    '${IFS}touch${IFS}pwned',
    '*',
    '~',
    '{args.evil}',
    '{steps.say.output}',
  ];
  const pwned = () => existsSync(join(rig.root, 'pwned'));

  it.each(attacks)(
    '%j arrives as it is from an argument, an upstream output and an item: in argv, stdin and environment',
    async (text) => {
      rig.write('attack', text);
      const phases = [
        { id: 'say', type: 'script', run: ['cat', 'attack'] },
        { id: 'argv', type: 'script', run: ['printf', '%s', '{steps.say.output}', '{args.evil}'], cache: cross() },
        { id: 'stdin', type: 'script', run: 'cat', input: '{steps.say.output}{args.evil}', cache: cross() },
        {
          id: 'env',
          type: 'script',
          run: 'printf %s "$A$B"',
          env: { A: '{steps.say.output}', B: '{args.evil}' },
          cache: cross(),
        },
        {
          id: 'items',
          type: 'map',
          over: [text],
          run: ['printf', '%s', '{item}'],
          cache: cross([`cmd:printf %s {item}`]),
        },
        {
          id: 'branch',
          type: 'parallel',
          branches: [{ id: 'b', run: ['printf', '%s', '{steps.say.output}'] }],
          cache: cross(),
        },
      ];
      // A literal item may hold placeholders; a brace of one is doubled to stay text.
      phases[4] = { ...phases[4], over: [text.replace(/^\{(.*)\}$/, '{{$1}}')] } as never;
      const said = text.replace(/[\r\n]+$/, '');
      for (let i = 0; i < 2; i++) {
        const result = await rig.run(flow(phases, { args: { evil: {} } }), { args: { evil: text } });
        expect(result.status).toBe('success');
        expect(phaseOf(result, 'argv').output).toBe(`${said}${said}`);
        expect(phaseOf(result, 'stdin').output).toBe(`${said}${said}`);
        expect(phaseOf(result, 'env').output).toBe(`${said}${said}`);
        expect(phaseOf(result, 'items').json).toEqual([said]);
        expect(phaseOf(result, 'branch').json).toEqual({ b: said });
        expect(pwned()).toBe(false);
      }
    },
  );
});
