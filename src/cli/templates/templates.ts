/** A flow to start from. `{NAME}` in its text becomes the flow's name. */
interface FlowTemplate {
  readonly name: string;
  readonly summary: string;
  /** What to type once the file is there. */
  readonly tryIt: string;
  readonly text: string;
}

const script: FlowTemplate = {
  name: 'script',
  summary: 'commands only: no model needed, reused while nothing changed',
  tryIt: 'taskflow run {NAME}',
  text: `description: Counts the lines of the project's files.

phases:
  - id: list
    type: script
    run: git ls-files 2>/dev/null || find . -type f -not -path '*/.*'
    # Reused by later runs until a file is added, removed or edited.
    cache: { scope: cross-run, fingerprint: ["glob:**/*"] }

  - id: count
    type: script
    # A text goes to sh, a list is started as it is. Values come in by \`input\` or \`env\`, never inside a shell text.
    run: tr '\\n' '\\0' | xargs -0 wc -l
    input: "{steps.list.output}"
    cache: { scope: cross-run, fingerprint: ["glob:**/*"] }
    final: true
`,
};

const agent: FlowTemplate = {
  name: 'agent',
  summary: 'one agent that answers with files of the project in view',
  tryIt: 'taskflow run {NAME} question="What is this project for?"',
  text: `description: Asks an agent about the project.

args:
  question:
    type: string
    description: What you want to know
    default: What is this project for, and where should a newcomer start reading?

phases:
  - id: answer
    agent: analyst
    task: |
      Answer in at most ten lines, with the names of the files that your answer rests on.

      {args.question}
    context: [README.md]
    # The same question about the same sources is not paid for twice.
    cache: { scope: cross-run, ttl: 7d, fingerprint: ["git:worktree"] }
`,
};

const map: FlowTemplate = {
  name: 'map',
  summary: 'one agent call per file, then one report; an edit pays for one file',
  tryIt: 'taskflow run {NAME} --dry-run',
  text: `description: Reviews every source file by itself and sums the findings up.

args:
  glob:
    type: string
    description: Which files, as git understands it
    default: src/*

concurrency: 4

phases:
  - id: files
    type: script
    run: >-
      git ls-files -- "$GLOB" |
      node -e 'console.log(JSON.stringify(require("fs").readFileSync(0, "utf8").split("\\n").filter(Boolean)))'
    env: { GLOB: "{args.glob}" }
    output: json

  - id: review
    type: map
    over: "{steps.files.json}"
    as: file
    agent: reviewer
    task: |
      Review {file}. Name at most three real problems, each with its line, or say: nothing to report.
    context: ["{file}"]
    cache: { scope: cross-run, fingerprint: ["file:{file}"] }

  - id: summary
    type: reduce
    from: [review]
    agent: writer
    task: |
      These are reviews of single files. Write one list of what matters, the most important first.

      {steps.review.output}
    cache: { scope: cross-run, fingerprint: [] }
    final: true
`,
};

const reviewGate: FlowTemplate = {
  name: 'review-gate',
  summary: 'an agent writes, commands and a second agent decide whether it is good enough',
  tryIt: 'taskflow run {NAME} topic="how to run the tests"',
  text: `description: Writes a short text and lets nothing pass that is not good enough.

args:
  topic: { type: string, required: true, description: What to write about }

phases:
  - id: draft
    agent: writer
    task: Write half a page about {args.topic} for newcomers to this project.
    context: [README.md]

  - id: good-enough
    type: gate
    # Cheap conditions first: if they hold, no model is asked.
    eval:
      - '{steps.draft.output} contains "PASS-WITHOUT-REVIEW"'
    agent: critic
    task: |
      Is this clear, correct and without filler? End with VERDICT: PASS or VERDICT: BLOCK and one reason.

      {steps.draft.output}
    onBlock: retry
    retry: { max: 2 }

  - id: result
    type: script
    dependsOn: [good-enough]
    run: [cat]
    input: "{steps.draft.output}"
    final: true
`,
};

const batch: FlowTemplate = {
  name: 'batch',
  summary: 'one topic per run, many topics per batch; the shared part runs once',
  tryIt: 'taskflow batch {NAME} --over topics.txt --out results',
  text: `description: A short brief on one topic. Made for many topics at once.

args:
  topic: { type: string, required: true, description: The topic of this run }

phases:
  # The same for every topic: executed once, however many topics start at the same moment.
  - id: background
    type: script
    run: [cat, README.md]
    optional: true
    cache: { scope: cross-run, fingerprint: ["glob:?(README.md)"] }

  - id: brief
    agent: researcher
    task: |
      Write ten lines about "{args.topic}" for the readers of this project.

      About the project:
      {steps.background.output}
    retry: { max: 2, backoffMs: 2000 }
    cache: { scope: cross-run, ttl: 30d, fingerprint: [] }
    final: true
`,
};

const approval: FlowTemplate = {
  name: 'approval',
  summary: 'a person decides before something happens that cannot be undone',
  tryIt: 'taskflow run {NAME}',
  text: `description: Shows what would be done, asks, then does it once.

phases:
  - id: plan
    type: script
    run: git log --oneline -5 2>/dev/null || echo "nothing is known about this folder"

  - id: sure
    type: approval
    task: |
      Go ahead with this?

      {steps.plan.output}
    timeout: 24h

  - id: act
    type: script
    dependsOn: [sure]
    # Not idempotent: never reused across runs, never retried, and not fired again when the run is resumed.
    idempotent: false
    run: [echo, "done"]
    final: true
`,
};

const loop: FlowTemplate = {
  name: 'loop',
  summary: 'an agent that goes on until its own answer says it is finished',
  tryIt: 'taskflow run {NAME} goal="a one-line description of this project"',
  text: `description: Improves an answer until it meets the goal.

args:
  goal: { type: string, required: true, description: What to arrive at }

phases:
  - id: improve
    type: loop
    agent: executor
    task: |
      Goal: {args.goal}
      Your last attempt: {loop.lastOutput}

      Improve it. If nothing is left to improve, end with the word FINISHED.
    until: '{steps.improve.output} contains FINISHED'
    maxIterations: 5
`,
};

export const TEMPLATES: readonly FlowTemplate[] = [script, agent, map, reviewGate, batch, approval, loop];

/** The whole text of a flow file. */
export function flowFromTemplate(template: FlowTemplate, name: string): string {
  const header = '# yaml-language-server: $schema=./schema/flow.json\n';
  return `${header}# ${template.tryIt}\nname: {NAME}\n${template.text}`.replaceAll('{NAME}', name);
}
