import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ModelServer, startModelServer } from '../support/model-server.js';
import { createRepository, localModel, type Repository, resultOf } from './support.js';

let server: ModelServer;
let repository: Repository;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
afterEach(() => {
  repository?.remove();
  server.reset();
});

const config = () => ({
  '.pi/taskflows/config.yaml': localModel(server.url, 'scripted'),
});

describe('topic-research', () => {
  const prompts = (text: string) => server.callsWith(text).length;

  it('writes an article per topic, pays for the method once, and pays for a new topic only', async () => {
    repository = createRepository('topic-research.yaml', {
      ...config(),
      'topics.txt': 'Tides\nDunes\nSalt marshes\nSea level\n',
    });
    server.script = ({ prompt }) => {
      if (prompt.includes('as a JSON list of texts')) return { text: '["What drives it?", "Who is affected?"]' };
      if (prompt.includes('Write one article')) return { text: `# ${/about "(.*?)"/.exec(prompt)?.[1]}\n\nArticle.` };
      return { text: prompt.includes('Question:') ? 'An answer.' : 'Be brief.' };
    };
    const args = ['batch', 'flows/topic-research.yaml', '--over', 'topics.txt', '--out', 'research', '--jobs', '4'];
    const first = await repository.run([...args, '--json']);
    expect(first.status).toBe(0);
    expect(prompts('In at most ten lines')).toBe(1);
    expect(prompts('as a JSON list of texts')).toBe(4);
    expect(prompts('Question:')).toBe(8);
    expect(prompts('Write one article')).toBe(4);
    expect(readFileSync(join(repository.root, 'research/salt-marshes.md'), 'utf8')).toBe(
      '# Salt marshes\n\nArticle.\n',
    );
    expect(JSON.parse(first.stdout)).toMatchObject({ done: 4, spent: { usd: null, tokens: 17 * 160 } });

    repository.write('topics.txt', 'Lagoons\nTides\nDunes\nSalt marshes\nSea level\n');
    const before = server.calls.length;
    const second = await repository.run([...args, '--json']);
    expect(JSON.parse(second.stdout)).toMatchObject({ done: 5, reused: 4 });
    expect(server.calls.length - before).toBe(4);
    expect(existsSync(join(repository.root, 'research/lagoons.md'))).toBe(true);
  });
});

describe('code-review', () => {
  const run = async (...args: string[]) => {
    const { status, stdout } = await repository.run(['run', 'flows/code-review.yaml', ...args, '--json']);
    return { status, result: resultOf(stdout) };
  };
  const reviewed = (path: string) => server.callsWith(`Review this change of ${path}.`).length;

  it('reviews each changed file once, sums up, passes or blocks; after another edit, that file only', async () => {
    repository = createRepository('code-review.yaml', { ...config(), 'a.js': 'a();\n', 'b.js': 'b();\n', 'c.js': '' });
    repository.write('a.js', 'a(1);\n');
    repository.write('b.js', 'b(1);\n');
    repository.commit('fix: arguments');
    server.script = ({ prompt }) => {
      if (prompt.includes('findings of a code review')) return { text: '## Before merging\nFix it.' };
      const serious = prompt.includes('+b(666)');
      return { text: serious ? '[{"line":1,"severity":"serious","problem":"666"}]' : '[]' };
    };
    const first = await run();
    expect(first.status).toBe(0);
    expect(first.result.output).toContain('2 files reviewed: 0 serious, 0 minor.');
    expect([reviewed('a.js'), reviewed('b.js'), reviewed('c.js')]).toEqual([1, 1, 0]);

    repository.write('b.js', 'b(666);\n');
    const second = await run();
    expect(second.status).toBe(3);
    expect([reviewed('a.js'), reviewed('b.js')]).toEqual([1, 2]);
    const report = readFileSync(join(repository.root, 'code-review/report.md'), 'utf8');
    expect(report).toContain('2 files reviewed: 1 serious, 0 minor.');
    expect(report).toContain('## Before merging');
  });

  it('passes without asking anybody when nothing changed', async () => {
    repository = createRepository('code-review.yaml', config());
    const { status, result } = await run('base=HEAD');
    expect(status).toBe(0);
    expect(result.output).toContain('0 files reviewed');
    expect(server.calls).toHaveLength(0);
  });
});
