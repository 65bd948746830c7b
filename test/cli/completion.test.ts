import { spawn, spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLI, cliEnvironment, createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
beforeEach(() => {
  project = createTestProject({
    '.pi/taskflows/audit.yaml': FLOW,
    '.pi/taskflows/config.yaml': 'runners:\n  local: { command: [cat] }\n',
    'flows/other.yaml': FLOW,
    'topics.txt': 'a\n',
    'bin/taskflow': `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`,
  });
  project.write('bin/taskflow', `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`, 0o755);
});
afterEach(() => project.remove());

const FLOW = `name: audit
args: { topic: { required: true }, style: { type: enum, values: [short, long], default: short } }
phases:
  - { id: collect, type: script, run: [echo, "{args.topic}"] }
  - { id: report, type: script, run: [echo, "{steps.collect.output}"] }
`;

async function candidates(...words: string[]): Promise<string[]> {
  const { status, stdout, stderr } = await project.run(['__complete', ...words]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0]!]));
}

describe('what a shell is offered', () => {
  it.each([
    [['ru'], ['run', 'runs']],
    [
      ['cache', 's'],
      ['status', 'show'],
    ],
    [
      ['run', 'au'],
      ['audit', ':files'],
    ],
    [
      ['run', 'flows/'],
      ['flows/other.yaml', ':files'],
    ],
    [
      ['run', 'audit', '--only', ''],
      ['collect', 'report'],
    ],
    [
      ['run', 'audit', '--runner', ''],
      ['pi', 'claude', 'codex', 'local'],
    ],
    [
      ['run', 'audit', ''],
      ['topic=', 'style='],
    ],
    [
      ['run', 'audit', 'style='],
      ['style=short', 'style=long'],
    ],
    [
      ['run', 'audit', '--fr'],
      ['--fresh', '--from', '--frozen'],
    ],
    [['batch', 'audit', '--over', 'to'], [':files']],
    [['batch', 'audit', '--format', 'c'], ['csv']],
    [['explain', 'audit', 're'], ['report']],
    [
      ['config', 'set', 'cache.max'],
      ['cache.maxBytes', 'cache.maxEntries', 'cache.maxAge'],
    ],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['nonsense', 'x'], []],
    [['run', 'no-such-flow', '--only', ''], []],
  ])('%j', async (words, expected) => expect(await candidates(...words)).toEqual(expected));

  it('runs by their ids, the last one first', async () => {
    expect(await candidates('runs', 'show', '')).toEqual([]);
    const { runId } = JSON.parse((await project.run(['run', 'audit', 'topic=x', '--json'])).stdout);
    expect(await candidates('runs', 'show', '')).toEqual(['last', runId]);
    expect(await candidates('run', 'audit', '--resume', '')).toEqual(['last', runId]);
  });
});

const hasBash = spawnSync('bash', ['--version']).status === 0 && spawnSync('script', ['--version']).status === 0;

/**
 * Types a line and the tab key into a real, interactive bash. Returns what the line came to, as bash itself says it.
 */
async function typedIntoBash(line: string, completed: string): Promise<string> {
  const child = spawn('script', ['-qefc', 'bash --norc --noprofile -i', '/dev/null'], {
    cwd: project.root,
    env: {
      ...cliEnvironment(project.root),
      PATH: `${project.root}/bin:${process.env['PATH']}`,
      TERM: 'dumb',
      PS1: '> ',
    } as NodeJS.ProcessEnv,
  });
  let screen = '';
  const until = async (text: string) => {
    for (let waited = 0; !screen.includes(text) && waited < 20_000; waited += 20) await sleep(20);
  };
  child.stdout.on('data', (chunk: Buffer) => {
    screen += chunk.toString('utf8');
  });
  child.stdin.write('eval "$(taskflow completion bash)"; complete -p taskflow\n');
  await until('complete -F _taskflow');
  screen = '';
  // Home, a command that only prints, End of line: the words as they would have been run.
  child.stdin.write(`${line}\t`);
  await until(completed);
  child.stdin.write('\x01printf "<%s>" \x05; echo; exit\n');
  await new Promise((resolve) => child.on('close', resolve));
  return /(<taskflow>.*)\r?\n/.exec(screen)?.[1]?.trim() ?? screen;
}

describe.skipIf(!hasBash)('in a real bash', () => {
  it.each([
    ['taskflow compl', '<taskflow><completion>'],
    ['taskflow run aud', '<taskflow><run><audit>'],
    ['taskflow run audit --only col', '<taskflow><run><audit><--only><collect>'],
    ['taskflow run audit top', '<taskflow><run><audit><topic=>'],
    ['taskflow run audit style=l', '<taskflow><run><audit><style=long>'],
    ['taskflow batch audit --over top', '<taskflow><batch><audit><--over><topics.txt>'],
  ])('%s', async (line, words) => {
    const completed = words.slice(1, -1).split('><').join(' ');
    expect(await typedIntoBash(line, completed)).toBe(words);
  });
});

it('an unknown shell is refused with the ones there are', async () => {
  const { status, stderr } = await project.run(['completion', 'bsh']);
  expect(status).toBe(2);
  expect(stderr).toContain('bash, zsh, fish');
  expect(stderr).toContain('did you mean bash?');
});
