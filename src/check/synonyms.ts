import type { Problem } from './problem.js';

/** Names that other tools have for our fields. A dot: the field is inside another one. */
const SYNONYMS: Readonly<Record<string, string>> = {
  prompt: 'task',
  prompts: 'tasks',
  instructions: 'task',
  message: 'task',
  script: 'run',
  command: 'run',
  cmd: 'run',
  shell: 'run',
  exec: 'run',
  stdin: 'input',
  environment: 'env',
  steps: 'phases',
  stages: 'phases',
  jobs: 'phases',
  nodes: 'phases',
  inputs: 'args',
  arguments: 'args',
  parameters: 'args',
  params: 'args',
  variables: 'args',
  vars: 'args',
  needs: 'dependsOn',
  requires: 'dependsOn',
  after: 'dependsOn',
  depends: 'dependsOn',
  if: 'when',
  condition: 'when',
  kind: 'type',
  name: 'id',
  foreach: 'over',
  items: 'over',
  system: 'systemPrompt',
  files: 'context',
  directory: 'cwd',
  workdir: 'cwd',
  retries: 'retry',
  parallelism: 'concurrency',
  fingerprint: 'cache.fingerprint',
  ttl: 'cache.ttl',
  scope: 'cache.scope',
  observe: 'cache.observe',
  ignore: 'exclude',
};

/** The known field that this name most likely means. */
export function synonymOf(name: string, known: readonly string[]): string | undefined {
  const lower = name.toLowerCase();
  const meant = Object.hasOwn(SYNONYMS, lower) ? SYNONYMS[lower]! : undefined;
  return meant !== undefined && known.includes(meant.split('.')[0]!) ? meant : undefined;
}

/** The hint for an unknown field: the synonym, else the nearest known name. */
export function suggestField(name: string, known: readonly string[]): Pick<Problem, 'hint' | 'suggest'> {
  const meant = synonymOf(name, known);
  if (meant === undefined) return { suggest: { name, known } };
  const [field, inner] = meant.split('.');
  return { hint: inner === undefined ? `did you mean "${field}"?` : `did you mean ${field}: { ${inner}: … }?` };
}
