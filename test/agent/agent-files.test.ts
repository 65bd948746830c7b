import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findAgent } from '../../src/agent/agent-files.js';
import { BUILTIN_AGENTS } from '../../src/agent/builtin-agents.js';
import { parseFrontMatter } from '../../src/agent/front-matter.js';

function makeProject(files: Readonly<Record<string, string>>) {
  const base = mkdtempSync(join(tmpdir(), 'taskflow-agents-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, name)), { recursive: true });
    writeFileSync(join(base, name), text);
  }
  return { root: join(base, 'project'), home: join(base, 'home') };
}

const head = (fields: string, body = 'You are it.') => `---\n${fields}\n---\n\n${body}\n`;

describe('agent files', () => {
  it('are read: head and body', () => {
    const project = makeProject({
      'project/.pi/agents/mine.md': head(
        'name: mine\ndescription: "Does it"\ntools: read, grep\nmodel: m1 # cheap\nthinking: high',
      ),
    });
    expect(findAgent(project, 'mine', { scope: 'both' })).toMatchObject({
      agent: {
        name: 'mine',
        description: 'Does it',
        tools: ['read', 'grep'],
        model: 'm1',
        thinking: 'high',
        systemPrompt: 'You are it.',
      },
    });
  });

  it('of the project come before those of the user, and those before the built-in ones', () => {
    const project = makeProject({
      'project/.pi/agents/reviewer.md': 'project',
      'home/.pi/agent/agents/reviewer.md': 'user',
      'home/.pi/agent/agents/writer.md': 'user',
    });
    const prompt = (name: string, scope: 'both' | 'user' | 'project') => {
      const found = findAgent(project, name, { scope });
      return 'agent' in found ? found.agent.systemPrompt : found.problem;
    };
    expect(prompt('reviewer', 'both')).toBe('project');
    expect(prompt('reviewer', 'user')).toBe('user');
    expect(prompt('writer', 'both')).toBe('user');
    expect(prompt('writer', 'project')).toBe(BUILTIN_AGENTS.get('writer')!.systemPrompt);
  });

  it('may be named by their head when the file is called otherwise', () => {
    const project = makeProject({ 'project/.pi/agents/file.md': head('name: other', 'Hi.') });
    expect(findAgent(project, 'other', { scope: 'both' })).toMatchObject({ agent: { systemPrompt: 'Hi.' } });
    expect(findAgent(project, 'file', { scope: 'both' })).toMatchObject({ agent: { name: 'file' } });
  });

  it('that are not there are a problem with the names that are', () => {
    const project = makeProject({ 'project/.pi/agents/mine.md': 'x' });
    const found = findAgent(project, 'mien', { scope: 'both' });
    expect('known' in found && found.known).toEqual(expect.arrayContaining(['mine', 'reviewer']));
  });

  it.each(['../../etc/passwd', '/etc/passwd', 'a/b', 'a\\b', '', '__proto__', 'constructor', 'a\0b', 'x'.repeat(200)])(
    'are never looked for outside their folder: %j',
    (name) => {
      expect(findAgent(makeProject({}), name, { scope: 'both' })).toHaveProperty('problem');
    },
  );

  it('outside their folder are not agents, even where a file is', () => {
    const project = makeProject({ 'project/.pi/secret.md': 'x', 'project/.pi/agents/sub/inner.md': 'x' });
    for (const name of ['../secret', 'sub/inner', './sub/inner']) {
      expect(findAgent(project, name, { scope: 'both' })).toHaveProperty('problem');
    }
  });

  it('that cannot be read say which line', () => {
    const project = makeProject({ 'project/.pi/agents/bad.md': head('name: bad\n%%%') });
    expect(findAgent(project, 'bad', { scope: 'both' })).toMatchObject({ problem: expect.stringContaining('line 3') });
  });

  it('are there under all the names that flows use, in the older spelling too', () => {
    const project = makeProject({});
    const names =
      'analyst critic doc-writer executor executor-code executor-fast executor-ui final-arbiter plan-arbiter planner ' +
      'recover reviewer risk-reviewer scout security-reviewer test-engineer verifier visual-explorer writer ' +
      'researcher explorer';
    for (const name of names.split(' ')) {
      expect(findAgent(project, name, { scope: 'both' })).toMatchObject({
        agent: { systemPrompt: expect.stringMatching(/.{40}/) },
      });
    }
    expect(findAgent(project, 'executor_code', { scope: 'both' })).toHaveProperty('agent');
  });
});

describe('the head of an agent file', () => {
  it.each([
    ['tools: [read, "a b", \'c\']', ['read', 'a b', 'c']],
    ['tools:\n  - read\n  - grep', ['read', 'grep']],
    ['tools: "one"', 'one'],
    ['tools: >\n  a\n  b', 'a b'],
    ['tools: |\n  a\n  b', 'a\nb'],
    ["tools: 'it''s'", "it's"],
    ['tools: a: b', 'a: b'],
  ])('%j', (fields, expected) => {
    const parsed = parseFrontMatter(head(fields));
    expect('fields' in parsed && parsed.fields.get('tools')).toEqual(expected);
  });

  it('is not needed, and Windows line ends are fine', () => {
    expect(parseFrontMatter('Just text')).toEqual({ fields: new Map(), body: 'Just text' });
    expect(parseFrontMatter('---\nopen but never closed')).toMatchObject({ body: '---\nopen but never closed' });
    const parsed = parseFrontMatter('---\r\nname: x\r\n---\r\nbody');
    expect('fields' in parsed && [parsed.fields.get('name'), parsed.body]).toEqual(['x', 'body']);
  });
});
