import type { Failure } from '../../model/failure.js';
import type { LoopPhase } from '../../model/flow.js';
import { NO_OUTPUT, type Output, type TextOutput } from '../../model/output.js';
import { parseTemplate, templateRefs } from '../../plan/template.js';
import type { PhaseContext } from '../context/phase-context.js';
import { type Execution, endedAs, type Settled } from '../core/execution.js';
import { promised } from '../core/output.js';
import { readJson, readText } from '../core/output-text.js';
import type { Variables } from '../core/scope.js';
import { conditionInputs, evaluateText } from '../render/conditions.js';
import type { IdentityParts } from '../reuse/identify.js';
import { prepare, runBroken, runUnit, runWhole } from '../units/run-unit.js';
import { UnitTally } from '../units/unit-tally.js';
import { after } from './after.js';
import { sumOf } from './aggregate.js';
import type { KindHandler } from './kind.js';

export const loopKind: KindHandler<LoopPhase> = {
  run: async (at) => {
    const { phase } = at;
    if (differsInside(phase)) return runWhole(at, { parts: ENTERED, execute: () => iterate(at).then(asOfParts) });
    const first = await prepare(at, { body: phase.body, variables: variablesFor(at, BEFORE_ANY) });
    if ('failure' in first) return runBroken(at, first.failure);
    const { until, maxIterations, convergence, reflexion } = phase;
    const asked = until === undefined ? {} : conditionInputs(at, until, variablesFor(at, BEFORE_ANY));
    const { task, systemPrompt = null } = phase.body;
    const rules = { until: until ?? null, asked, maxIterations, convergence, reflexion, task, systemPrompt };
    return runWhole(at, {
      // Later iterations are made of earlier ones, so the first one and the rules decide them all.
      parts: { ...first.parts, body: { ...first.parts.body, ...rules, first: first.parts.body['task'] ?? null } },
      execute: async () => (await iterate(at)).execution,
    });
  },
};

/** What iterations read besides their task, or where they work, is known only inside: they are reused one by one. */
const ENTERED: IdentityParts = {
  body: {},
  container: true,
  unidentified: 'what its iterations read is known only inside',
};

function differsInside({ id, context, cwd = '', outputs, cache }: LoopPhase): boolean {
  return [...context, cwd, ...outputs, ...cache.fingerprint].some((text) =>
    templateRefs(parseTemplate(text)).some(
      ({ root, name }) => root === 'loop' || root === 'reflexion' || (root === 'steps' && name === id),
    ),
  );
}

/** An execution, and the iterations that it consists of. */
interface Iterated {
  readonly execution: Execution;
  readonly units: readonly Settled[];
}

/** Of a loop that is entered each time: found by its iterations, and reused if all of them were. */
function asOfParts({ execution, units }: Iterated): Execution {
  const { key, execution: name, reused } = sumOf(units, 0);
  const files = units.flatMap(({ result }) => result.files);
  const isReused = reused !== undefined && execution.status === 'done';
  return { ...execution, key, execution: name, files, ...(isReused && { reused, attempts: 0 }) };
}

/** Where a loop is. */
interface Place {
  readonly iteration: number;
  /** What the iteration before said. */
  readonly last: TextOutput;
  readonly reflexion: string;
}

const BEFORE_ANY: Place = { iteration: 1, last: NO_OUTPUT, reflexion: '' };

function variablesFor(at: PhaseContext<LoopPhase>, { iteration, last, reflexion }: Place): Variables {
  return {
    loop: { iteration, lastOutput: last.text, maxIterations: at.phase.maxIterations },
    reflexion,
    self: { id: at.phase.id, text: last.text, json: last.json },
  };
}

async function iterate(at: PhaseContext<LoopPhase>): Promise<Iterated> {
  const { phase } = at;
  const { clock } = at.run.options.project;
  const startedAt = clock.elapsed();
  const tally = new UnitTally();
  const earlier: Settled[] = [];
  let last: TextOutput = NO_OUTPUT;
  let output: Output = NO_OUTPUT;
  let reflexion = '';
  let broken: Execution['failure'];
  const whole = (more: Partial<Execution>, iterations: number): Iterated => ({
    units: earlier,
    execution: {
      status: 'done',
      output,
      ...tally.totals(clock.elapsed() - startedAt),
      attempts: iterations,
      files: [],
      facts: { iterations },
      ...more,
    },
  });
  for (let iteration = 1; iteration <= phase.maxIterations; iteration++) {
    const unit = await runUnit(after(at, earlier), {
      label: `iteration ${iteration}`,
      body: phase.body,
      variables: variablesFor(at, { iteration, last, reflexion }),
      ordinal: iteration,
      plainOutput: true,
    });
    tally.add(unit);
    earlier.push(unit);
    const { status, failure } = endedAs(unit);
    if (unit.status !== 'done') return whole({ status, failure }, iteration);
    const { result } = unit;
    const kept = await promised(result.output, { output: phase.output, expect: phase.expect, lenient: true });
    broken = 'failure' in kept ? kept.failure : undefined;
    // With reflexion a broken contract is feedback for the next iteration; without, it is a failure at once.
    if (broken && !phase.reflexion)
      return whole({ status: 'failed', output: result.output, failure: broken }, iteration);
    output = 'output' in kept ? kept.output : result.output;
    const current = inMemory(output);
    if ('failure' in current) return whole({ status: 'failed', failure: current.failure }, iteration);
    output = at.run.io.outputs.keep(output);
    const same = phase.convergence && iteration > 1 && current.text.trim() === last.text.trim();
    last = current;
    reflexion = phase.reflexion ? feedback(iteration, current.text, { problem: broken?.message }) : '';
    const remark = (text: string) => whole({ remark: text, model: result.model }, iteration);
    if (broken) continue;
    if (phase.until !== undefined) {
      const met = await evaluateText(at, phase.until, variablesFor(at, { iteration, last, reflexion }));
      if ('failure' in met) return whole({ status: 'failed', failure: met.failure }, iteration);
      if (met.value) return remark(`until held after ${iteration}`);
      if (phase.reflexion) reflexion = feedback(iteration, current.text, { unmet: phase.until });
    }
    if (same) return remark(`converged after ${iteration}`);
  }
  if (broken) return whole({ status: 'failed', failure: broken }, phase.maxIterations);
  return whole({ remark: `stopped after ${phase.maxIterations} iterations` }, phase.maxIterations);
}

/** An agent's answer is never too large for that. */
function inMemory(output: Output): TextOutput | { readonly failure: Failure } {
  if ('text' in output) return output;
  const text = readText(output);
  if ('failure' in text) return text;
  const json = output.stored.json ? readJson(output) : { json: null };
  return 'failure' in json ? json : { text: text.text, json: json.json ?? null };
}

function feedback(
  iteration: number,
  text: string,
  why: { readonly problem?: string; readonly unmet?: string },
): string {
  const unmet = why.unmet === undefined ? '' : `: ${why.unmet} does not hold`;
  const verdict =
    why.problem === undefined
      ? `It met its contract, but the goal is not reached yet${unmet}.`
      : `It did not meet its contract: ${why.problem}.`;
  return `Attempt ${iteration} was:\n${text}\n\n${verdict} Say what was wrong and do better.`;
}
