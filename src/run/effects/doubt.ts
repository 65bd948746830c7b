import type { Failure } from '../../model/failure.js';
import type { JsonObject } from '../../model/json.js';
import { holderState } from '../../process/process-identity.js';
import { unitName } from '../core/selectors.js';
import type { Effect } from '../journal/lines.js';
import type { Held } from './lines.js';

/** Where the doubt is, in the words of the run that meets it. */
export interface DoubtAt {
  readonly path: string;
  readonly unit?: string;
  /** The run continues nothing: with `--rerun` a person may also mean to start over. */
  readonly fresh: boolean;
}

/** It has begun, and its end is unknown. */
export function underWay(at: DoubtAt, held: Pick<Held, 'run' | 'owner'>): Failure {
  const { run, owner } = held;
  const state = holderState(owner);
  const what = {
    alive: `is under way in run ${run}`,
    unknown: `was begun by run ${run}, on another machine or in another container: nobody knows whether it took effect`,
    dead: `was under way when run ${run} ended: nobody knows whether it took effect`,
  }[state];
  const wait = state === 'dead' ? 'Find' : 'Wait for that run. If it does not end, find';
  return inDoubt(at, what, `${wait} out, then continue with ${choices(at)}.`);
}

/** Done in a run that failed, was interrupted, waits or is under way, and that this one does not continue. */
export function doneElsewhere(at: DoubtAt, { run }: Pick<Held, 'run'>): Failure {
  const what = `was completed in run ${run}, which did not finish: it would be done twice`;
  return inDoubt(at, what, `\`taskflow resume ${run}\` goes on with that run. Or say ${choices(at)}.`);
}

/** Done in the run that is continued, and made of something else then. */
export function changed(at: DoubtAt, before: Effect, now: Effect): Failure {
  const isBody = before.body !== now.body;
  const what = `was completed, and would now be ${isBody ? 'something else' : 'given another environment'}`;
  const [then, today] = [inputLines(before.inputs), inputLines(now.inputs)];
  const detail = `it was done with\n${then}\nand would now be done with\n${today}`;
  return { ...inDoubt(at, what, `Nobody guesses: continue with ${choices(at)}.`), detail };
}

function inDoubt({ path, unit }: DoubtAt, what: string, hint: string): Failure {
  const name = unit === undefined ? path : `${path} (${unit})`;
  return { code: 'in-doubt', message: `${name} is not idempotent and ${what}`, hint };
}

/** As a person types it: rows of a batch share their phases' names, and of items there may be several. */
function choices({ path, unit, fresh }: DoubtAt): string {
  const name = quoted(path.replace(/^rows\/[^/]+\//, ''));
  const one = unit === undefined ? quoted(path) : `"${unitName(quoted(path), unit)}"`;
  const all = one === name ? '' : `; --rerun ${name} and --skip ${name} mean all that are in doubt`;
  const over = fresh ? `, or start over with --fresh --rerun ${one}` : '';
  return `--rerun ${one} (do it again) or --skip ${one} (it is done)${over}${all}`;
}

function quoted(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** For people. */
export function inputLines(inputs: JsonObject): string {
  return Object.entries(inputs)
    .map(([name, value]) => `  ${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n');
}
