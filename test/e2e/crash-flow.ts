import type { Random } from '../support/random.js';
import type { Rig } from '../support/rig.js';

/**
 * `bin/work NAME SECONDS TEXT…` logs its begin and its end outside the project and prints the text; `bin/looper` is an
 * agent that does the same for the name in its prompt.
 */
export function installWork(rig: Rig): { readonly log: string } {
  const log = `${rig.root}/../work`;
  rig.write(
    'bin/work',
    `#!/bin/sh\necho "begin $1" >> '${log}'\nsleep "$2"\necho "end $1" >> '${log}'\nshift 2\nprintf '%s' "$*"\n`,
    0o755,
  );
  rig.write(
    'bin/looper',
    `#!/bin/sh\nprompt=$(cat)\nname=$(printf '%s\\n' "$prompt" | sed -n 's/^NAME: //p')\n` +
      'exec bin/work "$name" 0.02 "said $name"\n',
    0o755,
  );
  rig.write(
    '.pi/taskflows/config.yaml',
    'runner: looper\nrunners:\n  looper: { command: [bin/looper], format: text, model: m }\n',
  );
  return { log };
}

/** Name of the work that a line of the journal stands for: `p3`, `p4.2` for the second item, branch or iteration. */
export function workOf(phase: string, unit: string | undefined): string {
  return unit === undefined ? phase : `${phase}.${/\d+$/.exec(unit)?.[0]}`;
}

/**
 * A random flow of short scripts: chains and fans, a map, a parallel, a loop, some of it cross-run, and one side
 * effect. What each says depends on what those before it said, so that a wrong result anywhere shows in the last one.
 */
export function drawFlow(random: Random): object {
  const count = 4 + random.below(4);
  const special = random.below(count);
  const phases: object[] = [];
  for (let index = 0; index < count; index++) {
    const id = `p${index}`;
    const needs = index === 0 ? [] : [...new Set([0, 1].map(() => `p${random.below(index)}`))].slice(random.below(2));
    const seconds = (random.below(8) / 100).toFixed(2);
    const said = needs.map((need) => `{steps.${need}.output}`).join('+');
    phases.push(drawPhase(random, { id, seconds, said, dependsOn: needs, isEffect: index === special }));
  }
  const all = phases.map((phase) => `{steps.${(phase as { id: string }).id}.output}`);
  phases.push({ id: 'last', type: 'script', run: ['bin/work', 'last', '0', all.join(';')] });
  return { name: 'crash', concurrency: 1 + random.below(4), phases };
}

interface Draw {
  readonly id: string;
  readonly seconds: string;
  readonly said: string;
  readonly dependsOn: readonly string[];
  readonly isEffect: boolean;
}

function drawPhase(random: Random, { id, seconds, said, dependsOn, isEffect }: Draw): object {
  // It says nothing, so that it comes to the same whether it is done or a person says that it is.
  if (isEffect) {
    return { id, type: 'script', run: ['bin/work', id, seconds, ''], dependsOn, idempotent: false };
  }
  // Declared, so that what is done is found by its key alone, whatever a killed process left behind.
  const crossRun = { cache: random.chance(0.3) ? { scope: 'cross-run' } : { fingerprint: [] } };
  switch (random.below(5)) {
    case 0:
      return {
        id,
        type: 'map',
        over: Array.from({ length: 2 + random.below(4) }, (_, item) => item + 1),
        run: ['bin/work', `${id}.{item}`, seconds, `{item}(${said})`],
        ...crossRun,
      };
    case 1:
      return {
        id,
        type: 'parallel',
        branches: [1, 2].map((n) => ({ id: `b${n}`, run: ['bin/work', `${id}.${n}`, seconds, `${n}(${said})`] })),
      };
    case 2:
      return {
        id,
        type: 'loop',
        task: `NAME: ${id}.{loop.iteration}\nfrom ${said}`,
        until: `{loop.iteration} >= ${2 + random.below(2)}`,
      };
    default:
      return { id, type: 'script', run: ['bin/work', id, seconds, `${id}(${said})`], ...crossRun };
  }
}
