import { formatDuration } from '../../util/duration.js';
import { formatSpent } from '../../util/format.js';
import { oneLine } from '../../util/terminal-text.js';
import type { RunView } from '../view/types.js';
import { Badge } from './icon.js';
import { rowOutcome } from './lists.js';
import { selectPhase } from './state.js';
import { outcomeOf, outcomeWord, savedWord, spentText, whyText } from './words.js';

/** One row of a batch: what each phase did in it. */
export function RowDetail({ run, path }: { readonly run: RunView; readonly path: string }) {
  const row = run.rows.find((each) => each.path === path);
  if (!row) return <h2 id="detail-title">This row is not known any more</h2>;
  const inside = run.phases.flatMap((phase) =>
    phase.units.filter(({ name }) => name.startsWith(`${path}/`)).map((unit) => ({ phase, unit })),
  );
  return (
    <>
      <div class="title">
        <h2 id="detail-title">
          Row {row.row} <span class="inside">{oneLine(row.label)}</span>
        </h2>
        <Badge of={rowOutcome(row)} word={row.state === 'success' ? 'done' : oneLine(row.state)} />
      </div>
      {row.failure !== undefined && <p class="because is-failed">{oneLine(row.reason)}</p>}
      <dl class="facts">
        <div>
          <dt>Phases</dt>
          <dd>
            {row.executed} ran, {row.reused} reused
          </dd>
        </div>
        {row.spent && (
          <div>
            <dt>Spent</dt>
            <dd>{formatSpent(row.spent)}</dd>
          </div>
        )}
        {row.saved && (
          <div>
            <dt>Saved</dt>
            <dd>{savedWord(row.saved)}</dd>
          </div>
        )}
        <div>
          <dt>Took</dt>
          <dd>{formatDuration(row.durationMs)}</dd>
        </div>
        {row.file !== undefined && (
          <div>
            <dt>File</dt>
            <dd>{oneLine(row.file)}</dd>
          </div>
        )}
      </dl>
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
