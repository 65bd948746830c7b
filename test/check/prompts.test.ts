import { describe, expect, it } from 'vitest';
import { check } from './support.js';

/** Texts with braces as prompts have them. None of them is meant as a placeholder. */
const PROMPTS: readonly string[] = [
  'Answer with {"topic": "x", "steps": [{"output": 1}]}',
  'Answer with { "args": { "topic": "cats" } } and nothing else',
  'Answer with {topic: string, score: number}',
  'A list like [{ name: x }, { name: y }]',
  '{"nested": {"a": {"b": {}}}}',
  'body { color: red; } .item { margin: 0 } @media print { .steps { display: none } }',
  'a{color:red}b{margin:0}',
  'function topicOf({ topic }) { return topic }',
  "import { topic } from './topic.js'; export { scan }",
  'const { topic, scan } = await load();',
  'echo ${topic} and ${HOME} and ${step.scan}',
  'if (x) {return} else {break}',
  'print(f"{name} has {count} entries and {user.email}")',
  '<Item title={props.title} onClick={() => {go()}} style={{ color: "red" }} />',
  '<p>{title}</p><li>{entry.name}</li>',
  'Vue says {{ message }}, Handlebars {{#each rows}}{{this.name}}{{/each}}, Jinja {{ user.name }}',
  'GitHub says ${{ secrets.TOKEN }} and ${{ github.ref }}',
  String.raw`\section{topic} \cite{scan} \frac{a}{b} $x_{i}$`,
  'A pattern: /^[a-z]{2,3}\\d{4}$/u and \\p{L}',
  'Files: src/{a,b}/*.{ts,tsx}, and {} and { }',
  'GET /users/{id}/posts/{postId}, and {userId}',
  'struct Point { x: f64 } impl Point { fn new() -> Self {Self{x:0.0}} }',
  "awk '{print $1}' file; find . -exec ls {} ;",
  'SELECT {fn NOW()}; LOG {level} {message.text}',
  'The text of a placeholder is {{steps.scan.output}} or {{args.topic}} or {{item.name}}',
  'Sets: {1, 2, 3}, {x | x > 0}, {stem}, {stop}, {arms.length}, {loops}',
];

const FIELDS = ['odd-placeholder', 'bad-placeholder', 'unknown-step', 'unknown-arg', 'no-item'];

describe('braces that are no placeholders raise no alarm', () => {
  it.each(PROMPTS)('%s', async (text) => {
    const flow = {
      name: 'prompts',
      args: { topic: { default: 'cats' } },
      phases: [
        { id: 'scan', task: text },
        { id: 'each', type: 'map', over: ['a'], as: 'file', task: `{file}: ${text}`, systemPrompt: text },
        { id: 'last', type: 'loop', task: text, maxIterations: 2 },
        { id: 'stdin', type: 'script', run: ['cat'], input: text },
      ],
    };
    const { diagnostics } = await check(flow);
    expect(diagnostics.filter(({ code }) => FIELDS.includes(code)).map(({ message }) => message)).toEqual([]);
  });

  it('but the same names in the same text do where they are meant', async () => {
    const { diagnostics } = await check({
      name: 'prompts',
      args: { topic: { default: 'cats' } },
      phases: [{ id: 'scan', task: 'Write {"about": {topic}}' }],
    });
    expect(diagnostics.map(({ hint }) => hint)).toEqual(['did you mean {args.topic}?']);
  });

  it('but a placeholder of something that is there does, when its brace is missing', async () => {
    const task =
      'About {args.topic, from {steps.scan.output || "x"} and {steps.scan.json.files\nthen {steps.gone.output ';
    const { diagnostics } = await check({
      name: 'prompts',
      args: { topic: { default: 'cats' } },
      phases: [
        { id: 'scan', task: 'x' },
        { id: 'last', task },
      ],
    });
    expect(diagnostics.map(({ message, hint }) => [message.split(' is ')[0], hint?.split('?')[0]])).toEqual([
      ['{args.topic', 'did you mean {args.topic}'],
      ['{steps.scan.output', 'did you mean {steps.scan.output}'],
      ['{steps.scan.json.files', 'did you mean {steps.scan.json.files}'],
    ]);
  });
});

it('a loop may name its iteration in what it reads and writes', async () => {
  const loop = {
    id: 'again',
    type: 'loop',
    task: 'Go on.',
    until: '{loop.iteration} > 2',
    context: ['notes/{loop.iteration}.md'],
    outputs: ['out/{loop.iteration}.md'],
    cache: { scope: 'cross-run', fingerprint: ['file:in/{loop.iteration}.md'] },
  };
  const { diagnostics } = await check(JSON.stringify({ name: 'loops', phases: [loop] }));
  expect(diagnostics.filter(({ code }) => code === 'no-loop')).toEqual([]);
});
