/** Teaches an agent when to use flows, and how: with the server or with the commands alone. */
export const SKILL = `---
name: taskflow
description: >-
  Write and run taskflow flows: YAML files whose phases (agent calls, scripts, maps over many items, approvals) run as a
  graph and are reused when nothing that they depend on has changed. Use for work of several steps, the same step over
  many files or rows, work that will be repeated, or when the user names a flow, taskflow, or a run of one.
---

# taskflow

With the MCP server \`taskflow\` use its tools. Without it, the commands in brackets do the same.

1. \`list_flows\` (\`taskflow list --json\`): is there a flow for it already?
2. To write one: the resource \`taskflow://language\` has the language (\`taskflow schema\` as JSON Schema). Save it as
   \`.pi/taskflows/NAME.yaml\`.
3. \`check_flow\` (\`taskflow check NAME --json\`) until there are neither errors nor warnings.
4. \`plan_flow\` (\`taskflow run NAME --dry-run --json\`): what would run, what is reused, what it last cost.
5. \`run_flow\` (\`taskflow run NAME --json\`). A long run goes on by itself: \`wait_run\` (\`taskflow runs wait RUN\`).
6. Failed? \`trace_run\` (\`taskflow trace RUN PHASE --json\`) says why. Repair the cause, then \`run_flow\` again:
   it goes on where it stopped. Do not start afresh: finished phases would be paid twice.
7. Ran again though nothing changed? \`explain_phase\` (\`taskflow explain NAME PHASE --json\`).

Rules:

- A run that is \`paused\` waits for a person. Call \`approve\`, which asks them, or tell them what to type. Never
  decide for them, and never use \`--yes\`.
- A phase that may be reused names everything that it reads:
  \`cache: { scope: cross-run, fingerprint: ["glob:src/**"] }\`.
- What must not happen twice has \`idempotent: false\`.
- A placeholder in a shell line is an error: use a list of words, \`input\`, or \`env\`.
`;
