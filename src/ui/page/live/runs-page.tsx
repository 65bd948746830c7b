import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { formatDuration } from '../../../util/duration.js';
import { formatMoney, formatSaved, formatSpent, grouped, plural } from '../../../util/format.js';
import { oneLine } from '../../../util/terminal-text.js';
import type { ListedRun } from '../../server/run-list.js';
import { Badge } from '../icon.js';
import { Columns, NumberCell } from '../table-parts.js';
import { CommandList } from '../texts.js';
import { runOutcome, runWord, timeText } from '../words.js';
import type { LiveSource, RunsOf } from './live-source.js';
import { type Bar, Plot } from './plot.js';

/** The runs of the project, and how cost, time and reuse of a flow went over its runs. */
export function RunsPage({ source }: { readonly source: LiveSource }) {
  const found = useRuns(source);
  const flow = useSignal('');
  if (!found) return <p class="none">loading…</p>;
  if (found.runs.length === 0) return <NoRuns />;
  const flows = [...new Set(found.runs.map((run) => run.flow))].sort();
  const chosen = flows.includes(flow.value) ? flow.value : '';
  const runs = chosen === '' ? found.runs : found.runs.filter((run) => run.flow === chosen);
  return (
    <>
      <div class="title">
        <h1>Runs</h1>
        {flows.length > 1 && (
          <label class="choice">
            <span class="label">Flow</span>
            <select value={chosen} onChange={(event) => (flow.value = event.currentTarget.value)}>
              <FlowOptions flows={flows} />
            </select>
          </label>
        )}
      </div>
      <Waiting runs={found.runs} />
      <History runs={runs} />
      <RunTable runs={runs} />
      {found.total > found.runs.length && (
        <p class="none">
          The newest {grouped(found.runs.length)} of {grouped(found.total)} runs.
        </p>
      )}
    </>
  );
}

/** The options of a choice among flows. */
export function FlowOptions({ flows }: { readonly flows: readonly string[] }) {
  return (
    <>
      <option value="">all flows</option>
      {flows.map((name) => (
        <option key={name} value={name}>
          {oneLine(name)}
        </option>
      ))}
    </>
  );
}

export function useRuns(source: LiveSource): RunsOf | undefined {
  const found = useSignal<RunsOf | undefined>(undefined);
  useEffect(() => {
    let isCurrent = true;
    const load = async () => {
      const runs = await source.list();
      if (isCurrent && runs) found.value = runs;
    };
    void load();
    const stop = source.watchList(() => void load());
    return () => {
      isCurrent = false;
      stop();
    };
  }, [source]);
  return found.value;
}

function NoRuns() {
  return (
    <section class="empty">
      <h1>No runs yet</h1>
      <p>What runs in this project appears here by itself.</p>
      <CommandList
        of={[
          ['taskflow run FLOW', 'run a flow'],
          ['taskflow list', 'the flows that can be run here'],
        ]}
      />
    </section>
  );
}

/** Runs that wait for a decision come first. */
function Waiting({ runs }: { readonly runs: readonly ListedRun[] }) {
  const waiting = runs.filter((run) => run.waiting > 0 && run.continuedBy === null && run.state !== 'running');
  if (waiting.length === 0) return null;
  return (
    <section class="notes" aria-label="Waiting for a decision">
      {waiting.slice(0, 5).map(({ runId, flow, waiting: count }) => (
        <p key={runId}>
          <strong>{oneLine(flow)}</strong> waits for {plural(count, 'decision')}:{' '}
          <a href={`#/runs/${runId}`}>{runId}</a>
        </p>
      ))}
      {waiting.length > 5 && <p class="none">and {waiting.length - 5} more runs</p>}
    </section>
  );
}

const MOST_BARS = 60;

/** Cost, time and reuse of the last runs that have ended. */
function History({ runs }: { readonly runs: readonly ListedRun[] }) {
  const ended = runs
    .filter(({ spent }) => spent !== null)
    .slice(0, MOST_BARS)
    .reverse();
  if (ended.length < 2) return null;
  return (
    <section class="history" aria-label={`The last ${ended.length} runs`}>
      <Plot name="Spent, and saved by reuse" bars={ended.map(moneyBar)} top={formatMoney} />
      <Plot name="Duration" bars={ended.map(timeBar)} top={formatDuration} />
      <Plot name="Phases run and reused" bars={ended.map(reuseBar)} top={String} />
      <p class="legend">
        <span class="key is-runs is-ran" /> ran or spent <span class="key is-striped" /> reused or saved{' '}
        <span class="key is-runs is-failed" /> did not succeed <span class="key is-runs is-paused" /> waits
      </p>
    </section>
  );
}

function moneyBar({ runId, spent, saved }: ListedRun): Bar {
  const parts = [
    { value: spent?.usd ?? 0, of: 'ran' as const },
    { value: saved?.usd ?? 0, of: 'reused' as const },
  ];
  return { key: runId, title: `${runId}: spent ${spent ? formatSpent(spent) : '?'}, saved ${savedText(saved)}`, parts };
}

function timeBar({ runId, durationMs, state }: ListedRun): Bar {
  const title = `${runId}: ${formatDuration(durationMs)}, ${runWord(state)}`;
  return { key: runId, title, parts: [{ value: durationMs, of: runOutcome(state) }] };
}

function reuseBar({ runId, executed, reused }: ListedRun): Bar {
  const title = `${runId}: ${executed ?? '?'} ran, ${reused ?? '?'} reused`;
  const parts = [
    { value: executed ?? 0, of: 'ran' as const },
    { value: reused ?? 0, of: 'reused' as const },
  ];
  return { key: runId, title, parts };
}

function savedText(saved: ListedRun['saved']): string {
  return (saved && formatSaved(saved)) || 'nothing';
}

function RunTable({ runs }: { readonly runs: readonly ListedRun[] }) {
  return (
    <table class="listed runs">
      <caption class="sr">Runs, the newest first</caption>
      <Columns names={['Flow', 'State', 'Started']} numbers={['Took', 'Spent', 'Saved', 'Ran', 'Reused']} />
      <tbody>
        {runs.map((run) => (
          <RunRow key={run.runId} run={run} />
        ))}
      </tbody>
    </table>
  );
}

function RunRow({ run }: { readonly run: ListedRun }) {
  const { runId, flow, over, rows, state, startedAt, durationMs, spent, saved, executed, reused, waiting } = run;
  const word = state === 'paused' && waiting > 0 ? 'waits for an approval' : runWord(state);
  return (
    <tr>
      <th scope="row">
        <a href={`#/runs/${runId}`}>{oneLine(flow)}</a>
        <span class="kind">
          <code>{runId}</code>
          {over !== null && `, ${plural(rows ?? 0, 'row')} of ${oneLine(over)}`}
        </span>
      </th>
      <td>
        <Badge of={runOutcome(state)} word={run.continuedBy === null ? word : 'went on'} />
      </td>
      <td data-name="started">{timeText(startedAt)}</td>
      <NumberCell name="took">{state === 'running' ? '' : formatDuration(durationMs)}</NumberCell>
      <NumberCell name="spent">{spent ? formatSpent(spent) : ''}</NumberCell>
      <NumberCell name="saved">{saved ? formatSaved(saved) : ''}</NumberCell>
      <NumberCell name="ran">{executed ?? '?'}</NumberCell>
      <NumberCell name="reused">{reused ?? '?'}</NumberCell>
    </tr>
  );
}
