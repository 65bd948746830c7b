import type { Random } from '../support/random.js';

/** How one phase sees another: reads the file that it wrote, quotes what it said, both, or only comes after it. */
interface Need {
  readonly id: string;
  readonly via: 'file' | 'quote' | 'both' | 'order';
  readonly written: string;
}

/**
 * `plain` declares nothing; `declared` names what it reads and stays with its run; `cross` is kept across runs. `off`
 * executes in each run, and reads and writes outside of the project, where nobody looks for changes. `act`, `acts` (a
 * map) and `nested` are side effects: they write no file, and log what they do.
 */
type Policy = 'plain' | 'declared' | 'cross' | 'off' | 'act' | 'acts' | 'nested';

export interface Step {
  readonly id: string;
  word: string;
  readonly files: readonly string[];
  readonly needs: readonly Need[];
  /** Says `ok` whatever it wrote. */
  readonly quiet: boolean;
  readonly policy: Policy;
}

export const INPUTS = ['f0', 'f1', 'f2'];
export const OUTSIDE = '../g0';
export const WORDS = ['u', 'v', 'w'];
export const TOPICS = ['red', 'blue'];
const QUIET: readonly Policy[] = ['plain', 'plain', 'plain', 'declared', 'cross', 'cross', 'off'];
const ACTING: readonly Policy[] = ['act', 'act', 'acts', 'nested'];

export const writtenBy = ({ id, policy }: Pick<Step, 'id' | 'policy'>) => (policy === 'off' ? `../w-${id}` : `w-${id}`);
export const isActing = ({ policy }: Step) => ACTING.includes(policy);

/** The names under which the side effects of a phase are logged. */
export function actsOf({ id, policy }: Step): string[] {
  if (policy === 'acts') return [`${id}-x`, `${id}-y`];
  return policy === 'act' || policy === 'nested' ? [id] : [];
}

/** As a person names the phase. */
export function selectorOf({ id, policy }: Step): string {
  return policy === 'nested' ? `${id}/act` : id;
}

export function randomSteps(random: Random): Step[] {
  // Often something executes in each run before all else, and says the same: what reads its file must run as well.
  const steps = random.chance(0.5) ? outsideFirst(random) : [];
  for (const count = 3 + random.below(3); steps.length < count; ) {
    const policy = random.pick(random.chance(0.35) ? ACTING : QUIET);
    const acting = ACTING.includes(policy);
    steps.push({
      id: `p${steps.length}`,
      word: random.pick(WORDS),
      files: acting ? [] : [...INPUTS.filter(() => random.below(3) === 0), ...(policy === 'off' ? [OUTSIDE] : [])],
      needs: steps
        .filter(() => random.below(2) === 0)
        .slice(-2)
        .map((step) => ({ id: step.id, via: random.pick(waysToSee(step, policy)), written: writtenBy(step) })),
      quiet: !acting && random.below(2) === 0,
      policy,
    });
  }
  return steps;
}

function outsideFirst(random: Random): Step[] {
  const first: Step = { id: 'p0', word: random.pick(WORDS), files: [OUTSIDE], needs: [], quiet: true, policy: 'off' };
  const needs = [{ id: 'p0', via: 'both', written: writtenBy(first) }] as const;
  return [first, { ...first, id: 'p1', files: [], needs, policy: 'plain' }];
}

/**
 * What an act reads from files would not be in what it is given, and a person is asked only about that. A fingerprint
 * does not look outside of the project.
 */
function waysToSee(step: Step, by: Policy): readonly Need['via'][] {
  if (step.policy === 'acts') return ['order'];
  const isUnseen = step.policy === 'off' && (by === 'declared' || by === 'cross');
  return ACTING.includes(by) || isActing(step) || isUnseen
    ? ['quote', 'order']
    : ['file', 'quote', 'both', 'both', 'order'];
}

/**
 * `bin/step ID WORD OUT SAID QUOTED FILE…` puts together what it is given and what it reads; `bin/act NAME TOPIC TEXT`
 * is a side effect, `bin/end TOPIC` the last phase. `../slow-NAME` and `../fail-NAME` make them hang or fail, and with
 * `../wait-NAME` they wait. A file is put in its place at once: two runs side by side never read half of one.
 */
