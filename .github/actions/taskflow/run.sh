#!/usr/bin/env bash
# One step of the action: runs the flow, keeps its JSON result, tells the job what happened, passes the exit status on.
set -uo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)"
if [ ! -f "$root/dist/taskflow.cjs" ]; then
  (cd "$root" && npm ci --no-audit --no-fund) >&2 || exit 1
fi

# Each line of a text becomes one argument, exactly as it is.
lines() {
  local line
  while IFS= read -r line || [ -n "$line" ]; do
    line="${line%$'\r'}"
    [ -n "${line//[[:space:]]/}" ] && command_line+=("$line")
  done <<< "$1"
}

if [ -n "${TASKFLOW_OVER:-}" ]; then
  command_line=(batch "$TASKFLOW_FLOW" --over "$TASKFLOW_OVER")
  [ -n "${TASKFLOW_OUT:-}" ] && command_line+=(--out "$TASKFLOW_OUT")
else
  command_line=(run "$TASKFLOW_FLOW")
fi
[ "${TASKFLOW_FROZEN:-false}" = true ] && command_line+=(--frozen)
[ -n "${TASKFLOW_JUNIT:-}" ] && command_line+=(--junit "$TASKFLOW_JUNIT")
lines "${TASKFLOW_FLAGS:-}"
command_line+=(--json)
while IFS= read -r pair; do
  pair="${pair%$'\r'}"
  [ -n "${pair//[[:space:]]/}" ] && command_line+=(--arg "$pair")
done <<< "${TASKFLOW_ARGS:-}"

result="$(mktemp "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/taskflow-XXXXXX")"
node "$root/dist/taskflow.cjs" "${command_line[@]}" > "$result"
status=$?

# The page of the run, for the artifact. Without one the flow went all the same.
report=
run_id="$(node -p 'JSON.parse(fs.readFileSync(process.argv[1], "utf8") || "{}").runId ?? ""' "$result")"
if [ -n "$run_id" ] && [ "${TASKFLOW_REPORT:-false}" != false ]; then
  report="$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/taskflow-report-XXXXXX")/report.html"
  contents=(--no-outputs)
  [ "$TASKFLOW_REPORT" = full ] && contents=()
  node "$root/dist/taskflow.cjs" report "$run_id" --out "$report" "${contents[@]}" || report=
fi

# Without a result (a flow with problems) there is nothing to tell: the annotations have said it.
node -e '
  const { appendFileSync, readFileSync } = require("node:fs");
  const [file, target, report] = process.argv.slice(1);
  const text = readFileSync(file, "utf8");
  if (text === "" || !target) process.exit(0);
  const { status, runId, reuse } = JSON.parse(text);
  const reused = reuse.run + reuse.crossRun;
  const outputs = { status, "run-id": runId, executed: reuse.executed, reused, result: file, report };
  appendFileSync(target, Object.entries(outputs).map(([name, value]) => `${name}=${value}\n`).join(""));
' "$result" "${GITHUB_OUTPUT:-}" "$report"

exit "$status"
