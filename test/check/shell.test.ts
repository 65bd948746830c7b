import { describe, expect, it } from 'vitest';
import { codeElements, variableName } from '../../src/check/shell.js';

describe('the elements of an argv that are code', () => {
  it.each([
    [['sh', '-c', 'CODE'], [2]],
    [['/usr/bin/bash', '-euo', 'pipefail', '-c', 'CODE', 'arg'], [4]],
    [['bash', '-lc', 'CODE'], [2]],
    [['bash', '-c', '-e', 'CODE', 'data'], [3]],
    [['bash', '--rcfile', 'x', '-c', 'CODE'], [4]],
    [['fish', '--command=CODE'], [1]],
    [['zsh', '-ic', 'CODE'], [2]],
    [['env', '-u', 'X', 'A=1', 'sh', '-c', 'CODE'], [6]],
    [['env', '-S', 'bash -c CODE'], [2]],
    [['sudo', '-n', 'bash', '-c', 'CODE'], [4]],
    [['timeout', '5', 'sh', '-c', 'CODE'], [4]],
    [['xargs', '-I{}', 'sh', '-c', 'CODE'], [4]],
    [['docker', 'run', 'image', 'sh', '-c', 'CODE'], [5]],
    [['node', '-e', 'CODE'], [2]],
    [['node', '-pe', 'CODE'], [2]],
    [['node', '--eval=CODE'], [1]],
    [['node', '-r', 'x', '-p', 'CODE'], [4]],
    [['deno', 'eval', 'CODE'], [2]],
    [['python3.12', '-c', 'CODE', 'data'], [2]],
    [['python', '-W', 'ignore', '-c', 'CODE'], [4]],
    [['python', '-cCODE'], [1]],
    [['perl', '-ne', 'CODE'], [2]],
    [['ruby', '-eCODE'], [1]],
    [['php', '-r', 'CODE'], [2]],
    [['pwsh', '-Command', 'CODE'], [2]],
    [['cmd', '/c', 'CODE'], [2]],
    [['su', '-c', 'CODE'], [2]],
    [['su', '-', 'alice', '-c', 'CODE'], [4]],
    [['su', '-s', '/bin/sh', '-lc', 'CODE', 'alice'], [4]],
    [['flock', '/tmp/lock', '-c', 'CODE'], [3]],
    [['npx', '-c', 'CODE'], [2]],
    [['npx', '-p', 'x', '--call=CODE'], [3]],
    [['npm', 'exec', '-c', 'CODE'], [3]],
    [
      ['ssh', '-p', '22', 'host', 'CODE', 'CODE'],
      [4, 5],
    ],
    [['watch', '-n', '1', 'CODE'], [3]],
    [['awk', 'CODE', 'file'], [1]],
    [['gawk', '-F', ':', '-v', 'x=data', 'CODE', 'data'], [5]],
    [['mawk', '--', 'CODE'], [2]],
    [
      ['awk', '-e', 'CODE', '-e', 'CODE'],
      [2, 4],
    ],
    [['sed', '-n', 'CODE', 'data'], [2]],
    [
      ['sed', '-e', 'CODE', '-ne', 'CODE', 'data'],
      [2, 4],
    ],
    [['sudo', 'sed', '-i', 'CODE', 'data'], [3]],
    [['find', '.', '-exec', 'sh', '-c', 'CODE', '{}', ';'], [5]],
    [['find', '.', '-exec', 'awk', 'CODE', '{}', '+'], [4]],
    [
      ['perl', '-e', 'CODE', '-e', 'CODE'],
      [2, 4],
    ],
    [
      ['pwsh', '-c', 'CODE', 'CODE'],
      [2, 3],
    ],
    [
      ['eval', 'CODE', 'CODE'],
      [1, 2],
    ],
  ])('%j', (argv, expected) => {
    expect([...codeElements(argv).keys()]).toEqual(expected);
  });

  it.each([
    [['git', 'commit', '-m', 'data']],
    [['bash', 'script.sh', '-c', 'data']],
    [['python3', 'tool.py', '-c', 'data']],
    [['node', 'tool.mjs', '-e', 'data']],
    [['node', 'tool.mjs', 'data']],
    [['grep', '-c', 'data']],
    [['tar', '-c', 'data']],
    [['sh']],
    [['su', 'alice']],
    [['npx', 'eslint', '-c', 'data']],
    [['npm', 'run', 'build', '--', '-c', 'data']],
    [['ssh', 'host']],
    [['ssh', '-i', 'key', 'host']],
    [['watch', '-x', 'ls', 'data']],
    [['awk', '-f', 'program.awk', 'data']],
    [['awk', '-v', 'x=data', '-fprogram.awk', 'data']],
    [['sed', '-f', 'script.sed', 'data']],
    [['sed', '-nf', 'script.sed', 'data']],
    [['apt-get', 'install', 'sed', 'data']],
    [['git', 'log', '--grep', 'awk', 'data']],
    [['node', 'script', '-c', 'data']],
    [['which', 'ssh', 'data', 'data']],
    [['sh', '-c']],
    [[]],
  ])('none in %j', (argv) => {
    expect(codeElements(argv)).toEqual(new Map());
  });
});

describe('what to do about a placeholder in code', () => {
  it.each([
    [['bash', '-c', 'CODE'], 'write "$X"'],
    [['su', '-c', 'CODE'], 'write "$X"'],
    [['node', '-e', 'CODE'], 'read it as process.env.X'],
    [['deno', 'eval', 'CODE'], 'read it as Deno.env.get("X")'],
    [['python3', '-c', 'CODE'], 'read it as os.environ["X"]'],
    [['perl5.36', '-e', 'CODE'], 'read it as $ENV{X}'],
    [['ruby', '-e', 'CODE'], 'read it as ENV["X"]'],
    [['php', '-r', 'CODE'], 'read it as getenv("X")'],
    [['awk', 'CODE'], 'read it as ENVIRON["X"]'],
    [['pwsh', '-c', 'CODE'], 'read it as $env:X'],
  ])('%j: %s', (argv, expected) => {
    expect([...codeElements(argv).values()][0]?.('args.x')).toBe(`pass it by env: { X: "{args.x}" } and ${expected}`);
  });
});

it('what ssh executes gets no variables of ours', () => {
  expect([...codeElements(['ssh', 'host', 'CODE']).values()][0]?.('args.x')).toMatch(
    /^pass it by input: "{args.x}" and /,
  );
});

describe('the name of the variable that carries a value', () => {
  it.each([
    ['steps.scan.output', 'SCAN_OUTPUT'],
    ['args.topic', 'TOPIC'],
    ['item.file-name', 'ITEM_FILE_NAME'],
    ['steps.1st.json.a', 'V_1ST_JSON_A'],
  ])('%s → %s', (placeholder, name) => {
    expect(variableName(placeholder)).toBe(name);
  });
});
