import { formatDuration } from '../../util/duration.js';
import { formatMoney, formatSpent, plural } from '../../util/format.js';
import { oneLine } from '../../util/terminal-text.js';
import type { Cause, ComparedPhase, RunComparison, RunView, Side } from '../view/types.js';
import { causeCost, causeSummary } from './causes.js';
import { Badge } from './icon.js';
import { selectPhase } from './state.js';
import { Columns, NumberCell } from './table-parts.js';
import { type Outcome, outcomeOf, outcomeWord, runWord, timeText } from './words.js';

/** This run beside an earlier one of the same flow: which phases ran, why, and what that cost more or less. */
export function Compare({ run, comparison }: { readonly run: RunView; readonly comparison: RunComparison }) {
  const { before } = comparison;
  return (
    <section class="compare" aria-labelledby="compare-title">
      <h2 id="compare-title">Beside the run before</h2>
      <p class="meta">
        <span>
          <code>{before.runId}</code> of {timeText(before.startedAt)} ({runWord(before.state)}) cost{' '}
          {formatSpent(before.spent)} and took {formatDuration(before.durationMs)}; this one cost{' '}
          {formatSpent(run.spent)} and took {formatDuration(run.durationMs)}: <strong>{difference(run, before)}</strong>
        </span>
      </p>
      <Edits comparison={comparison} />
      <table class="compared">
        <caption class="sr">Each phase in the run before and in this one</caption>
        <Columns names={['Phase', 'Before', 'This run', 'What is not the same']} numbers={['Difference']} />
        <tbody>
          {comparison.phases.map((phase) => (
            <ComparedRow key={phase.id} phase={phase} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function ComparedRow({ phase }: { readonly phase: ComparedPhase }) {
  const { id, before, now, verdict } = phase;
  return (
    <tr>
      <th scope="row">
        {verdict === 'gone' ? (
          oneLine(id)
        ) : (
          <button type="button" class="phase-name" onClick={() => selectPhase(id)}>
            {oneLine(id)}
          </button>
        )}
      </th>
      <td data-name="before">
        <SideCell side={before} />
      </td>
      <td data-name="this run">
        <SideCell side={now} />
      </td>
      <td class="why">
        <Why phase={phase} />
      </td>
      <NumberCell name="difference">{moneyDifference(before, now)}</NumberCell>
    </tr>
  );
}

const MOST_EDITS = 5;

/** The answer in one line: which edits made this run spend what. */
function Edits({ comparison }: { readonly comparison: RunComparison }) {
  const { edits } = comparison;
  if (edits.length === 0) return <p class="edits">Nothing was executed that was not there already.</p>;
  return (
    <ul class="edits" aria-label="What this run executed goes back to">
      {edits.slice(0, MOST_EDITS).map((edit) => (
        <li key={edit.what}>
          <strong>{oneLine(causeSummary(edit.what))}</strong> → {namesOf(edit)}: {causeCost(edit)}
        </li>
      ))}
      {edits.length > MOST_EDITS && <li class="note">and {plural(edits.length - MOST_EDITS, 'smaller one')}</li>}
    </ul>
  );
}

const MOST_NAMED = 6;

function namesOf({ phases }: Cause): string {
  const more = phases.length - MOST_NAMED;
  return `${phases.slice(0, MOST_NAMED).map(oneLine).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Which inputs differ; else why it ran, or how it ended. */
function Why({ phase }: { readonly phase: ComparedPhase }) {
  const { why, differs, verdict } = phase;
  if (differs && differs.length > 0) {
    const although = verdict === 'reused' ? 'reused, although: ' : '';
    return (
      <>
        {although !== '' && <span class="note">{although}</span>}
        {differs.map(oneLine).join('; ')}
      </>
    );
  }
  if (!differs || verdict === 'left-out') return <>{oneLine(why)}</>;
  return (
    <>
      <span class="note">the same inputs</span> {verdict === 'reused' ? '' : oneLine(why)}
    </>
  );
}

function SideCell({ side }: { readonly side: Side | undefined }) {
  if (!side) return <span class="note">not there</span>;
  const { state, reused, spent } = side;
  const went = { state, hit: reused ? ('cross-run' as const) : undefined };
  const outcome: Outcome = outcomeOf(went);
  return (
    <>
      <Badge of={outcome} word={outcomeWord(went)} /> <span class="note">{spent ? formatSpent(spent) : ''}</span>
    </>
  );
}

function moneyDifference(before: Side | undefined, now: Side | undefined): string {
  const [a, b] = [before?.spent ?? { usd: 0 }, now?.spent ?? { usd: 0 }];
  if (a.usd === null || b.usd === null) return '?';
  const more = b.usd - a.usd;
  if (Math.abs(more) < 1e-9) return '';
  return more > 0 ? `+${formatMoney(more)}` : `−${formatMoney(-more)}`;
}

function difference(run: RunView, before: RunComparison['before']): string {
  if (run.spent.usd === null || before.spent.usd === null) return 'prices are not known';
  const more = run.spent.usd - before.spent.usd;
  if (Math.abs(more) < 1e-9) return 'the same price';
  return more > 0 ? `${formatMoney(more)} more` : `${formatMoney(-more)} less`;
}
