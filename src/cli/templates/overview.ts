/** The first flow that `taskflow init` writes: useful on any project, and needs no model. */
export const OVERVIEW_FLOW = `# yaml-language-server: $schema=./schema/flow.json
#
# What is in this project: how many files of which kind, what is left to do, what happened lately.
#   taskflow run overview     the first time everything runs
#   taskflow run overview     the second time nothing does
# Then edit a file and run it again: only what the edit can change runs, and each line says why.
name: overview
description: What is in this project, as a short report. Needs no model.

phases:
  - id: files
    type: script
    description: Every file of the project, one per line.
    run: >-
      git ls-files --cached --others --exclude-standard -- . ':!.pi' 2>/dev/null ||
      find . -type f -not -path '*/.*' | sort
    cache: { scope: cross-run, fingerprint: ["glob:**/*"] }

  - id: kinds
    type: script
    description: The ten most frequent kinds of files. Depends on nothing but its input.
    run: sed -n 's/.*\\.\\([A-Za-z0-9]*\\)$/\\1/p' | sort | uniq -c | sort -rn | head -10
    input: "{steps.files.output}"
    cache: { scope: cross-run, fingerprint: [] }

  - id: todos
    type: script
    description: Lines that say TODO or FIXME.
    run: tr '\\n' '\\0' | xargs -0 grep -HnIwE 'TODO|FIXME' 2>/dev/null | cut -c1-160 | head -20; true
    input: "{steps.files.output}"
    cache: { scope: cross-run, fingerprint: ["glob:**/*"] }

  - id: history
    type: script
    description: The last commits.
    run: git log --oneline -8 2>/dev/null || echo "no commits here"
    cache: { scope: cross-run, fingerprint: ["git:HEAD"] }

  - id: report
    type: script
    final: true
    run: [cat]
    input: |
      Files by kind
      {steps.kinds.output}

      Left to do
      {steps.todos.output}

      Lately
      {steps.history.output}
    cache: { scope: cross-run, fingerprint: [] }
`;
