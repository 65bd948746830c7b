/** The cases that `taskflow new` writes beside a flow, by the name of its template. */
const CASES: Readonly<Record<string, string>> = {
  script: `
  - name: every file is counted
    files: { example/one.txt: "1\\n", example/two.txt: "1\\n2\\n" }
    expect: { output: { contains: [example/one.txt, example/two.txt] } }

  - name: nothing changed, nothing runs
    after: every file is counted
    expect: { executed: [], reused: [list, count] }

  - name: an edit counts again
    after: every file is counted
    edit: { example/two.txt: "1\\n2\\n3\\n" }
    expect: { executed: [list, count] }
`,
  agent: `
  - name: a question is answered
    args: { question: What is this for? }
    files: { README.md: "# Example\\n" }
    expect: { calls: 1, phases: { answer: { status: done } } }

  - name: the same question is not paid for twice
    after: a question is answered
    args: { question: What is this for? }
    expect: { calls: 0, executed: [], reused: [answer] }
`,
  map: `
  - name: one review per file
    args: { glob: "example/*" }
    files: { example/a.js: "a();\\n", example/b.js: "b();\\n" }
    expect: { executed: [files, "review[example/a.js]", "review[example/b.js]", summary] }

  - name: nothing changed, nobody is asked
    after: one review per file
    args: { glob: "example/*" }
    expect: { calls: 0, executed: [files], reused: [review, summary] }

  - name: an edit costs one review
    after: one review per file
    args: { glob: "example/*" }
    edit: { example/b.js: "b(1);\\n" }
    expect: { phases: { review: { reused: false } } }
`,
  'review-gate': `
  - name: a good text passes
    args: { topic: how to run the tests }
    files: { README.md: "# Example\\n" }
    expect: { phases: { good-enough: { status: done } } }
`,
  batch: `
  - name: two topics
    over: [tides, moons]
    expect: { rows: { tides: { status: success }, moons: { status: success } } }

  - name: one more topic costs one brief
    after: two topics
    over: [tides, moons, dunes]
    expect: { calls: 1 }
`,
  approval: `
  - name: nothing happens before somebody has decided
    expect: { status: paused, phases: { sure: { status: paused } } }

  - name: yes
    approvals: { sure: approve }
    expect: { output: done }

  - name: "no"
    approvals: { sure: reject }
    expect: { status: blocked, executed: [plan, sure] }
`,
  loop: `
  - name: it comes to an end
    args: { goal: a one-line description of this project }
    expect: { phases: { improve: { status: done } } }
`,
};

/** The whole text of a test file. */
export function renderTemplateTest(template: string, name: string): string {
  return `# yaml-language-server: $schema=./schema/test.json
#
# taskflow test              runs these cases in a copy of the project, without a model
# taskflow test --update     asks the real agent for what is not recorded yet
flow: ./${name}.yaml
cases:${CASES[template]!}`;
}
