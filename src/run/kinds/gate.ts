import type { Failure } from '../../model/failure.js';
import type { GatePhase, Phase, Score, TaskBody } from '../../model/flow.js';
import { addUsage, NO_USAGE } from '../../model/outcome.js';
import type { PhaseContext } from '../context/phase-context.js';
import { type Execution, failedBefore, pureResult } from '../core/execution.js';
import { evaluateText } from '../render/conditions.js';
import { render } from '../render/render.js';
import { unresolvedIn } from '../render/unresolved.js';
import type { IdentityParts } from '../reuse/identify.js';
import { rejectResults } from '../reuse/reject.js';
import { runWhole } from '../units/run-unit.js';
import { compiler } from './compiles.js';
import { askScorer, askTask, type Judgement, judgementOf, type Undecided } from './judge.js';
import type { KindHandler } from './kind.js';
import { fillScore, scoreJson, scoreOf, tooLow } from './score.js';

export const gateKind: KindHandler<GatePhase> = {
  run: (at) => {
    const parts = () => judgedParts(at);
    return runWhole(at, { parts: parts(), partsInTheEnd: parts, execute: () => judgeWithRounds(at) });
  },
};

/** What is judged, as it is now: after each round it is something else. */
function judgedParts(at: PhaseContext<GatePhase>): IdentityParts {
  const { phase } = at;
  const conditions = phase.eval.map((condition) => render(at, condition).text);
  const asked = [phase.body, phase.score?.judge].map((body) => textsOf(at, body));
  const filled = phase.score && fillScore(at, phase.score);
  return {
    body: {
      conditions,
      asked,
      judge: (phase.body ?? null) as never,
      score: (phase.score && filled ? { ...phase.score, scorers: filled.scorers } : null) as never,
      target: filled?.target ?? null,
    },
  };
}

/** What a judge is asked, rendered; null where there is no judge. */
function textsOf(at: PhaseContext, body: TaskBody | undefined): readonly string[] | null {
  return body ? [body.task, body.systemPrompt ?? ''].map((text) => render(at, text).text) : null;
}

async function judgeWithRounds(at: PhaseContext<GatePhase>): Promise<Execution> {
  const { phase, scope, run } = at;
  const again = phase.onBlock === 'retry' ? sentBack(at) : [];
  const rounds = again.length === 0 ? 0 : (phase.retry?.max ?? 1);
  const startedAt = run.options.project.clock.elapsed();
  let usage = NO_USAGE;
  for (let round = 0; ; round++) {
    const judged = await judge(at, round);
    usage = addUsage(usage, judged.usage);
    const durationMs = run.options.project.clock.elapsed() - startedAt;
    if (judged.error) return { ...judged.error, usage, durationMs };
    const pure = round === 0 && judged.alone ? { pure: true as const } : {};
    const result = { usage, durationMs, model: judged.model, attempts: round + 1, ...pure };
    if (judged.pass) return pureResult({ text: judged.text, json: judged.json }, result);
    if (phase.onBlock === 'retry')
      rejectResults(
        at,
        phase.needs.map(({ id }) => id),
      );
    if (round >= rounds || at.signal.aborted) {
      const output = { text: judged.text, json: judged.json };
      return pureResult(output, { ...result, status: 'blocked', failure: blocked(at, judged, round) });
    }
    for (const { id, optional } of again) {
      scope.feedback.set(id, `A reviewer sent this back:\n${judged.text}`);
      const outcome = await run.flows.rerunPhase({ scope, id, round: round + 1, signal: at.signal });
      if (outcome.status === 'done' || outcome.status === 'skipped' || (optional && outcome.status === 'failed'))
        continue;
      return { ...failedBefore(upstreamFailed(id, outcome.failure)), usage, durationMs };
    }
  }
}

/** Those that ran for it and can be asked again: what was left out stays so, and a side effect is not repeated. */
function sentBack(at: PhaseContext<GatePhase>): Phase[] {
  const { phase, scope } = at;
  const needed = new Set(phase.needs.map((edge) => edge.id));
  return scope.flow.phases.filter(
    ({ id, idempotent }) =>
      needed.has(id) && idempotent && scope.outcomes.get(id)?.status !== 'skipped' && !hasActed(at, id),
  );
}