export function programs(log: string): Readonly<Record<string, string>> {
  const note = (text: string, given = '') => `printf '%s\\n' "${text} $TASKFLOW_RUN ${given}" >> '${log}'`;
  const hang = (name: string) =>
    `if [ -e "../slow-${name}" ]; then while [ -e "../slow-${name}" ]; do sleep 0.05; done; exit 9; fi
while [ -e "../wait-${name}" ]; do sleep 0.05; done`;
  return {
    'bin/step': `#!/bin/sh
id=$1 word=$2 out=$3 said=$4 quoted=$5; shift 5
${note('ran - $id')}
${hang('$id')}
if [ -e "../fail-$id" ]; then exit 1; fi
text="$word[$quoted]("
for file in "$@"; do if [ -e "$file" ]; then text="$text$(cat "$file"),"; else text="$text-,"; fi; done
text="$text)"
printf '%s' "$text" > "../written-$$" && mv "../written-$$" "$out"
if [ "$said" = quiet ]; then printf ok; else printf '%s' "$text"; fi
`,
    'bin/act': `#!/bin/sh
name=$1 topic=$2 text=$3
${note('begin $topic $name', '$text')}
${hang('$name')}
if [ -e "../fail-$name" ]; then ${note('fail $topic $name')}; exit 1; fi
${note('done $topic $name')}
printf '%s' "$text"
`,
    'bin/end': `#!/bin/sh\n${note('end $1 -')}\n`,
  };
}

export const filesOf = ({ files, needs }: Step) => [
  ...files,
  ...needs.filter(({ via }) => via === 'file' || via === 'both').map(({ written }) => written),
];

export const quotedBy = ({ needs }: Step) =>
  needs.filter(({ via }) => via === 'quote' || via === 'both').map(({ id }) => id);

/** `edit` is a cosmetic difference. */
export function flowOf(steps: readonly Step[], edit: number): object {
  const ids = steps.map(({ id }) => id);
  const end = { id: 'end', type: 'script', run: ['bin/end', '{args.topic}'], dependsOn: ids, cache: { scope: 'off' } };
  return { name: 'walk', args: { topic: {} }, phases: [...steps.map((step) => phaseOf(step, edit)), end] };
}

function phaseOf(step: Step, edit: number): object {
  const { id, word, needs, quiet, policy } = step;
  const quoted = quotedBy(step).map((need) => `{steps.${need}.output}`);
  const base = { id, description: `edit ${edit}`, dependsOn: needs.map((need) => need.id) };
  if (isActing(step)) return { ...base, ...acting(step, `${word}[${quoted.join('+')}]`) };
  const reads = filesOf(step);
  const named = { fingerprint: reads.map((file) => `file:${file}`) };
  const cache = { plain: undefined, declared: named, cross: { scope: 'cross-run', ...named }, off: { scope: 'off' } }[
    policy as 'plain' | 'declared' | 'cross' | 'off'
  ];
  return {
    ...base,
    type: 'script',
    run: ['bin/step', id, word, writtenBy(step), quiet ? 'quiet' : 'loud', quoted.join('+'), ...reads],
    // What a reused phase wrote comes back only if it is declared; a plain one runs again when a file is another.
    ...(policy === 'declared' || policy === 'cross' ? { outputs: [writtenBy(step)] } : {}),
    ...(cache && { cache }),
  };
}

function acting({ id, policy }: Step, text: string): object {
  const once = { type: 'script', idempotent: false };
  const topic = '{args.topic}';
  if (policy === 'act') return { ...once, run: ['bin/act', id, topic, text] };
  if (policy === 'acts')
    return { ...once, type: 'map', over: ['x', 'y'], run: ['bin/act', `${id}-{item}`, topic, text] };
  const act = { id: 'act', ...once, run: ['bin/act', id, topic, '{args.text}'] };
  return {
    type: 'flow',
    def: { name: 'inner', args: { topic: {}, text: {} }, phases: [act] },
    with: { topic, text },
  };
}
