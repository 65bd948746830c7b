import { actsOf, filesOf, isActing, quotedBy, type Step, writtenBy } from './continued-flow.js';

/**
 * What may become of the side effects of one topic, as plainly as it can be said. It reads their log, and knows nothing
 * of journals, caches or ledgers.
 */
export class ActsModel {
  readonly #known = new Map<string, Act>();
  readonly #begun = new Set<string>();

  /** Why this side effect must not begin now; undefined when it may. */
  objection(name: string, { word, afresh }: { readonly word: boolean; readonly afresh: boolean }): string | undefined {
    const state = this.#known.get(name)?.state;
    if (state === undefined || state === 'past' || word) return undefined;
    if (state === 'open') return 'it had begun, and nobody knew how it ended';
    if (state === 'done') return 'it was done, in a run that had not finished';
    return afresh ? undefined : 'it was done in the run that is continued';
  }

  begin(name: string, text: string): void {
    this.#begun.add(name);
    this.#known.set(name, { state: 'open', text, results: [], before: this.#known.get(name) });
  }

  done(name: string): void {
    const act = this.#known.get(name);
    if (act) this.#known.set(name, { ...act, state: 'done', results: [{ text: act.text, said: act.text }] });
  }

  /** By itself: it may begin again. A run that goes on from before it has what was done then. */
  failed(name: string): void {
    const before = this.#known.get(name)?.before;
    if (before) this.#known.set(name, { ...before, state: 'past' });
    else this.#known.delete(name);
  }

  /** A person says that it is done, as it would be now. What it said may be lost. */
  kept(name: string, text: string): void {
    const act = this.#known.get(name);
    if (!act) return;
    const said = ['', ...act.results.map((result) => result.said)];
    const results = [...act.results, ...said.map((each) => ({ text, said: each }))];
    this.#known.set(name, { ...act, state: act.state === 'open' ? 'done' : act.state, results });
  }

  /** A whole run has got to its end: what was done is finished, and what a person said is done. */
  finish(saidToBeDone: readonly string[]): void {
    for (const name of saidToBeDone) {
      const act = this.#known.get(name);
      if (act?.state === 'open') this.#known.set(name, { ...act, state: 'done' });
    }
    for (const [name, act] of this.#known)
      if (act.state === 'done') this.#known.set(name, { ...act, state: 'finished' });
  }

  /** A run that continues nothing has begun: what is finished is of another run. */
  startedOver(): void {
    for (const [name, act] of this.#known)
      if (act.state === 'finished') this.#known.set(name, { ...act, state: 'past' });
  }

  isKnown(name: string): boolean {
    return this.#known.has(name);
  }

  /** What it was given and said, as far as a run may count on it. */
  results(name: string): readonly Simulated[] {
    const act = this.#known.get(name);
    return [...(act?.results ?? []), ...(act?.before?.results ?? [])];
  }

  /** A run may stop because of it. */
  hasBegun(step: Step): boolean {
    return actsOf(step).some((name) => this.#begun.has(name));
  }
}

interface Act {
  /** `finished`: done in a whole run that ended well. `past`: and another run has begun since, to do it again. */
  readonly state: 'open' | 'done' | 'finished' | 'past';
  readonly text: string;
  readonly results: readonly Simulated[];
  readonly before?: Act;
}

export interface Simulated {
  readonly said: string;
  /** What it writes, or what a side effect is given. */
  readonly text: string;
}

/** What every phase writes and says when all of them run, one after the other, on these files. */
export function simulate(
  steps: readonly Step[],
  files: ReadonlyMap<string, string>,
  /** What a side effect has said: it is not done again for us. */
  saidBy: (step: Step) => string | undefined,
): Map<string, Simulated> {
  const world = new Map(files);
  const results = new Map<string, Simulated>();
  for (const step of steps) {
    const given = `${step.word}[${quotedBy(step)
      .map((id) => results.get(id)!.said)
      .join('+')}]`;
    if (isActing(step)) {
      results.set(step.id, { text: given, said: saidBy(step) ?? given });
      continue;
    }
    const text = `${given}(${filesOf(step)
      .map((file) => `${world.get(file) ?? '-'},`)
      .join('')})`;
    world.set(writtenBy(step), text);
    results.set(step.id, { text, said: step.quiet ? 'ok' : text });
  }
  return results;
}
