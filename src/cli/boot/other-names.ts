/** Commands of other tools, and ours for the same. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  clean: 'cache clear',
  clear: 'cache clear',
  continue: 'resume RUN',
  deny: 'reject RUN PHASE',
  exec: 'run FLOW',
  export: 'cache export FILE (kept results) or checkpoint export RUN (one run)',
  gc: 'cache gc',
  attach: 'runs attach RUN',
  cancel: 'runs cancel RUN',
  history: 'runs',
  import: 'cache import FILE',
  lint: 'check FLOW',
  log: 'runs logs RUN',
  logs: 'runs logs RUN',
  plan: 'run FLOW --dry-run',
  preview: 'run FLOW --dry-run',
  ps: 'runs',
  prune: 'cache gc',
  retry: 'resume RUN',
  setup: 'init',
  show: 'runs show RUN',
  start: 'run FLOW',
  stop: 'runs cancel RUN',
  stats: 'cache status FLOW',
  status: 'runs (what has run) or cache status FLOW (what is kept)',
  test: 'check FLOW or run FLOW --dry-run',
  validate: 'check FLOW',
  version: '--version',
  wait: 'runs wait RUN',
  watch: 'run FLOW (after an edit it goes on with what is unchanged) or runs show last',
  why: 'explain FLOW',
};

/** `taskflow trace RUN`, for `logs`. */
export function knownAs(word: string): string | undefined {
  const found = Object.hasOwn(OTHER_NAMES, word) ? OTHER_NAMES[word] : undefined;
  return found === undefined ? undefined : `taskflow ${found.replace(' or ', ' or taskflow ')}`;
}
