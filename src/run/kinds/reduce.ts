import type { Failure } from '../../model/failure.js';
import type { ReducePhase } from '../../model/flow.js';
import type { PhaseContext } from '../context/phase-context.js';
import { type Execution, endedAs, failedBefore, pureResult, type Settled } from '../core/execution.js';
import { outcomeOf } from '../core/grafted.js';
import { readJson, readText } from '../core/output-text.js';
import { withOrdinals } from '../reuse/ordinals.js';
import { prepare, runAsPhase, runBroken, runUnits, runWhole } from '../units/run-unit.js';
import { UnitTally } from '../units/unit-tally.js';
import { after } from './after.js';
import type { KindHandler } from './kind.js';

export const reduceKind: KindHandler<ReducePhase> = {
  run: async (at) => {
    const found = inputsOf(at);
    if ('failure' in found) return runBroken(at, found.failure);
    const { inputs } = found;
    const { strategy, batchSize, body } = at.phase;
    if (strategy === 'one-shot' || inputs.length <= batchSize) {
      return runAsPhase(at, { body, material: quotes(body.task) ? undefined : numbered(inputs) });
    }
    const asked = await prepare(at, { body, material: numbered(inputs), role: 'reduce' });
    if ('failure' in asked) return runAsPhase(at, { body });
    return runWhole(at, {
      parts: { ...asked.parts, body: { ...asked.parts.body, strategy, batchSize } },
      execute: () => reduceTree(at, inputs),
    });
  },
};

/** Outputs of the phases in `from`; the items of a map one by one, so that a tree has something to divide. */
function inputsOf(at: PhaseContext<ReducePhase>): { readonly inputs: string[] } | { readonly failure: Failure } {
  const inputs: string[] = [];
  for (const id of at.phase.from) {
    const outcome = outcomeOf(at.scope, id);
    if (outcome?.status !== 'done') continue;
    const items = outcome.kind === 'map' ? readJson(outcome.result.output) : { json: undefined };
    if ('failure' in items) return items;
    if (Array.isArray(items.json)) {
      for (const value of items.json) inputs.push(typeof value === 'string' ? value : JSON.stringify(value));
      continue;
    }
    const read = readText(outcome.result.output);
    if ('failure' in read) return read;
    inputs.push(read.text);
  }
  return { inputs };
}

/** A task that quotes what it reduces is left alone; otherwise the inputs follow it. */
function quotes(task: string): boolean {
  return /\{(steps\.|previous\.)/.test(task);
}

function numbered(inputs: readonly string[]): string {
  return inputs.map((input, index) => `### Input ${index + 1}\n${input}`).join('\n\n');
}

/** Batches first, then batches of their results, until one is left. */
async function reduceTree(at: PhaseContext<ReducePhase>, first: readonly string[]): Promise<Execution> {
  const { body, batchSize } = at.phase;
  const instruction = body.task.replaceAll(/\{(steps|previous)\.[^{}]*\}/g, '').trim();
  const startedAt = at.run.options.project.clock.elapsed();
  let level = first;
  const tally = new UnitTally();
  const totals = () => tally.totals(at.run.options.project.clock.elapsed() - startedAt);
  let last: Settled | undefined;
  let below: readonly Settled[] = [];
  for (let depth = 1; level.length > 1 || depth === 1; depth++) {
    const batches = chunks(level, batchSize);
    const specs = batches.map((batch, index) => ({
      label: `level ${depth} batch ${index + 1}`,
      body: { ...body, task: instruction },
      material: numbered(batch),
      plainOutput: batches.length > 1,
      role: `level ${depth}`,
    }));
    const units = await runUnits(after(at, below), withOrdinals(at, specs));
    below = units;
    for (const unit of units) tally.add(unit);
    const bad = units.find((unit) => unit.status !== 'done');
    if (bad) return { ...endedAs(bad), ...totals() };
    last = units.at(-1);
    const texts = units.map(({ result }) => readText(result.output));
    const unread = texts.find((text) => 'failure' in text);
    if (unread && 'failure' in unread) return { ...failedBefore(unread.failure), ...totals() };
    level = texts.map((read) => ('text' in read ? read.text : ''));
  }
  const { output, model } = last!.result;
  return pureResult(output, { ...totals(), model, facts: { batches: first.length } });
}

function chunks<T>(list: readonly T[], size: number): T[][] {
  const result: T[][] = [];
  for (let index = 0; index < list.length; index += size) result.push(list.slice(index, index + size));
  return result;
}
