import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { localModel } from '../flows/support.js';
import { createTestProject, type TestProject } from '../support/cli.js';

/** A flow with a map, a result that is not kept, and a gate that asks a model each time. */
export const FLOW = `name: review
args: { tone: { default: plain } }
phases:
  - id: files
    type: script
    run: [node, -p, 'JSON.stringify(require("fs").readdirSync("src"))']
    output: json
  - id: notes
    type: map
    over: "{steps.files.json}"
    as: file
    task: "Note {file} in a {args.tone} tone."
    context: ["src/{file}"]
    cache: { scope: cross-run, fingerprint: ["file:src/{file}"] }
  - id: summary
    final: true
    task: "Sum up: {steps.notes.output}"
    cache: false
  - id: gate
    type: gate
    task: "Is this good? End with VERDICT: PASS or VERDICT: BLOCK. {steps.summary.output}"
`;

export const TEST = `flow: ./review.yaml
cases:
  - name: two files
    expect:
      output: a.txt
      phases: { gate: { status: done }, notes: { matches: "^b.txt: two$" } }
      executed: [files, notes, summary, gate]
      calls: 4
  - name: an edit costs one note
    after: two files
    edit: { src/b.txt: "three" }
    expect:
      executed: [files, "notes[b.txt]", summary, gate]
      reused: ["notes[a.txt]"]
      calls: 3
`;

export function createReview(url: string, more: Readonly<Record<string, string>> = {}): TestProject {
  return createTestProject({
    '.pi/taskflows/config.yaml': localModel(url, 'scripted'),
    'src/a.txt': 'one',
    'src/b.txt': 'two',
    'flows/review.yaml': FLOW,
    'flows/review.test.yaml': TEST,
    ...more,
  });
}

/** What the scripted model says to each. */
export function answer({ prompt }: { readonly prompt: string }): { text: string } {
  if (prompt.includes('VERDICT')) return { text: 'VERDICT: PASS' };
  if (prompt.startsWith('Sum up')) return { text: prompt.replace('Sum up: ', '# Summary\n') };
  const [, file] = /Note (\S+) in/.exec(prompt) ?? [];
  const [, content] = /<file [^>]*>\n([\s\S]*?)\n<\/file>/.exec(prompt) ?? [];
  return { text: `${file}: ${content?.trim()}` };
}

export function recordingsOf({ root }: TestProject, flow = 'review'): Record<string, string> {
  const folder = join(root, 'flows/recordings', flow);
  return Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
}
