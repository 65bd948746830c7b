import { describe, expect, it } from 'vitest';
import type { FlagSpec } from '../../src/cli/flags/flag-spec.js';
import { type FlagValues, parseArguments } from '../../src/cli/flags/flags.js';

const specs: readonly FlagSpec[] = [
  { name: 'json', alias: 'j', type: 'boolean', help: '' },
  { name: 'quiet', alias: 'q', type: 'boolean', help: '' },
  { name: 'arg', alias: 'a', type: 'list', value: 'K=V', help: '' },
  { name: 'timeout', type: 'duration', value: 'D', help: '' },
  { name: 'jobs', type: 'number', value: 'N', help: '' },
  { name: 'out', type: 'string', value: 'FILE', help: '' },
  { name: 'resume', type: 'string', value: 'RUN', optionalValue: /^r-/, laterValue: /^\w+$/, help: '' },
  { name: 'format', type: 'string', choices: ['svg', 'dot'], help: '' },
];

function parse(...args: string[]): { flags: FlagValues; positionals: readonly string[] } {
  const parsed = parseArguments(args, specs);
  if ('problem' in parsed) throw new Error(parsed.problem.message);
  return parsed;
}

function problem(...args: string[]): string {
  const parsed = parseArguments(args, specs);
  return 'problem' in parsed ? parsed.problem.message : 'no problem';
}

describe('flags', () => {
  it('takes values after a space, after an equals sign and after a short name', () => {
    for (const args of [['--out', 'a b'], ['--out=a b']]) expect(parse(...args).flags.string('out')).toBe('a b');
    expect(parse('-a', 'x=1', '--arg=y=2=3', '-az=4').flags.list('arg')).toEqual(['x=1', 'y=2=3', 'z=4']);
  });

  it('keeps positionals in order wherever flags stand', () => {
    expect(parse('one', '--json', 'two', '--out', 'f', 'three').positionals).toEqual(['one', 'two', 'three']);
  });

  it('takes everything after -- literally', () => {
    const { flags, positionals } = parse('x', '--', '--json', '-q');
    expect(positionals).toEqual(['x', '--json', '-q']);
    expect(flags.boolean('json')).toBe(false);
  });

  it('reads a single dash and negative numbers as values, not flags', () => {
    expect(parse('-', '-5').positionals).toEqual(['-', '-5']);
    expect(parse('--jobs', '-5').flags.number('jobs')).toBe(-5);
  });

  it('takes grouped short booleans apart', () => {
    const { flags } = parse('-jq');
    expect([flags.boolean('json'), flags.boolean('quiet')]).toEqual([true, true]);
  });

  it('reads durations as milliseconds', () => {
    expect(parse('--timeout', '5m').flags.duration('timeout')).toBe(300_000);
  });

  it('lets a flag with an optional value stand alone before a positional that is no such value', () => {
    const alone = parse('--resume', 'flow.yaml');
    expect(alone.positionals).toEqual(['flow.yaml']);
    expect([alone.flags.has('resume'), alone.flags.string('resume')]).toEqual([true, undefined]);
    expect(parse('--resume', 'r-1', 'flow.yaml').flags.string('resume')).toBe('r-1');
    expect(parse('flow.yaml').flags.has('resume')).toBe(false);
    expect(parse('flow', '--resume', 'part').flags.string('resume')).toBe('part');
    expect(parse('--resume', 'flow').positionals).toEqual(['flow']);
  });

  it.each([
    [['--jsn'], 'unknown flag --jsn'],
    [['-z'], 'unknown flag -z'],
    [['--jobs', 'many'], '--jobs needs a number, not "many"'],
    [['--jobs='], '--jobs needs a number, not ""'],
    [['--timeout', 'soon'], '--timeout needs a duration such as 90s, 5m or 2h, not "soon"'],
    [['--out'], '--out needs a value: --out FILE'],
    [['--out', '--json'], '--out needs a value: --out FILE'],
    [['--json=yes'], '--json takes no value'],
    [['--format', 'png'], '--format is one of svg, dot, not "png"'],
  ])('refuses %j', (args, message) => {
    expect(problem(...args)).toBe(message);
  });

  it('throws when a command asks for a flag that it never declared', () => {
    expect(() => parse().flags.boolean('nope')).toThrow('not declared');
    expect(() => parse().flags.string('json')).toThrow('is a boolean');
  });
});
