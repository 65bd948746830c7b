import type { GatePhase } from '../../model/flow.js';
import type { JsonObject } from '../../model/json.js';
import { NO_USAGE, type Usage } from '../../model/outcome.js';
import type { PhaseContext } from '../context/phase-context.js';
import { type Execution, endedAs, type Settled } from '../core/execution.js';
import { readText } from '../core/output-text.js';
import { runUnit } from '../units/run-unit.js';
import type { Asking } from '../units/unit.js';
import { couldPass, type FilledScore, type ScoreResult, scoreJson, scoreReport, scoreWith, tooLow } from './score.js';
import { readScore, readVerdict } from './verdict.js';

/** What a round of judging came to. `error`: nobody could judge, which is a failure and no verdict. */
export interface Judgement {
  readonly pass: boolean;
  readonly text: string;
  readonly json: JsonObject;
  readonly usage: Usage;
  readonly model?: string;
  /** Nobody was asked: conditions and scorers decided. */
  readonly alone?: true;
  readonly error?: Execution;
}

/** What conditions and scorers leave to whoever is asked. */
export interface Undecided {
  /** What they have against it, in words. */
  readonly objections: readonly string[];
  /** Their scores, which become part of the verdict. */
  readonly json: JsonObject;
}

const VERDICT_AS_TEXT = 'End with a line that says VERDICT: PASS or one that says VERDICT: BLOCK, and the reason.';
const VERDICT_AS_JSON = 'Answer with JSON that has a `reason` and a `verdict`, "pass" or "block".';
const SCORE_AS_TEXT =
  'End with a line SCORE: n, n from 0 to 1, and a line that says VERDICT: PASS or one that says VERDICT: BLOCK.';
const SCORE_AS_JSON =
  'Answer with JSON that has a `reason`, a `score` from 0 to 1, and a `verdict`, "pass" or "block".';

export function judgementOf(pass: boolean, reason: string, json: JsonObject): Judgement {
  const verdict = pass ? 'pass' : 'block';
  const text = reason === '' ? verdict.toUpperCase() : `${verdict.toUpperCase()}: ${reason}`;
  return { pass, text, json: { verdict, reason, ...json }, usage: NO_USAGE };
}

/** The task of the gate decides. */
export async function askTask(
  at: PhaseContext<GatePhase>,
  round: number,
  { objections, json }: Undecided,
): Promise<Judgement> {
  const body = at.phase.body!;
  const hasOwnForm = /verdict|"pass"/i.test(body.task);
  const answer = await runUnit(at, {
    label: `judge ${round + 1}`,
    body,
    ordinal: round,
    mayBeJson: at.phase.output === 'json' || !hasOwnForm,
    judges: ({ fence, inJson }) => {
      const form = at.phase.output === 'json' || inJson ? VERDICT_AS_JSON : VERDICT_AS_TEXT;
      const unmet =
        objections.length === 0 ? [] : [`These checks did not hold:\n${fence.block(objections.join('\n'))}`];
      return [...unmet, ...(hasOwnForm ? [] : [form])].join('\n');
    },
  });
  if (answer.status !== 'done') return notJudged(answer, json);
  const read = readText(answer.result.output);
  if ('failure' in read) return notJudged({ ...answer, failure: read.failure }, json);
  const verdict = readVerdict(read.text);
  return {
    pass: verdict.pass,
    text: read.text,
    json: { ...verdict.fields, verdict: verdict.pass ? 'pass' : 'block', reason: verdict.reason, ...json },
    usage: answer.usage,
    model: answer.result.model,
  };
}

/** An answer that is not what `output` and `expect` ask for is an unclear one; no answer at all is no verdict. */
function notJudged(answer: Settled, json: JsonObject): Judgement {
  const { usage, failure } = answer;
  const { model } = answer.result;
  if (failure?.code === 'not-json' || failure?.code === 'expect') {
    return { ...judgementOf(false, `the judge's answer counts as BLOCK: ${failure.message}`, json), usage, model };
  }
  return {
    ...judgementOf(false, '', json),
    usage,
    error: endedAs(answer),
  };
}

interface Scored {
  readonly score: FilledScore;
  readonly result: ScoreResult;
  /** Conditions that do not hold, in words: the judge sees them, and decides about them too. */
  readonly unmet: readonly string[];
}

/** Without a model where its answer could not change the verdict. */
export async function askScorer(at: PhaseContext<GatePhase>, round: number, scored: Scored): Promise<Judgement> {
  const { score, result, unmet } = scored;
  const { atBest, atWorst } = couldPass(score, result);
  if (!atBest) return judgementOf(false, belowAtBest(score, result), scoreJson(result));
  if (atWorst && unmet.length === 0) return judgementOf(true, scoreText(score, result), scoreJson(result));
  const answer = await runUnit(at, {
    label: `judge ${round + 1}`,
    body: score.judge!,
    ordinal: round,
    mayBeJson: at.phase.output === 'json' || !/\b(?:score|verdict)\s*[:=]/i.test(score.judge!.task),
    judges: (how) => scorerMaterial(at, scored, how),
  });
  if (answer.status !== 'done') return notJudged(answer, scoreJson(result));
  const read = readText(answer.result.output);
  if ('failure' in read) return notJudged({ ...answer, failure: read.failure }, scoreJson(result));
  return { ...decided(scored, read.text), usage: answer.usage, model: answer.result.model };
}

function scorerMaterial({ phase }: PhaseContext<GatePhase>, scored: Scored, { fence, inJson }: Asking): string {
  const { score, result, unmet } = scored;
  const report = [scoreReport(score, result), ...unmet].join('\n');
  return [
    `What was found without a model:\n${fence.block(report)}`,
    `The text to judge:\n${fence.block(score.target)}`,
    phase.output === 'json' || inJson ? SCORE_AS_JSON : SCORE_AS_TEXT,
  ].join('\n\n');
}

/**
 * Under `all` and `any` the scorers have passed, and the judge's own word may veto: what it says, or else its score
 * against the threshold. Under `weighted` its score joins the others. It must pass conditions that do not hold as well.
 */
function decided({ score, result, unmet }: Scored, text: string): Judgement {
  const given = readScore(text);
  const verdict = readVerdict(text);
  const all = scoreWith(score, result, given ?? (verdict.pass ? 1 : 0));
  const hasVerdict = verdict.pass || given === undefined || /verdict|"pass"/i.test(text);
  const says = hasVerdict ? verdict.pass : given >= score.threshold;
  const pass = score.combine === 'weighted' ? all.pass && (unmet.length === 0 || says) : says;
  const reason = hasVerdict && verdict.reason !== '' ? verdict.reason : scoreText(score, all);
  return judgementOf(pass, score.combine === 'weighted' ? scoreText(score, all) : reason, scoreJson(all));
}

/** Why no answer of the judge could make it pass. */
function belowAtBest(score: FilledScore, result: ScoreResult): string {
  if (score.combine !== 'weighted') return tooLow(score, result);
  return scoreText(score, scoreWith(score, result, 1), ' at best');
}

function scoreText({ threshold }: FilledScore, { combined }: ScoreResult, how = ''): string {
  return `the score is ${combined}${how}, the threshold ${threshold}`;
}
