import type { Score, Scorer } from '../model/flow.js';
import type { RawScore } from '../model/schema/parts.js';
import { patternProblem } from '../plan/condition-parse.js';
import { plural } from '../util/format.js';
import { agentFields } from './bodies.js';
import { checkJsonSchema } from './json-schema.js';
import type { PhaseReader } from './phase-reader.js';
import { warnIfSlow } from './slow-patterns.js';

const JUDGE_TASK = 'Score the text from 0.0 to 1.0, say why, and give your verdict.';

export function checkScore(reader: PhaseReader): Score {
  const raw = reader.source.raw['score'] as RawScore;
  const { problems } = reader.context;
  const path = reader.path('score');
  const combine = raw.combine ?? 'all';
  const target = reader.template([...path, 'target'], raw.target ?? '{previous.output}');
  for (const [index, scorer] of raw.scorers.entries()) checkScorer(reader, scorer as Scorer, index);
  if (raw.weights !== undefined) {
    const wanted = raw.scorers.length + (raw.judge ? 1 : 0);
    if (combine !== 'weighted') {
      problems.noEffect([...path, 'weights'], '"weights" means nothing without combine: weighted');
    } else if (raw.weights.length !== raw.scorers.length && raw.weights.length !== wanted) {
      const judged = raw.judge ? ` and one for the judge (${wanted})` : '';
      const are = raw.weights.length === 1 ? 'is' : 'are';
      const scorers = plural(raw.scorers.length, 'scorer');
      const message = `there ${are} ${plural(raw.weights.length, 'weight')} for ${scorers}${judged}`;
      problems.error([...path, 'weights'], 'out-of-range', message);
    }
  }
  const judge = raw.judge;
  const judgePath = [...path, 'judge'];
  if (judge?.task) reader.template([...judgePath, 'task'], judge.task);
  return {
    target,
    scorers: raw.scorers as readonly Scorer[],
    combine: combine as Score['combine'],
    ...(raw.weights ? { weights: raw.weights } : {}),
    threshold: raw.threshold ?? (combine === 'weighted' ? 0.7 : 1),
    ...(judge && {
      judge: {
        type: 'task',
        task: judge.task ?? JUDGE_TASK,
        ...agentFields(reader, judgePath, { own: judge, phase: reader.source.raw }),
      },
    }),
  };
}

function checkScorer(reader: PhaseReader, scorer: Scorer, index: number): void {
  const { problems } = reader.context;
  const path = reader.path('score', 'scorers', index);
  switch (scorer.type) {
    case 'regex': {
      const problem = patternProblem(scorer.pattern, scorer.flags ?? '');
      if (problem) problems.error([...path, 'pattern'], 'bad-value', problem);
      else warnIfSlow(problems, [...path, 'pattern'], { source: scorer.pattern, flags: scorer.flags ?? '' });
      reader.literal([...path, 'pattern'], scorer.pattern);
      return;
    }
    case 'json-schema':
      checkJsonSchema(scorer.schema, [...path, 'schema'], problems);
      return;
    case 'length-range':
      if (scorer.min === undefined && scorer.max === undefined) {
        problems.error(path, 'missing-field', 'a length-range needs "min" or "max"');
      } else if ((scorer.min ?? 0) > (scorer.max ?? Number.POSITIVE_INFINITY)) {
        problems.error(path, 'out-of-range', `no text has at least ${scorer.min} and at most ${scorer.max} characters`);
      }
      return;
    case 'code-compiles':
      if (reader.context.trust === 'generated') {
        const message = 'a generated flow may not start a compiler (code-compiles)';
        problems.error([...path, 'type'], 'generated-flow', message);
      }
      return;
    case 'exact-match':
    case 'contains':
      reader.deep([...path, 'value'], scorer.value);
  }
}
