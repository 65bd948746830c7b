import type { Failure } from '../../model/failure.js';
import type { PhaseContext } from '../context/phase-context.js';
import { isUnitNamed } from '../core/selectors.js';
import type { Effect, ResultLine } from '../journal/lines.js';
import { changed, type DoubtAt, doneElsewhere, underWay } from './doubt.js';
import { isSameEffect } from './effect.js';
import type { EffectName, Held } from './lines.js';

/** What a run does with a side effect. */
export type Ruling =
  /** No run has begun it, or a person wants it done again, replacing `over`. */
  | { readonly go: 'start'; readonly over?: string; readonly again: boolean }
  /** It is done, in this run or in the one that is continued. */
  | { readonly go: 'reuse'; readonly line: ResultLine }
  /** A person says that it is done; `line` is what it said then, if that is known. */
  | { readonly go: 'keep'; readonly over?: string; readonly line?: ResultLine }
  | { readonly go: 'stop'; readonly failure: Failure };

interface Question {
  readonly at: PhaseContext;
  /** Label of an item or a branch. */
  readonly unit?: string;
  readonly effect: Effect;
  readonly name: EffectName;
  readonly runKey: string;
}

const REFUSED: Failure = {
  code: 'limit',
  message: 'it is not idempotent, and side effects are refused while a flow is tried',
};

/** The one place that decides whether a side effect may start. Only looks. */
export async function ruleEffect(
  at: PhaseContext,
  { unit, effect, runKey }: Pick<Question, 'unit' | 'effect' | 'runKey'>,
): Promise<Ruling> {
  const {
    reuse: { effects, prior },
    options,
  } = at.run;
  if (options.refuseEffects) return { go: 'stop', failure: REFUSED };
  const name = effects.nameOf(at.path, effect.unit);
  const question = { at, unit, effect, name, runKey };
  const held = effects.held(name);
  if (held && 'problem' in held) return { go: 'stop', failure: unreadable(held.problem) };
  const own = effects.own(name);
  const mine = own && at.run.io.readBack(own);
  // One time in a run, however often the flow around it is tried.
  if (mine?.effect && isSameEffect(mine.effect, effect)) return reuse(question, mine, held);
  if (held?.state === 'open') return open(question, held);
  const earlier = mine ?? prior.effect(at.path, effect.unit);
  if (earlier?.effect) return completed(question, { ...earlier, effect: earlier.effect }, held);
  if (!held) return older(question);
  const word = wordOf(question);
  if (word === 'keep') return { go: 'keep', over: held.id };
  if (word === 'rerun' || at.policy.anew?.named) return { go: 'start', over: held.id, again: true };
  return { go: 'stop', failure: doneElsewhere(where(question), held) };
}

function open(question: Question, held: Held): Ruling {
  const word = wordOf(question);
  if (word === 'keep') return { go: 'keep', over: held.id };
  if (word === 'rerun') return { go: 'start', over: held.id, again: true };
  return { go: 'stop', failure: underWay(where(question), held) };
}

async function completed(
  question: Question,
  line: ResultLine & { readonly effect: Effect },
  held: Held | undefined,
): Promise<Ruling> {
  const { at, unit, effect, name } = question;
  const over = held?.id;
  const isSame = isSameEffect(line.effect, effect);
  // Of a phase with items in doubt, `--rerun` means those: the others are done, and must not be done again.
  const isSettling = unit !== undefined && at.run.reuse.effects.wasDoubtful(name);
  if (isSame && (!at.policy.anew?.named || isSettling)) return reuse(question, line, held);
  const word = wordOf(question);
  if (word === 'keep') return { go: 'keep', over, line };
  if (at.policy.anew?.named) return { go: 'start', over, again: true };
  if (word === 'rerun') return { go: 'start', over, again: true };
  const { forecast, decideEffect } = at.run.options;
  const facts = { phase: at.path, unit, before: line.effect.inputs, now: effect.inputs, signal: at.signal };
  const answer = forecast || !decideEffect ? 'stop' : await decideEffect(facts);
  if (answer === 'rerun') return { go: 'start', over, again: true };
  if (answer === 'keep') return { go: 'keep', over, line };
  return { go: 'stop', failure: changed(where(question), line.effect, effect) };
}

function reuse({ at }: Question, line: ResultLine, held: Held | undefined): Ruling {
  if (held && !at.run.options.forecast) at.run.reuse.effects.pass(held);
  return { go: 'reuse', line };
}

/** Nothing is in the ledger. A checkpoint from another machine, or a journal of an older version, may know more. */
function older(question: Question): Ruling {
  const { at, unit, runKey } = question;
  const failure = at.run.reuse.prior.inDoubt(at.path, unit, runKey);
  if (!failure) return { go: 'start', again: false };
  const word = wordOf(question);
  if (word === 'keep') return { go: 'keep' };
  return word === 'rerun' ? { go: 'start', again: true } : { go: 'stop', failure };
}

function wordOf({ at, unit }: Question): 'keep' | 'rerun' | undefined {
  const { rerun, skip } = at.run.options.selection ?? {};
  if (isUnitNamed(at.scope, { id: at.phase.id, unit }, skip)) return 'keep';
  return isUnitNamed(at.scope, { id: at.phase.id, unit }, rerun) ? 'rerun' : undefined;
}

function where({ at, unit }: Question): DoubtAt {
  return { path: at.path, unit, fresh: at.run.reuse.prior.how === 'none' };
}

export function unreadable(problem: string): Failure {
  return {
    code: 'io',
    message: `the record of side effects cannot be read (${problem}): nobody knows what is done already`,
    hint: 'Nothing was started. Make .pi/taskflows/runs/.effects readable.',
  };
}
