/** `docs/language.md`, put in by the bundler; absent when the sources run unbundled. */
declare const TASKFLOW_LANGUAGE: string | undefined;

export const LANGUAGE: string = typeof TASKFLOW_LANGUAGE === 'string' ? TASKFLOW_LANGUAGE : 'see docs/language.md';

/** What an agent reads when it connects. */
export const INSTRUCTIONS = `taskflow runs flows: YAML files with phases (agent calls, scripts, maps over lists,
approvals) that run as a graph, are retried, and are reused when nothing that they depend on has changed.
Use a flow for work of several steps, for the same step over many items, or for what will be repeated.
list_flows shows what is there. To write one, read the resource taskflow://language, then check_flow, plan_flow,
run_flow. A run that failed is continued by run_flow or resume_run: finished phases are not paid again.
A paused run waits for a person: approve asks them, and nobody else may decide.`;

/** A flow that shows the most common forms. */
export const EXAMPLE_FLOW = `name: review-files
description: One short review for each source file, then a summary.
args:
  folder: { default: src, description: where the files are }
phases:
  - id: files
    type: script
    run: [git, ls-files, --, "{args.folder}"]
  - id: review
    type: map
    over: "{steps.files.output}"
    task: |
      Review {item}. Name at most three problems, or say "fine".
    cache: { scope: cross-run, fingerprint: ["file:{item}"] }
  - id: summary
    task: |
      Summarise these reviews by urgency:
      {steps.review.output}
    final: true
`;