/** It, or something inside of it, is a side effect that took place. */
function hasActed({ scope }: PhaseContext, id: string): boolean {
  return scope.idempotent === false || scope.outcomes.get(id)?.acted !== undefined;
}

/** Conditions and scorers first; then whoever has to decide about what they leave open. */
async function judge(at: PhaseContext<GatePhase>, round: number): Promise<Judgement> {
  const { phase } = at;
  const unmet = await unmetConditions(at);
  const score = phase.score && fillScore(at, phase.score);
  if (!score) return decide(at, round, { objections: unmet, json: {} });
  const { failure } = unresolvedIn(at, [...score.unresolved.target, ...score.unresolved.scorers.flat()]);
  if (failure) return { ...judgementOf(false, '', {}), error: failedBefore(failure) };
  const result = await scoreOf(score, compiler(at));
  if (!score.judge) {
    const objections = result.pass ? unmet : [...unmet, tooLow(score, result)];
    return decide(at, round, { objections, json: scoreJson(result) });
  }
  // Where a task decides about the conditions, the judge of the score has no say in them.
  const judged = await askScorer(at, round, { score, result, unmet: phase.body ? [] : unmet });
  if (!judged.pass || !phase.body || unmet.length === 0) return judged;
  const { combined, results } = judged.json;
  const decided = await askTask(at, round, { objections: unmet, json: { combined: combined!, results: results! } });
  return { ...decided, usage: addUsage(judged.usage, decided.usage) };
}

async function unmetConditions(at: PhaseContext<GatePhase>): Promise<string[]> {
  const unmet: string[] = [];
  for (const condition of at.phase.eval) {
    const held = await evaluateText(at, condition);
    if ('failure' in held) unmet.push(held.failure.message);
    else if (!held.value) unmet.push(`${condition} does not hold`);
  }
  return unmet;
}

/** No judge of a score has a say. */
function decide(
  at: PhaseContext<GatePhase>,
  round: number,
  { objections, json }: Undecided,
): Judgement | Promise<Judgement> {
  const { phase } = at;
  const isDecidable = phase.eval.length > 0 || phase.score !== undefined;
  const alone = isPure(phase.score) ? { alone: true as const } : {};
  if (isDecidable && objections.length === 0) return { ...judgementOf(true, 'all conditions hold', json), ...alone };
  if (phase.body) return askTask(at, round, { objections, json });
  return { ...judgementOf(false, objections.join('; '), json), ...alone };
}

/** A compiler may be another one tomorrow. */
function isPure(score: Score | undefined): boolean {
  return score?.scorers.every(({ type }) => type !== 'code-compiles') ?? true;
}

function blocked(at: PhaseContext<GatePhase>, judged: Judgement, round: number): Failure {
  const given = judged.json['reason'];
  const reason = (typeof given === 'string' && given) || judged.text.trim().slice(0, 200);
  return {
    code: 'blocked',
    message: `${reason}${round > 0 ? ` (after ${round + 1} rounds)` : ''}`,
    hint: blockedHint(at),
    detail: judged.text.length > 300 ? judged.text.slice(-2_000) : undefined,
  };
}

function blockedHint(at: PhaseContext<GatePhase>): string {
  const { phase, scope } = at;
  const reused = phase.needs.filter(({ id }) => scope.outcomes.get(id)?.origin.hit);
  const rerun = reused.map(({ id }) => `--rerun ${id}`).join(' ');
  if (reused.length > 0) return `It judged a reused result; run it anew with ${rerun}.`;
  const acted = phase.onBlock === 'retry' ? phase.needs.filter(({ id }) => hasActed(at, id)) : [];
  if (acted.length === 0) return 'Fix what it names and run again; what passed is kept.';
  const names = acted.map(({ id }) => id).join(', ');
  const repeat = `Repeat it with --rerun ${acted[0]!.id}, or start over with --fresh.`;
  return `${names} was not sent back: what is not idempotent is done once. ${repeat}`;
}

function upstreamFailed(id: string, failure: Failure | undefined): Failure {
  return {
    code: failure?.code ?? 'dependency',
    message: `${id}, sent back by this gate, failed: ${failure?.message ?? ''}`,
    hint: failure?.hint,
  };
}
