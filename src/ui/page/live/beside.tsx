import { timeText } from '../words.js';
import { beside, type LiveSource, shownRun } from './live-source.js';
import { useRuns } from './runs-page.js';

/** Chooses the run of the same flow to compare with. */
export function Beside({ source, runId }: { readonly source: LiveSource; readonly runId: string }) {
  const runs = useRuns(source)?.runs ?? [];
  const flow = shownRun.value?.view.flow;
  const others = runs.filter((run) => run.flow === flow && run.runId !== runId);
  const before = shownRun.value?.before;
  if (others.length === 0) return null;
  const choose = (chosen: string) => {
    beside.value = chosen === before ? undefined : chosen;
  };
  return (
    <label class="choice">
      <span class="label">Beside</span>
      <select value={beside.value ?? before ?? ''} onChange={(event) => choose(event.currentTarget.value)}>
        {(before === null || before === undefined) && <option value="">no run before it</option>}
        {others.map(({ runId: id, startedAt }) => (
          <option key={id} value={id}>
            {id === before ? 'the run before, ' : ''}
            {timeText(startedAt)}
          </option>
        ))}
      </select>
    </label>
  );
}
