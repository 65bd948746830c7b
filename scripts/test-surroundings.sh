#!/usr/bin/env bash
# `npm run test:surroundings`: tests that look at files, settings, languages and terminals, on a machine that has
# everything wrong: a home and a folder above the temporary one with broken settings, a repository around it all,
# another language and time zone, variables that programs listen to.
set -euo pipefail
cd "$(dirname "$0")/.."

bad="$(mktemp -d)"
trap 'rm -rf "$bad"' EXIT
mkdir -p "$bad/tmp" "$bad/.pi/taskflows" "$bad/.pi/agents"
echo 'a broken file: [' | tee "$bad/.pi/taskflows/config.yaml" > "$bad/.pi/agents/reviewer.md"
printf '[user]\n\tname = Nobody\n[commit]\n\tgpgsign = true\n[core]\n\thooksPath = /nowhere\n' > "$bad/.gitconfig"
git init -q "$bad"

# What else is there reads neither settings nor folders above, or takes long.
[ $# -gt 0 ] || set -- test/{agent,check,cli,config,docs,flows,library,memo,package,parse,plan,report,util}/
env HOME="$bad" XDG_CACHE_HOME="$bad/cache" XDG_CONFIG_HOME="$bad/.config" TMPDIR="$bad/tmp" \
  npm_config_userconfig="${npm_config_userconfig:-$HOME/.npmrc}" npm_config_cache="$(npm config get cache)" \
  LANG=tr_TR.UTF-8 LC_ALL=tr_TR.UTF-8 TZ=Pacific/Kiritimati TERM=dumb NO_COLOR=1 COLUMNS=20 USER= \
  CI=true GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY="$bad/summary" GITHUB_ACTOR=somebody \
  OPENAI_API_KEY=none ANTHROPIC_API_KEY=none TASKFLOW_DEBUG=1 GIT_DIR=/nowhere \
  npx vitest run "$@"
