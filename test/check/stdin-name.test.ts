import { describe, expect, it } from 'vitest';
import { check } from './support.js';

async function warnings(phase: object): Promise<readonly string[]> {
  const { diagnostics } = await check({ phases: [{ id: 'a', type: 'script', ...phase }] });
  for (const { code, severity } of diagnostics) expect([severity, code]).toEqual(['warning', 'stream-name']);
  return diagnostics.map(({ message }) => message.split(' ', 1)[0]!);
}

describe('a script that opens its input by name is warned of', () => {
  it('in the text of a shell and in an argv, each place', async () => {
    expect(await warnings({ run: 'cat /dev/stdin; wc < /dev/fd/0', input: 'x' })).toEqual(['/dev/stdin', '/dev/fd/0']);
    expect(await warnings({ run: ['cat', '/dev/stdin'], input: 'x' })).toEqual(['/dev/stdin']);
  });

  it('and not where there is no input, where it is another file, or another stream', async () => {
    expect(await warnings({ run: 'cat /dev/stdin' })).toEqual([]);
    expect(await warnings({ run: 'ls /dev/fd/02 /dev/stdin.d /dev/stdin/x < /dev/null', input: 'x' })).toEqual([]);
    expect(await warnings({ run: 'echo a > /dev/stderr; tee /dev/stdout', input: 'x' })).toEqual([]);
  });

  it('with its place', async () => {
    const phase = { id: 'a', type: 'script', run: 'cat /dev/stdin', input: 'x' };
    const { diagnostics } = await check({ phases: [phase] });
    expect(diagnostics[0]).toMatchObject({ length: 10, hint: expect.stringContaining('read stdin itself') });
  });
});
