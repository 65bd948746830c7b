import { describe, expect, it } from 'vitest';
import { check } from './support.js';

async function warnings(phase: object): Promise<readonly string[]> {
  const { diagnostics } = await check({ phases: [{ id: 'a', type: 'script', ...phase }] });
  for (const { code, severity } of diagnostics) expect([severity, code]).toEqual(['warning', 'stream-name']);
  return diagnostics.map(({ message }) => message.split(' ', 1)[0]!);
}

describe('a script that opens a stream by its name is warned of', () => {
  it('in the text of a shell and in an argv, each place', async () => {
    expect(await warnings({ run: 'echo a > /dev/stderr; tee /dev/stdout' })).toEqual(['/dev/stderr', '/dev/stdout']);
    expect(await warnings({ run: ['curl', '-o', '/dev/stdout', 'x'] })).toEqual(['/dev/stdout']);
    expect(await warnings({ run: 'echo a >/dev/fd/2' })).toEqual(['/dev/fd/2']);
  });

  it('of stdin where there is an input', async () => {
    expect(await warnings({ run: 'cat /dev/stdin' })).toEqual([]);
    expect(await warnings({ run: 'cat /dev/stdin', input: 'x' })).toEqual(['/dev/stdin']);
    expect(await warnings({ run: 'cat /dev/fd/0', input: 'x' })).toEqual(['/dev/fd/0']);
  });

  it('and not where it is another file', async () => {
    expect(
      await warnings({ run: 'echo a >&2; cat < /dev/null > /dev/null; ls /dev/fd/22 /dev/stdout.d /dev/stdout/x' }),
    ).toEqual([]);
  });

  it('with its place', async () => {
    const { diagnostics } = await check({ phases: [{ id: 'a', type: 'script', run: 'echo a > /dev/stderr' }] });
    expect(diagnostics[0]).toMatchObject({ length: 11, hint: 'write to stderr itself: `>&2`' });
  });
});
