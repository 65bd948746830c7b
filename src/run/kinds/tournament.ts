import type { TournamentPhase } from '../../model/flow.js';
import type { PhaseContext } from '../context/phase-context.js';
import { type Execution, endedAs, failedBefore, pureResult, type Settled } from '../core/execution.js';
import { readText } from '../core/output-text.js';
import type { Fence } from '../render/fence.js';
import { render } from '../render/render.js';
import { withOrdinals } from '../reuse/ordinals.js';
import { partsOfAll, runBroken, runUnit, runUnits, runWhole } from '../units/run-unit.js';
import type { UnitSpec } from '../units/unit.js';
import { UnitTally } from '../units/unit-tally.js';
import { after } from './after.js';
import type { KindHandler } from './kind.js';
import { readWinner } from './verdict.js';

export const tournamentKind: KindHandler<TournamentPhase> = {
  run: async (at) => {
    const { mode, judge, judgeBody } = at.phase;
    const all = await partsOfAll(at, [...candidates(at), { body: judgeBody }]);
    if ('failure' in all) return runBroken(at, all.failure);
    const { parts } = all;
    return runWhole(at, {
      parts: { ...parts, body: { ...parts.body, mode, judge: judge ?? null } },
      execute: () => compete(at),
    });
  },
};

function candidates(at: PhaseContext<TournamentPhase>): (UnitSpec & { readonly label: string })[] {
  const { phase } = at;
  if (phase.branches.length > 0 || !phase.body) {
    return withOrdinals(
      at,
      phase.branches.map(({ id, body, cwd }) => ({ label: id, body, cwd })),
    );
  }
  const { body } = phase;
  // Variants ask the same thing and are meant to differ.
  return Array.from({ length: phase.variants }, (_, index) => ({
    label: `variant ${index + 1}`,
    body,
    ordinal: index,
  }));
}

async function compete(at: PhaseContext<TournamentPhase>): Promise<Execution> {
  const { clock } = at.run.options.project;
  const startedAt = clock.elapsed();
  const specs = candidates(at);
  const units = await runUnits(at, specs);
  const tally = new UnitTally();
  for (const unit of units) tally.add(unit);
  const finalists: Finalist[] = [];
  for (const [index, unit] of units.entries()) {
    if (unit.status !== 'done') continue;
    const read = readText(unit.result.output);
    if ('failure' in read) return { ...failedBefore(read.failure), ...tally.totals(clock.elapsed() - startedAt) };
    finalists.push({ unit, text: read.text, label: specs[index]!.label, body: specs[index]!.body });
  }
  const failed = units.length - finalists.length;
  const totals = () => {
    const all = tally.totals(clock.elapsed() - startedAt);
    return failed === 0 ? all : { ...all, unkeepable: `${failed} of ${units.length} candidates failed` };
  };
  const first = finalists[0];
  if (!first) {
    const bad = units.find((unit) => unit.status !== 'done');
    return { ...failedBefore(bad?.failure ?? { code: 'items', message: 'no candidate succeeded' }), ...totals() };
  }
  if (finalists.length === 1 && at.phase.mode === 'best') {
    const { output, model } = first.unit.result;
    return pureResult(output, {
      ...totals(),
      model,
      remark: 'only one candidate was left',
    });
  }
  const judged = await askJudge(after(at, units), finalists);
  tally.add(judged);
  if (judged.status !== 'done') return { ...endedAs(judged), ...totals() };
  const { output: said, model: judge } = judged.result;
  if (at.phase.mode === 'aggregate') return pureResult(said, { ...totals(), model: judge });
  const read = readText(said);
  const choice = 'text' in read ? readWinner(read.text, finalists.length) : undefined;
  const winner = finalists[(choice ?? 1) - 1]!;
  const { output, model } = winner.unit.result;
  return pureResult(output, {
    ...totals(),
    model,
    remark: choice === undefined ? `the judge named no clear winner: took ${winner.label}` : `${winner.label} won`,
    facts: { winner: winner.label },
    ...(choice === undefined ? { unkeepable: 'the judge named no clear winner' } : {}),
  });
}

interface Finalist {
  readonly unit: Settled;
  readonly text: string;
  readonly label: string;
  readonly body: UnitSpec['body'];
}

function askJudge(at: PhaseContext<TournamentPhase>, finalists: readonly Finalist[]): Settled | Promise<Settled> {
  const { mode, judgeBody } = at.phase;
  const wanted =
    mode === 'best'
      ? 'Compare the candidates and end with a line WINNER: n, n being the number of the best one.'
      : 'Write one answer that takes the best of all candidates.';
  return runUnit(at, {
    label: 'judge',
    body: judgeBody,
    plainOutput: mode === 'best',
    judges: ({ fence }) => [...listed(at, finalists, fence), wanted].join('\n\n'),
    role: 'judge',
  });
}

/** The candidates, numbered, with what they were asked: once where it was the same for all. */
function listed(at: PhaseContext<TournamentPhase>, finalists: readonly Finalist[], fence: Fence): string[] {
  const asked = finalists.map(({ body }) => (body.type === 'task' ? render(at, body.task).text : undefined));
  const isSame = new Set(asked).size === 1;
  const task = (text: string | undefined) => (text === undefined ? [] : [`The task was:\n${fence.block(text)}`]);
  return [
    ...(isSame ? task(asked[0]) : []),
    ...finalists.flatMap(({ text }, index) => [
      `### Candidate ${index + 1}`,
      ...(isSame ? [] : task(asked[index])),
      fence.block(text),
    ]),
  ];
}
