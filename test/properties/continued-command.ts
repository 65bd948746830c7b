import type { Random } from '../support/random.js';
import type { RigOptions } from '../support/rig.js';
import { actsOf, isActing, type Step, selectorOf, TOPICS } from './continued-flow.js';

/** What a person types, for the command line and for the library. */
export interface Command {
  readonly topic: string;
  readonly byName: boolean;
  readonly flag?: '--fresh' | '--no-cache' | '--refresh' | '--iterate' | '--keep-going';
  readonly rerun: readonly Step[];
  readonly skip: readonly Step[];
  readonly from?: Step;
  /** Only in the library. */
  readonly resume?: string;
}

const FLAGS = ['--fresh', '--no-cache', '--refresh', '--iterate', '--keep-going'] as const;

export interface CommandFacts {
  readonly steps: readonly Step[];
  readonly isSaved: boolean;
  /** The side effect that the last run stopped at. */
  readonly stoppedAt: Step | undefined;
  /** Side effects of which somebody may say that they are done. */
  readonly mayBeKept: (step: Step, topic: string) => boolean;
  /** The last run with this topic, if nothing was edited since: resumed, or run in part, it asks for no comparison. */
  readonly unedited: (topic: string) => { readonly runId: string; readonly status: string } | undefined;
}

export function drawCommand(random: Random, facts: CommandFacts): Command {
  const { steps, isSaved, stoppedAt, mayBeKept, unedited } = facts;
  const topic = random.chance(0.75) ? TOPICS[0]! : TOPICS[1]!;
  const byName = isSaved && random.chance(0.3);
  const base = { topic, byName, rerun: [], skip: [] };
  const flag = random.chance(0.35) ? random.pick(FLAGS) : undefined;
  const step = stoppedAt && random.chance(0.7) ? stoppedAt : random.pick(steps);
  const last = unedited(topic);
  switch (random.below(stoppedAt ? 4 : 8)) {
    case 0:
    case 1:
      return { ...base, flag, rerun: [step] };
    case 2:
      return isActing(step) && mayBeKept(step, topic) ? { ...base, flag, skip: [step] } : { ...base, flag };
    case 3:
      return last?.status === 'success' ? { ...base, from: step } : base;
    case 4:
      return last ? { ...base, byName: false, resume: last.runId } : base;
    default:
      return { ...base, flag };
  }
}

/** Without a person's word: for several processes at once. */
export const wordless = ({ topic, byName }: Command): Command => ({ topic, byName, rerun: [], skip: [] });

/** The side effects that a person wants done again. */
export function againBy({ rerun, from }: Command): ReadonlySet<string> {
  return new Set([...rerun, ...(from ? [from] : [])].flatMap(actsOf));
}

export function textOf({ topic, byName, flag, rerun, skip, from, resume }: Command): string[] {
  return [
    `topic=${topic}`,
    ...(flag === undefined ? [] : [flag]),
    ...rerun.flatMap((step) => ['--rerun', selectorOf(step)]),
    ...skip.flatMap((step) => ['--skip', selectorOf(step)]),
    ...(from ? ['--from', from.id] : []),
    ...(resume === undefined ? [] : ['(resumed)']),
    ...(byName ? ['(by name)'] : []),
  ];
}

export function argvOf(command: Command, file: string): string[] {
  const { byName, resume: _, ...rest } = command;
  return ['run', byName ? 'walk' : `./${file}`, ...textOf({ ...rest, byName: false }), '--json'];
}

export function optionsOf({ topic, flag, rerun, skip, from, resume }: Command): RigOptions {
  const names = (list: readonly Step[]) => (list.length === 0 ? undefined : list.map(selectorOf));
  return {
    args: { topic },
    selection: { rerun: names(rerun), skip: names(skip), from: from?.id },
    continuation:
      resume === undefined
        ? flag === '--fresh'
          ? { how: 'fresh' }
          : { how: 'auto', finished: flag === '--iterate' }
        : { how: 'resume', runId: resume },
    reuse: flag === '--no-cache' ? 'off' : flag === '--refresh' ? 'refresh' : 'on',
    keepGoing: flag === '--keep-going',
  };
}
