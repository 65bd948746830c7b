import type { Random } from '../support/random.js';

/** How one phase sees another: reads the file that it wrote, quotes what it said, or only comes after it. */
export interface Need {
  readonly id: string;
  readonly via: 'file' | 'quote' | 'order';
}

export interface Step {
  readonly id: string;
  word: string;
  readonly files: readonly string[];
  readonly needs: readonly Need[];
  /** Says `ok` whatever it wrote. */
  readonly quiet: boolean;
  /** `plain` declares nothing; `declared` names what it reads and stays with its run; `cross` is kept across runs. */
  readonly policy: 'plain' | 'declared' | 'cross' | 'off';
}

export const INPUTS = ['f0', 'f1', 'f2'];
export const WORDS = ['u', 'v', 'w'];
const POLICIES = ['plain', 'plain', 'plain', 'declared', 'cross', 'cross', 'off'] as const;

export const written = (id: string) => `w-${id}`;

export function randomSteps(random: Random): Step[] {
  const count = 3 + random.below(3);
  return Array.from({ length: count }, (_, index) => ({
    id: `p${index}`,
    word: random.pick(WORDS),
    files: INPUTS.filter(() => random.below(3) === 0),
    needs: Array.from({ length: index }, (_, at) => `p${at}`)
      .filter(() => random.below(2) === 0)
      .slice(-2)
      .map((id) => ({ id, via: random.pick(['file', 'quote', 'order'] as const) })),
    quiet: random.below(2) === 0,
    policy: random.pick(POLICIES),
  }));
}

/** `bin/step ID WORD OUT QUOTED FILE…` puts together what it is given and what it reads. */
export function program(log: string): string {
  return `#!/bin/sh
id=$1 word=$2 out=$3 quoted=$4 said=$5; shift 5
printf '%s\\n' "$id" >> '${log}'
if [ -e "../slow-$id" ]; then sleep 20; exit 1; fi
if [ -e "../fail-$id" ]; then exit 1; fi
text="$word[$quoted]("
for file in "$@"; do if [ -e "$file" ]; then text="$text$(cat "$file"),"; else text="$text-,"; fi; done
text="$text)"
printf '%s' "$text" > "$out"
if [ "$said" = quiet ]; then printf ok; else printf '%s' "$text"; fi
`;
}

const filesOf = ({ files, needs }: Step) => [
  ...files,
  ...needs.filter(({ via }) => via === 'file').map(({ id }) => written(id)),
];

export function phaseOfStep(step: Step, seed: number): object {
  const quoted = step.needs.filter(({ via }) => via === 'quote').map(({ id }) => `{steps.${id}.output}`);
  const reads = filesOf(step);
  const named = { fingerprint: reads.map((file) => `file:${file}`) };
  const cache = {
    plain: undefined,
    declared: named,
    cross: { scope: 'cross-run', ...named },
    off: { scope: 'off' },
  }[step.policy];
  return {
    id: step.id,
    type: 'script',
    description: `edit ${seed}`,
    run: ['bin/step', step.id, step.word, written(step.id), quoted.join('+'), step.quiet ? 'quiet' : 'loud', ...reads],
    dependsOn: step.needs.map(({ id }) => id),
    // What a reused phase wrote comes back only if it is declared; a plain one runs again when a file is another.
    ...(step.policy === 'declared' || step.policy === 'cross' ? { outputs: [written(step.id)] } : {}),
    ...(cache && { cache }),
  };
}

/** What every phase writes and says when all of them run, one after the other, on these files. */
export function simulate(
  steps: readonly Step[],
  files: ReadonlyMap<string, string>,
): Map<string, { readonly wrote: string; readonly said: string }> {
  const world = new Map(files);
  const results = new Map<string, { wrote: string; said: string }>();
  for (const step of steps) {
    const quoted = step.needs.filter(({ via }) => via === 'quote').map(({ id }) => results.get(id)!.said);
    const read = filesOf(step).map((file) => `${world.get(file) ?? '-'},`);
    const wrote = `${step.word}[${quoted.join('+')}](${read.join('')})`;
    world.set(written(step.id), wrote);
    results.set(step.id, { wrote, said: step.quiet ? 'ok' : wrote });
  }
  return results;
}
