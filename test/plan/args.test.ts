import { mkdirSync, mkdtempSync, realpathSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ArgSpec } from '../../src/model/flow.js';
import type { JsonValue } from '../../src/model/json.js';
import { bindArgs, suggestArguments } from '../../src/plan/args.js';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'taskflow-args-')));
mkdirSync(join(root, 'src'));
symlinkSync('/', join(root, 'way-out'));

const spec = (part: Partial<ArgSpec>): ArgSpec => ({ type: 'string', required: false, secret: false, ...part });
const bind = (part: Partial<ArgSpec>, given: JsonValue, source?: 'text' | 'json') => {
  const bound = bindArgs({ a: spec(part) }, { a: given }, { root, ...(source && { source }) });
  return 'args' in bound ? bound.args['a'] : bound.problems.map(({ message }) => message).join();
};

describe('arguments', () => {
  it('are converted from the texts of a command line', () => {
    expect(bind({ type: 'number' }, '2.5')).toBe(2.5);
    expect(bind({ type: 'boolean' }, 'yes')).toBe(true);
    expect(bind({ type: 'boolean' }, '0')).toBe(false);
    expect(bind({ type: 'enum', values: [1, 'two'] }, '1')).toBe(1);
    expect(bind({ type: 'json' }, '{"x": [1]}')).toEqual({ x: [1] });
    expect(bind({ type: 'string' }, 5)).toBe('5');
    expect(bind({ untyped: true }, ['kept'])).toEqual(['kept']);
  });

  it('keep a text that already is a JSON value', () => {
    expect(bind({ type: 'json' }, 'plain', 'json')).toBe('plain');
    expect(bind({ type: 'json' }, 'plain')).toMatch(/has to be JSON/);
  });

  it('are refused when they do not fit', () => {
    expect(bind({ type: 'number' }, 'ten')).toMatch(/has to be a number/);
    expect(bind({ type: 'number' }, '0x10')).toMatch(/has to be a number/);
    expect(bind({ type: 'number', minimum: 3 }, '2')).toMatch(/at least 3/);
    expect(bind({ type: 'number', maximum: 3 }, '4')).toMatch(/at most 3/);
    expect(bind({ type: 'boolean' }, 'perhaps')).toMatch(/true or false/);
    expect(bind({ type: 'enum', values: ['a'] }, 'b')).toMatch(/one of a/);
    expect(bind({ type: 'string' }, { a: 1 })).toMatch(/has to be a text/);
  });

  it('as paths stay inside the project, by their letters and through links', () => {
    expect(bind({ type: 'path' }, './src/../src/x.ts')).toBe('src/x.ts');
    expect(bind({ type: 'path' }, join(root, 'src'))).toBe('src');
    expect(bind({ type: 'path' }, '.')).toBe('.');
    for (const path of ['..', '../x', '/etc/passwd', 'src/../../x', 'way-out/etc/passwd', 'way-out', 'a\0b', '']) {
      expect(bind({ type: 'path' }, path), path).toMatch(/^argument "a"/);
    }
  });

  it('report everything at once: unknown, missing, forbidden', () => {
    const given = JSON.parse('{"tpoic": "x", "__proto__": 1, "constructor": 2}') as Record<string, JsonValue>;
    const bound = bindArgs({ topic: spec({ required: true }), with_default: spec({ default: 'd' }) }, given, { root });
    const problems = 'problems' in bound ? bound.problems : [];
    expect(problems.map(({ name }) => name).toSorted()).toEqual(['__proto__', 'constructor', 'topic', 'tpoic']);
    expect(problems.filter(({ message }) => message.includes('not allowed'))).toHaveLength(2);
  });

  it('suggest the nearest name', async () => {
    const specs = { topic: spec({}) };
    const bound = bindArgs(specs, { tpoic: 'x' }, { root });
    const problems = 'problems' in bound ? await suggestArguments(bound.problems, specs) : [];
    expect(problems[0]?.hint).toBe('did you mean "topic"?');
  });

  it('take defaults, and leave out what nobody gave', () => {
    const bound = bindArgs({ a: spec({ default: [1] }), b: spec({}) }, {}, { root });
    expect(bound).toEqual({ args: { a: [1] } });
  });
});
