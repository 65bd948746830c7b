import { formatDuration } from '../../util/duration.js';
import { oneLine } from '../../util/terminal-text.js';
import type { PhaseView, RunView } from '../view/types.js';
import { Badge } from './icon.js';
import { focusDetail, phaseKeys } from './keys.js';
import { selection, selectPhase } from './state.js';
import { Columns, NumberCell } from './table-parts.js';
import { outcomeOf, outcomeWord, savedWord, spentText, whyText } from './words.js';

/** Every phase with why it ran or was reused, and what that cost or saved. */
export function Table({ run }: { readonly run: RunView }) {
  const ids = run.phases.map(({ id }) => id);
  const { focusable, onKeyDown } = phaseKeys(ids);
  return (
    <table class="phases" onKeyDown={onKeyDown}>
      <caption class="sr">Phases, why each ran or was reused, and what that cost or saved</caption>
      <Columns names={['Phase', 'Outcome', 'Why']} numbers={['Spent', 'Saved', 'Time']} />
      <tbody>
        {run.phases.map((phase) => (
          <Row key={phase.id} phase={phase} focusable={phase.id === focusable} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ phase, focusable }: { readonly phase: PhaseView; readonly focusable: boolean }) {
  const { id, hit, durationMs } = phase;
  const isChosen = selection.value.phase === id;
  const open = () => {
    selectPhase(id);
    focusDetail();
  };
  return (
    <tr class={isChosen ? 'is-chosen' : ''} onClick={() => selectPhase(id)}>
      <th scope="row">
        <button
          type="button"
          class="phase-name"
          aria-pressed={isChosen}
          tabIndex={focusable ? 0 : -1}
          data-phase={id}
          onClick={open}
        >
          {oneLine(id)}
        </button>
        <span class="kind">{phase.kind}</span>
      </th>
      <td>
        <Badge of={outcomeOf(phase)} word={outcomeWord(phase)} />
      </td>
      <td class="why">{whyText(phase)}</td>
      <NumberCell name="spent">{spentText(phase.spent)}</NumberCell>
      <NumberCell name="saved">{savedWord(phase.saved)}</NumberCell>
      <NumberCell name="time">
        {hit === undefined && phase.startedAt !== undefined && phase.endedAt !== undefined
          ? formatDuration(durationMs)
          : ''}
      </NumberCell>
    </tr>
  );
}
