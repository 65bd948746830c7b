import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';

/** An agent does what texts from anywhere tell it to: it does not see every token of the shell. */

let project: TestProject;
beforeEach(() => {
  project = createTestProject({ 'flow.yaml': 'phases:\n  - { id: ask, task: hello }\n' });
});
afterEach(() => project.remove());

const SECRETS = {
  AWS_SECRET_ACCESS_KEY: 'x',
  GITHUB_TOKEN: 'x',
  SSH_AUTH_SOCK: '/x',
  NPM_TOKEN: 'x',
  DATABASE_URL: 'x',
  LD_PRELOAD_NOTE: 'x',
  TASKFLOW_SAFE_PROJECTS: '/nowhere',
};
const CLIENT_KEYS = {
  ANTHROPIC_API_KEY: 'a',
  OPENAI_API_KEY: 'o',
  CODEX_HOME: '/c',
  PI_OFFLINE: '1',
  CLAUDE_CONFIG_DIR: '/d',
  GROQ_API_KEY: 'g',
};
const PLAIN = {
  USER: 'u',
  LANG: 'C',
  LC_TIME: 'C',
  TERM: 'dumb',
  SHELL: '/bin/sh',
  XDG_DATA_HOME: '/x',
  TMPDIR: '/tmp',
};

/** What a runner's program sees, by name; without what a shell sets itself. */
async function seen(runner: object, env: Record<string, string> = {}): Promise<string[]> {
  project.write('.pi/taskflows/config.yaml', JSON.stringify({ runner: 'it', runners: { it: runner } }));
  await project.run(['run', 'flow.yaml', '--no-cache', '--fresh'], {
    env: { ...PLAIN, ...SECRETS, ...CLIENT_KEYS, ...env },
  });
  const { readFileSync } = await import('node:fs');
  const text = readFileSync(join(project.root, 'seen'), 'utf8');
  return text.split('\n').flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? []);
}

const program = () => {
  project.write('agent.sh', `#!/bin/sh\ncat > /dev/null\nenv > ${join(project.root, 'seen')}\necho answer\n`, 0o755);
  return './agent.sh';
};
const of = (names: readonly string[], group: object) => names.filter((name) => name in group).sort();

describe('a command', () => {
  it('is given a plain few, and nothing that it does not name', async () => {
    const names = await seen({ command: [program()] });
    expect(of(names, PLAIN)).toEqual(Object.keys(PLAIN).sort());
    expect(names).toEqual(expect.arrayContaining(['PATH', 'HOME', 'TASKFLOW_RUN']));
    expect(of(names, { ...SECRETS, ...CLIENT_KEYS })).toEqual([]);
  });

  it('is given what its settings name', async () => {
    const names = await seen({ command: [program()], env: ['GITHUB_TOKEN', 'NOT_SET'] });
    expect(of(names, { ...SECRETS, ...CLIENT_KEYS })).toEqual(['GITHUB_TOKEN']);
    expect(names).not.toContain('NOT_SET');
  });
});

describe('a built-in client', () => {
  it.each([
    ['pi', {}, ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'PI_OFFLINE']],
    ['pi', { provider: 'groq' }, ['ANTHROPIC_API_KEY', 'GROQ_API_KEY', 'OPENAI_API_KEY', 'PI_OFFLINE']],
    ['claude', {}, ['ANTHROPIC_API_KEY', 'CLAUDE_CONFIG_DIR']],
    ['codex', {}, ['CODEX_HOME', 'OPENAI_API_KEY']],
    ['codex', { env: ['AWS_SECRET_ACCESS_KEY'] }, ['AWS_SECRET_ACCESS_KEY', 'CODEX_HOME', 'OPENAI_API_KEY']],
  ])('%s %j is given its own as well', async (type, more, own) => {
    const names = await seen({ type, command: [program()], ...more }, { HTTPS_PROXY: 'http://proxy' });
    expect(of(names, { ...SECRETS, ...CLIENT_KEYS })).toEqual(own);
    expect(names).toContain('HTTPS_PROXY');
  });

  it('is asked for its version with no more than that', async () => {
    const script = `#!/bin/sh\ncat > /dev/null\nenv > ${join(project.root, 'seen')}\necho 1.2.3\nexit 1\n`;
    project.write('pinned.sh', script, 0o755);
    const names = await seen({ type: 'pi', command: ['./pinned.sh'], pinVersion: true });
    expect(of(names, SECRETS)).toEqual([]);
  });
});
