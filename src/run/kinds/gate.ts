import type { Failure } from '../../model/failure.js';
import type { GatePhase, Phase, TaskBody } from '../../model/flow.js';
import type { JsonObject } from '../../model/json.js';
import { addUsage, NO_USAGE, type Usage } from '../../model/outcome.js';
import type { PhaseContext } from '../context/phase-context.js';
import { type Execution, failedBefore, pureResult, type Settled } from '../core/execution.js';
import { phasePath } from '../core/scope.js';
import { evaluateText } from '../render/conditions.js';
import { render } from '../render/render.js';
import { unresolvedIn } from '../render/unresolved.js';
import type { IdentityParts } from '../reuse/identify.js';
import { runUnit, runWhole } from '../units/run-unit.js';
import type { KindHandler } from './kind.js';
import { type FilledScore, fillScore, scoreJson, scoreOf, tooLow } from './score.js';
import { readScore, readVerdict } from './verdict.js';

/** What a round of judging came to. `error`: nobody could judge, which is a failure and no verdict. */
interface Judgement {
  readonly pass: boolean;
  readonly text: string;
  readonly json: JsonObject;
  readonly usage: Usage;
  readonly model?: string;
  /** Nobody was asked: conditions and scorers decided. */
  readonly alone?: true;
  readonly error?: Execution;
}

const VERDICT_AS_TEXT = 'End with a line `VERDICT: PASS` or `VERDICT: BLOCK` and the reason.';
const VERDICT_AS_JSON = 'Answer with JSON that has a `verdict`, "pass" or "block", and a `reason`.';
const SCORE_AS_TEXT = 'Answer with a line `SCORE: n`, n from 0 to 1.';
const SCORE_AS_JSON = 'Answer with JSON that has a `score`, a number from 0 to 1.';

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

