import { formatDuration } from '../../util/duration.js';
import { formatSpent } from '../../util/format.js';
import { oneLine } from '../../util/terminal-text.js';
import type { RunView } from '../view/types.js';
import { Badge } from './icon.js';
import { rowOutcome } from './lists.js';
import { selectPhase } from './state.js';
import { Facts } from './table-parts.js';
import { outcomeOf, outcomeWord, savedWord, spentText, whyText } from './words.js';

/** One row of a batch: what each phase did in it. */
export function RowDetail({ run, path }: { readonly run: RunView; readonly path: string }) {
  const row = run.rows.find((each) => each.path === path);
  if (!row) return <h2 id="detail-title">This row is not known any more</h2>;
  const inside = run.phases.flatMap((phase) =>
    phase.units.filter(({ name }) => name.startsWith(`${path}/`)).map((unit) => ({ phase, unit })),
  );
  const facts: [string, string][] = [['Phases', `${row.executed} ran, ${row.reused} reused`]];
  if (row.spent) facts.push(['Spent', formatSpent(row.spent)]);
  if (row.saved) facts.push(['Saved', savedWord(row.saved)]);
  facts.push(['Took', formatDuration(row.durationMs)]);
  if (row.file !== undefined) facts.push(['File', oneLine(row.file)]);
  return (
    <>
      <div class="title">
        <h2 id="detail-title">
          Row {row.row} <span class="inside">{oneLine(row.label)}</span>
        </h2>
        <Badge of={rowOutcome(row)} word={row.state === 'success' ? 'done' : oneLine(row.state)} />
      </div>
      {row.failure !== undefined && <p class="because is-failed">{oneLine(row.reason)}</p>}
      <Facts of={facts} />
      <ul class="row-phases">
        {inside.map(({ phase, unit }) => (
          <li key={unit.name}>
            <button type="button" class="phase-name" onClick={() => selectPhase(phase.id, unit.name)}>
              {oneLine(phase.id)}
            </button>
            <Badge of={outcomeOf(unit)} word={outcomeWord(unit)} />
            <span class="why">{whyText(unit)}</span>
            <span class="note">{spentText(unit.spent) || savedWord(unit.saved)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
