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
    [
      ['eval', 'CODE', 'CODE'],
      [1, 2],
    ],
  ])('%j', (argv, expected) => {
    expect(codeElements(argv)).toEqual(expected);
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
    [['sh', '-c']],
    [[]],
  ])('none in %j', (argv) => {
    expect(codeElements(argv)).toEqual([]);
  });
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