/** What a judge is told, as it comes out; null where there is none. */
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
    if (phase.onBlock === 'retry') rejectUpstream(at);
    if (round >= rounds || at.signal.aborted) {
      const output = { text: judged.text, json: judged.json };
      return pureResult(output, { ...result, status: 'blocked', failure: blocked(at, judged, round) });
    }
    for (const { id, optional } of again) {
      scope.feedback.set(id, `A reviewer sent this back:\n${judged.text}`);
      const outcome = await run.rerunPhase({ scope, id, round: round + 1, signal: at.signal });
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

/** What the gate rejected must not be served to anyone again. */
function rejectUpstream(at: PhaseContext<GatePhase>): void {
  const { run, scope, phase } = at;
  for (const { id } of phase.needs) {
    const outcome = scope.outcomes.get(id);
    if (outcome?.status !== 'done') continue;
    const keys = outcome.unitKeys ?? [];
    for (const key of keys) {
      run.store?.remove(key);
      run.shared.forget(key);
    }
    run.journal.write({ type: 'rejected', at: run.options.project.clock.now(), phase: phasePath(scope, id), keys });
  }
}

async function judge(at: PhaseContext<GatePhase>, round: number): Promise<Judgement> {
  const { phase } = at;
  const objections: string[] = [];
  let json: JsonObject = {};
  for (const condition of phase.eval) {
    const held = await evaluateText(at, condition);
    if ('failure' in held) objections.push(held.failure.message);
    else if (!held.value) objections.push(`${condition} does not hold`);
  }
  const score = phase.score && fillScore(at, phase.score);
  if (score) {
    const { failure } = unresolvedIn(at, [...score.unresolved.target, ...score.unresolved.scorers.flat()]);
    if (failure) return { ...told(false, '', json), error: failedBefore(failure) };
    const scored = await scoreOf(score);
    json = scoreJson(scored);
    if (!scored.pass) objections.push(tooLow(score, scored));
  }
  const decidable = phase.eval.length > 0 || score !== undefined;
  if (decidable && objections.length === 0) return { ...told(true, 'all conditions hold', json), alone: true };
  if (phase.body) return askJudge(at, round, objections, json);
  if (score?.judge) return askScorer(at, round, score, json);
  return { ...told(false, objections.join('; '), json), alone: true };
}

function told(pass: boolean, reason: string, json: JsonObject): Judgement {
  const verdict = pass ? 'pass' : 'block';
  const text = reason === '' ? verdict.toUpperCase() : `${verdict.toUpperCase()}: ${reason}`;
  return { pass, text, json: { verdict, reason, ...json }, usage: NO_USAGE };
}

async function askJudge(
  at: PhaseContext<GatePhase>,
  round: number,
  objections: readonly string[],
  json: JsonObject,
): Promise<Judgement> {
  const body = at.phase.body!;
  const known = /verdict|"pass"/i.test(body.task);
  const notes = [
    ...(objections.length === 0 ? [] : [`These checks did not hold: ${objections.join('; ')}.`]),
    ...(known ? [] : [at.phase.output === 'json' ? VERDICT_AS_JSON : VERDICT_AS_TEXT]),
  ];
  const answer = await runUnit(at, {
    label: `judge ${round + 1}`,
    body,
    ordinal: round,
    material: notes.length === 0 ? undefined : notes.join('\n'),
  });
  if (answer.status !== 'done') return notJudged(answer, json);
  const verdict = readVerdict(answer.output.text);
  return {
    pass: verdict.pass,
    text: answer.output.text,
    json: { ...verdict.fields, verdict: verdict.pass ? 'pass' : 'block', reason: verdict.reason, ...json },
    usage: answer.usage,
    model: answer.model,
  };
}

/** An answer that is not what `output` and `expect` ask for is an unclear one; no answer at all is no verdict. */
function notJudged(answer: Settled, json: JsonObject): Judgement {
  const { usage, model, failure } = answer;
  if (failure?.code === 'not-json' || failure?.code === 'expect') {
    return { ...told(false, `the judge's answer counts as BLOCK: ${failure.message}`, json), usage, model };
  }
  return { ...told(false, '', json), usage, error: answer };
}

/** A judge that scores: its figure joins the others; one that gives a verdict instead is taken at its word. */
async function askScorer(
  at: PhaseContext<GatePhase>,
  round: number,
  score: FilledScore,
  json: JsonObject,
): Promise<Judgement> {
  const answer = await runUnit(at, {
    label: `judge ${round + 1}`,
    body: score.judge!,
    ordinal: round,
    material: `${score.target}\n\n${at.phase.output === 'json' ? SCORE_AS_JSON : SCORE_AS_TEXT}`,
  });
  if (answer.status !== 'done') return notJudged(answer, json);
  const given = readScore(answer.output.text);
  const more = { usage: answer.usage, model: answer.model };
  if (given === undefined) {
    const verdict = readVerdict(answer.output.text);
    return { ...told(verdict.pass, verdict.reason, json), ...more };
  }
  const scored = await scoreOf(score, given);
  const reason = `the score is ${scored.combined}, the threshold ${score.threshold}`;
  return { ...told(scored.pass, reason, scoreJson(scored)), ...more };
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
  const reused = phase.needs.filter(({ id }) => scope.outcomes.get(id)?.cacheHit);
  const rerun = reused.map(({ id }) => `--rerun ${id}`).join(' ');
  if (reused.length > 0) return `It judged a reused result; run it anew with ${rerun}.`;
  const acted = phase.onBlock === 'retry' ? phase.needs.filter(({ id }) => hasActed(at, id)) : [];
  if (acted.length === 0) return 'Fix what it names and run again; what passed is kept.';
  const names = acted.map(({ id }) => id).join(', ');
  return `${names} was not sent back: what is not idempotent is done once. Repeat it with --rerun ${acted[0]!.id}, or start over with --fresh.`;
}

function upstreamFailed(id: string, failure: Failure | undefined): Failure {
  return {
    code: failure?.code ?? 'dependency',
    message: `${id}, sent back by this gate, failed: ${failure?.message ?? ''}`,
    hint: failure?.hint,
  };
}
