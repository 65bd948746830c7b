import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
afterEach(() => project?.remove());

/** Everything that means something in Markdown, HTML or XML, and what acts where it is shown. */
const HOSTILE =
  '![x](http://evil.example) <img src=x onerror=alert(1)> | `a` | **b** &lt;script&gt; ~~c~~ ]]> --> \\| $x$ ' +
  '\u202egnp \x1b[31mred\x9b5A';

const FLOW = `name: rows
args: { topic: {} }
phases:
  - id: work
    type: script
    run: |
      printf '%s\\n' "$TOPIC" '\`\`\`' '</pre><script>1</script>' >&2
      exit 1
    env: { TOPIC: "{args.topic}" }
`;

/** Without what is escaped, and without what is in a fence. */
function unescaped(markdown: string): string {
  let fence = '';
  const lines = markdown.split('\n').filter((line) => {
    const ticks = /^(`{3,})$/.exec(line)?.[1] ?? '';
    if (fence === '' && ticks === '') return true;
    if (fence === '') fence = ticks;
    else if (ticks === fence) fence = '';
    return false;
  });
  return lines.join('\n').replaceAll(/\\[\\`*_[\]|#~<>!]/g, '');
}

function harmless(markdown: string): void {
  expect(markdown).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
  const said = unescaped(markdown);
  expect(said).toContain('evil.example');
  expect(said).not.toMatch(/<|!\[|\]\(http|\*\*b|~~c|`a`| b &lt;script/);
  const table = said.split('\n').filter((line) => line.startsWith('|'));
  expect(table.length).toBeGreaterThan(2);
  expect(new Set(table.map((line) => line.split('|').length)).size).toBe(1);
}

describe('hostile names and outputs', () => {
  it('are text in the summary of a job, in the test report and in the summary of a batch', async () => {
    project = createTestProject({ 'flow.yaml': FLOW, 'topics.json': JSON.stringify([{ topic: HOSTILE }]) });
    const env = { CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: join(project.root, 'job.md') };
    const read = (file: string) => readFileSync(join(project.root, file), 'utf8');
    await project.run(['batch', 'flow.yaml', '--over', 'topics.json', '--junit', 'r.xml', '--out', 'out'], { env });
    harmless(read('job.md'));
    harmless(read('out/summary.md'));
    const xml = read('r.xml');
    expect(xml).toContain('evil.example');
    expect(xml).not.toMatch(/<img|<script|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
  });

  it('are text in the summary of a run that failed, whatever fences its output holds', async () => {
    project = createTestProject({ 'flow.yaml': FLOW });
    const env = { CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: join(project.root, 'job.md') };
    await project.run(['run', 'flow.yaml', '--arg', `topic=${HOSTILE}`, '--junit', 'r.xml'], { env });
    const markdown = readFileSync(join(project.root, 'job.md'), 'utf8');
    expect(markdown).toContain('</pre><script>');
    expect(markdown).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
    expect(unescaped(markdown)).not.toMatch(/<script|<img/);
    const xml = readFileSync(join(project.root, 'r.xml'), 'utf8');
    expect(xml).not.toMatch(/<img|<script|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
  });
});
